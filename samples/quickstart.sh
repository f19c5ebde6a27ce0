#!/usr/bin/env bash
# samples/quickstart.sh: the whole of Pitwall on one example. Builds it, trains a small network on Fashion-MNIST while
# recording, analyzes the recording, applies the recommended settings and measures whether they help.
#
# Needs Debian 12 (as root or with sudo for the packages). Asks nothing. Leaves lenet.pitwall and lenet.env behind.
# To change its length: QUICKSTART_EPOCHS of the recorded training (3), QUICKSTART_ROUNDS of measuring (5),
# QUICKSTART_IMAGES of one measurement (9600; on a slow machine what takes about four seconds).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=build/release/bin
epochs=${QUICKSTART_EPOCHS:-3}
rounds=${QUICKSTART_ROUNDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

say "1/4 Build"
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
# One variant a recommendation: the export lines that share a rule's name in brackets. "all" has every line.
awk -v work="$work" '
  /^# .*\[[^]]*\]/ { id = $0; sub(/.*\[/, "", id); sub(/\].*/, "", id); gsub("/", ".", id) }
  /^export / { print > (work "/" id ".env"); print > (work "/all.env") }' lenet.env
if [ ! -e "$work/all.env" ]; then
  echo "lenet.env recommends nothing, so there is nothing to measure."
  exit 0
fi
# As many images as a measurement has time for: the report knows how fast they were.
rate=$($bin/pitwall analyze lenet.pitwall --no-env --format json | sed -n 's/^ *"items_per_second": \([0-9]*\).*/\1/p')
rate=${rate:-0}
images=${QUICKSTART_IMAGES:-$((rate * 4 > 9600 || rate == 0 ? 9600 : rate * 4 < 1600 ? 1600 : rate * 4))}
variants=()
for file in "$work"/*.env; do variants+=("$(basename "$file" .env)"); done
[ ${#variants[@]} -eq 2 ] && variants=(all) # the only recommendation is all of them

# Trains for a moment with a variant's settings and prints images per second. Each variant sees as many images.
measure() {
  (
    # shellcheck source=/dev/null
    [ "$1" = before ] || . "$work/$1.env"
    $bin/train_lenet --steps $((images / ${PITWALL_TUNE_batch_size:-16}))
  ) >"$work/run.log" 2>&1 || { cat "$work/run.log" >&2; return 1; }
  awk '/^images\/s / { rate = $2 } END { if (!rate) exit 1; print rate }' "$work/run.log"
}

# Interleaved, so that a change of the machine's mood hits all variants alike.
for ((round = 1; round <= rounds; ++round)); do
  for variant in before "${variants[@]}"; do
    measure "$variant" >>"$work/$variant.rates"
    [ ! -t 1 ] || printf '\rround %d of %d, %-30s' "$round" "$rounds" "$variant"
  done
done
[ ! -t 1 ] || printf '\r%60s\r' ''

# Prints median, smallest and largest of the numbers on standard input.
spread() {
  sort -g | awk '{ v[NR] = $1 }
    END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2; print m, v[1], v[NR] }'
}

read -r median low high < <(spread <"$work/before.rates")
printf '%-34s %8.0f images/s   (%.0f to %.0f)\n' before "$median" "$low" "$high"
for variant in "${variants[@]}"; do
  read -r median low high < <(spread <"$work/$variant.rates")
  read -r ratio ratio_low ratio_high < <(paste "$work/before.rates" "$work/$variant.rates" |
    awk '{ print $2 / $1 }' | spread)
  name=$variant
  [ "$variant" = all ] && name="after, all recommendations"
  verdict=$(awk -v low="$ratio_low" -v high="$ratio_high" -v ratio="$ratio" 'BEGIN {
    if (low > 1.005) printf "helped, %.2f times as fast", ratio
    else if (high < 0.995) printf "made it slower, %.2f times as fast", ratio
    else printf "no measurable difference" }')
  printf '%-34s %8.0f images/s   (%.0f to %.0f)   ratio %.2f (%.2f to %.2f): %s\n' \
    "$name" "$median" "$low" "$high" "$ratio" "$ratio_low" "$ratio_high" "$verdict"
  sed 's/^export /    /' "$work/$variant.env"
done
echo
echo "Median of $rounds interleaved runs of each (smallest to largest); the ratio is that of runs made one after the other."
