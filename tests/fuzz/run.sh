#!/usr/bin/env bash
# run.sh BUILD_FOLDER SECONDS|Nruns [TARGET...]: lets each fuzzer run that long, from its seeds and what was found
# before. New inputs go to BUILD_FOLDER/fuzz/TARGET/; one that fails is left there as TARGET-crash-..., and belongs, made
# small (-minimize_crash=1), into found/TARGET/ with the repair. With "2000runs" each fuzzer tries the same 2000 inputs
# every time and keeps none, so that a test of the same code has the same result. Exit code 1 when one failed.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 length=$2
shift 2
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=($(cd "$here/seeds" && ls))
export here build length
one() {
  local target=$1 work=$build/fuzz/$1 known=("$here/seeds/$1") limit=(-max_total_time="$length")
  if [[ $length == *runs ]]; then
    limit=(-runs="${length%runs}" -seed=1)
    work=$(mktemp -d "$build/fuzz/$target-XXXXXX")
    trap 'rm -rf "$work"' RETURN
  fi
  mkdir -p "$work"
  [ -d "$here/found/$target" ] && known+=("$here/found/$target")
  if "$build/fuzz/fuzz_$target" "$work" "${known[@]}" \
    "${limit[@]}" -timeout=20 -rss_limit_mb=3000 -max_len=16384 -artifact_prefix="$build/fuzz/$target-" \
    -print_final_stats=1 >"$build/fuzz/$target.log" 2>&1; then
    echo "ok      $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz/$target.log") inputs"
  else
    echo "FAILED  $target: $build/fuzz/$target.log"
    tail -n 40 "$build/fuzz/$target.log"
    return 1
  fi
}
export -f one
# As many at once as there are processors.
printf '%s\0' "${targets[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'one {}' || exit 1
