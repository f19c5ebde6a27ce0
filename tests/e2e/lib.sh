# Sourced by the tests of this folder: TRAIN and PITWALL are the two programs, SCRATCH a folder that goes away.
set -uo pipefail
TRAIN=$1 PITWALL=$2
SCRATCH=$(mktemp -d)
trap 'cleanup 2>/dev/null; rm -rf "$SCRATCH"' EXIT
cleanup() { :; }
failures=0

report_failure() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# expect CODE TEXT COMMAND...: the command ends with CODE and prints TEXT (a basic regular expression) somewhere.
expect() {
  local code=$1 text=$2 output got
  shift 2
  output=$("$@" 2>&1)
  got=$?
  if [ "$got" -ne "$code" ]; then
    report_failure "'$*' ended with $got instead of $code and printed:"
    printf '%s\n' "$output"
  elif ! grep -q -e "$text" <<<"$output"; then
    report_failure "'$*' does not print '$text' but:"
    printf '%s\n' "$output"
  else
    printf 'ok: %s\n' "$(grep -m1 -e "$text" <<<"$output")"
  fi
}

finish() {
  [ "$failures" -eq 0 ] || printf '%d failures\n' "$failures"
  exit $((failures > 0))
}
