#!/usr/bin/env bash
# samples/quickstart.sh: all of Pitwall on one example. Builds it, trains a small network on Fashion-MNIST while
# recording, analyzes the recording, applies the recommended settings, measures whether they help, and withdraws those
# that do not.
#
# Needs Debian 12 (as root or with sudo for the packages). Runs without input. Creates lenet.pitwall and lenet.env. To
# change its length: QUICKSTART_EPOCHS of the recorded training (3), QUICKSTART_ROUNDS of measuring (6, the minimum for
# a confirmation), QUICKSTART_IMAGES of one measurement (as many as take five seconds).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=build/release/bin
epochs=${QUICKSTART_EPOCHS:-3}
rounds=${QUICKSTART_ROUNDS:-6}
least_seconds=4 # of one measurement
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

say "1/4 Build (several minutes the first time)"
.ci/install_packages.sh build data
build() { cmake --preset release && cmake --build --preset release --target train_lenet pitwall; }
if ! build >"$work/build.log" 2>&1; then
  cat "$work/build.log"
  echo "The build failed; the messages above say where."
  exit 1
fi
ls -1 $bin/train_lenet $bin/pitwall

say "2/4 Train, recording lenet.pitwall"
PITWALL_TRACE=lenet.pitwall $bin/train_lenet --epochs "$epochs"

say "3/4 Analyze"
$bin/pitwall analyze lenet.pitwall --env lenet.env

say "4/4 Apply the recommendations and measure"
# One variant per recommendation: the export lines with the same rule name in brackets. "all" has every line.
awk -v work="$work" '
  /^# .*\[[^]]*\]/ { id = $0; sub(/.*\[/, "", id); sub(/\].*/, "", id); gsub("/", ".", id) }
  /^export / { print > (work "/" id ".env"); print > (work "/all.env") }' lenet.env
if [ ! -e "$work/all.env" ]; then
  echo "lenet.env recommends nothing, so there is nothing to measure."
  exit 0
fi
variants=()
for file in "$work"/*.env; do variants+=("$(basename "$file" .env)"); done
if [ ${#variants[@]} -eq 2 ]; then # the only recommendation is all of them
  rm "$work/all.env"
  variants=("$(basename "$work"/*.env .env)")
fi

# The number of images for five seconds, from the rate in the report.
rate=$($bin/pitwall analyze lenet.pitwall --no-env --format json | sed -n 's/^ *"items_per_second": \([0-9]*\).*/\1/p')
images=${QUICKSTART_IMAGES:-$((${rate:-0} > 320 ? rate * 5 : 1600))}

# Trains briefly with a variant's settings and prints images per second. All variants use the same number of images.
measure() {
  (
    # shellcheck source=/dev/null
    [ "$1" = before ] || . "$work/$1.env"
    $bin/train_lenet --epochs 1000 --steps $((images / ${PITWALL_TUNE_batch_size:-16}))
  ) >"$work/run.log" 2>&1 || { cat "$work/run.log" >&2; return 1; }
  awk '/^images\/s / { rate = $2 } END { if (!rate) exit 1; print rate }' "$work/run.log"
}

# Each round runs all variants once, every second round in reverse order, so that drift of the machine and the position
# in the round affect all variants equally. A round with a run that was too short does not count; the runs become
# longer.
round=1
while [ "$round" -le "$rounds" ]; do
  order=(before "${variants[@]}")
  if [ $((round % 2)) -eq 0 ]; then
    mapfile -t order < <(printf '%s\n' "${order[@]}" | tac)
  fi
  fastest=0
  for variant in "${order[@]}"; do
    [ ! -t 1 ] || printf '\rround %d of %d, %-30s' "$round" "$rounds" "$variant"
    rate=$(measure "$variant")
    echo "$rate" >"$work/$variant.rate"
    fastest=$(awk -v a="$fastest" -v b="$rate" 'BEGIN { print (a > b ? a : b) }')
  done
  longer=$(awk -v rate="$fastest" -v images="$images" -v least="$least_seconds" 'BEGIN {
    print (images / rate < least ? int(rate * least * 1.25) : 0) }')
  if [ "$longer" -gt 0 ] && [ -z "${QUICKSTART_IMAGES:-}" ]; then
    images=$longer round=1
    rm -f "$work"/*.rates
    continue
  fi
  for variant in "${order[@]}"; do cat "$work/$variant.rate" >>"$work/$variant.rates"; done
  round=$((round + 1))
done
[ ! -t 1 ] || printf '\r%60s\r' ''

# "1.08 to 1.41 times as fast", for the rule of a variant.
predicted() {
  $bin/pitwall query lenet.pitwall --format csv \
    "SELECT gain_low, gain_high FROM finding WHERE replace(rule, '/', '.') = '$1'" | awk -F, 'NR == 2 {
      if ($2 <= 0) print "an unknown gain"
      else printf "%.2f to %.2f times as fast", 1 / (1 - ($1 < 0.99 ? $1 : 0.99)), 1 / (1 - ($2 < 0.99 ? $2 : 0.99)) }'
}

: >"$work/results"
for variant in "${variants[@]}"; do
  read -r pairs before after ratio low high verdict < <(paste "$work/before.rates" "$work/$variant.rates" |
    awk -f samples/paired_ratio.awk)
  measured=$(printf '%.2f times as fast (%.2f to %.2f, %d pairs)' "$ratio" "$low" "$high" "$pairs")
  case $verdict in
    faster) conclusion="helped" ;;
    slower) conclusion="made it slower" ;;
    few) conclusion="not confirmed: six pairs are needed" ;;
    *) conclusion="not confirmed" ;;
  esac
  name=$variant
  [ "$variant" = all ] && name="all recommendations together"
  printf '%s: %s\n' "${name/./\/}" "$conclusion"
  sed 's/^export /    /' "$work/$variant.env"
  if [ "$variant" != all ]; then
    expected=$(predicted "$variant")
    printf '    predicted %s\n' "${expected:=an unknown gain}"
    status=withdrawn
    [ "$verdict" = faster ] && status=confirmed
    printf '%s\t%s\tpredicted %s, measured %s\n' "${variant/./\/}" "$status" "$expected" "$measured" >>"$work/results"
  fi
  printf '    measured  %s: %.0f before, %.0f images/s after\n' "$measured" "$before" "$after"
done
awk -f samples/apply_results.awk "$work/results" lenet.env >"$work/lenet.env"
mv "$work/lenet.env" lenet.env
echo
if grep -q '^export ' lenet.env; then
  echo "lenet.env has the confirmed settings; the others are withdrawn there, with the reason."
else
  echo "Nothing was confirmed: lenet.env has every recommendation withdrawn, with the reason."
fi
echo "Measured: the median ratio of pairs of runs in alternating order with its 95 % interval; before and after are the"
echo "rates of the middle pair."
