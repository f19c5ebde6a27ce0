#!/usr/bin/env bash
# What samples/quickstart.sh concludes from its measurements, with fixed numbers: no timing, no build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
failed=0
# Settings of whoever runs the tests would be those of the program before the change.
unset OMP_WAIT_POLICY GOMP_SPINCOUNT OMP_NUM_THREADS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect NAME WANTED GOT
expect() {
  [ "$2" = "$3" ] && return
  printf 'FAILED %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
  failed=1
}
ratio() { printf '%s\n' "$@" | awk -f samples/paired_ratio.awk 2>&1; }

# Six pairs: smallest to largest ratio. The middle two give before and after, whose quotient is the ratio.
expect "all six faster" "6 100.0 110.0 1.1000 1.0200 1.3000 faster" \
  "$(ratio "100 102" "100 130" "100 110" "100 110" "100 108" "100 120")"
expect "one of six slower" "6 100.0 110.0 1.1000 0.9900 1.3000 unclear" \
  "$(ratio "100 99" "100 130" "100 110" "100 110" "100 108" "100 120")"
expect "all six slower" "6 100.0 90.0 0.9000 0.8000 0.9900 slower" \
  "$(ratio "100 90" "100 90" "100 80" "100 99" "100 91" "100 88")"
expect "five pairs confirm nothing" "5 100.0 200.0 2.0000 2.0000 2.0000 few" \
  "$(ratio "100 200" "100 200" "100 200" "100 200" "100 200")"
# Nine pairs: the second smallest and second largest (96.1 %), so that one stray pair decides nothing.
expect "nine pairs, one stray" "9 100.0 110.0 1.1000 1.1000 1.1000 faster" \
  "$(ratio "100 50" "100 110" "100 110" "100 110" "100 110" "100 110" "100 110" "100 110" "100 110")"
# The medians of the columns (200 and 150) contradict the median ratio; what is printed is of one pair.
expect "columns that contradict" "3 100.0 110.0 1.1000 0.5000 1.1200 few" "$(ratio "100 110" "200 224" "300 150")"
for pair in "100 0" "100" "" "a b"; do
  expect "'$pair' is no pair" 2 "$(ratio "100 110" "$pair" >/dev/null; echo $?)"
done
: | awk -f samples/paired_ratio.awk 2>/dev/null
expect "no pairs" 2 $?

cat >"$scratch/lenet.env" <<'ENV'
# Settings recommended by Pitwall from lenet.pitwall. Apply: source THIS_FILE, then run the program again.
# Predicted, not tested: measure before and after.

# Threads sleep. [threads/stalls]
export OMP_WAIT_POLICY=PASSIVE
export GOMP_SPINCOUNT=0

# You set this. [threads/more-than-cpus]
# export OMP_NUM_THREADS=2

# Spreads fixed costs. [batch/can-grow]
export PITWALL_TUNE_batch_size=64
ENV
printf '%s\t%s\t%s\n' threads/stalls withdrawn "predicted 1.20 to 2.00 times as fast, measured 1.00 times as fast" \
  batch/can-grow confirmed "predicted 1.08 to 1.41 times as fast, measured 1.13 times as fast" >"$scratch/results"
expect "results are applied" "# Settings recommended by Pitwall from lenet.pitwall. Apply: source THIS_FILE, then run the program again.
# Measured on this machine: settings that were not confirmed are withdrawn.

# Threads sleep. [threads/stalls]
# Withdrawn: predicted 1.20 to 2.00 times as fast, measured 1.00 times as fast.
# export OMP_WAIT_POLICY=PASSIVE
# export GOMP_SPINCOUNT=0

# You set this. [threads/more-than-cpus]
# export OMP_NUM_THREADS=2

# Spreads fixed costs. [batch/can-grow]
# Confirmed: predicted 1.08 to 1.41 times as fast, measured 1.13 times as fast.
export PITWALL_TUNE_batch_size=64" "$(awk -f samples/apply_results.awk "$scratch/results" "$scratch/lenet.env")"
: >"$scratch/results"
expect "without results only the headline changes" "$(sed 's/^# Predicted, not.*/# Measured on this machine: settings that were not confirmed are withdrawn./' "$scratch/lenet.env")" \
  "$(awk -f samples/apply_results.awk "$scratch/results" "$scratch/lenet.env")"

# The whole script, on a program and a command that answer at once: OMP_WAIT_POLICY makes the program 20 % faster, the
# batch does nothing, and each run differs from the one before. The first round is too short and does not count.
tree=$scratch/tree
mkdir -p "$tree/.ci" "$tree/stubs" "$tree/build/release/bin"
cp -r samples "$tree/samples"
for stub in .ci/install_packages.sh stubs/cmake; do printf '#!/bin/sh\n' >"$tree/$stub"; done
cp "$scratch/lenet.env" "$tree/recommended.env"
cat >"$tree/build/release/bin/train_lenet" <<'STUB'
#!/bin/sh
[ -n "${PITWALL_TRACE:-}" ] && exit
count=$(($(cat count 2>/dev/null || echo 0) + 1))
echo $count >count
echo "${OMP_WAIT_POLICY:-default} ${PITWALL_TUNE_batch_size:-16} $*" >>calls
rate=$((10000 + count * 37 % 11 * 40))
[ "${OMP_WAIT_POLICY:-}" = PASSIVE ] && rate=$((rate * 12 / 10))
echo "images/s $rate.0  loss 0.1"
STUB
cat >"$tree/build/release/bin/pitwall" <<'STUB'
#!/bin/sh
case "$*" in
  *--env*) cp recommended.env lenet.env ;;
  *json*) echo '  "items_per_second": 5000,' ;;
  *query*threads.stalls*) printf 'gain_low,gain_high\n0.1,0.5\n' ;;
  *query*) printf 'gain_low,gain_high\n0,0\n' ;;
esac
STUB
chmod +x "$tree"/.ci/* "$tree"/stubs/* "$tree"/build/release/bin/*
(cd "$tree" && PATH="$tree/stubs:$PATH" bash samples/quickstart.sh >out 2>&1) || { cat "$tree/out"; failed=1; }
contains() { grep -qF -- "$2" "$1" || { printf 'FAILED: no "%s" in\n' "$2"; cat "$1"; failed=1; }; }
contains "$tree/out" "threads/stalls: helped"
contains "$tree/out" "predicted 1.11 to 2.00 times as fast"
contains "$tree/out" "batch/can-grow: not confirmed"
contains "$tree/lenet.env" "# Confirmed: predicted 1.11 to 2.00 times as fast, measured 1.2"
contains "$tree/lenet.env" "# Withdrawn: predicted an unknown gain, measured 1.0"
expect "what is left" "export OMP_WAIT_POLICY=PASSIVE
export GOMP_SPINCOUNT=0" "$(grep ^export "$tree/lenet.env")"
# 4 runs too short, then 6 rounds of before, all and two recommendations: in turns, each place as often.
expect "number of runs" 28 "$(wc -l <"$tree/calls")"
expect "rounds alternate" "default 16,PASSIVE 64,default 64,PASSIVE 16,PASSIVE 16,default 64,PASSIVE 64,default 16" \
  "$(sed -n '5,12s/ --.*//p' "$tree/calls" | paste -sd,)"
expect "each run takes four seconds or more" "" "$(awk 'NR > 4 && $NF * $2 / 12600 < 4' "$tree/calls")"
[ "$failed" -eq 0 ] && echo "ok"
exit "$failed"
