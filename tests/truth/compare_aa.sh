#!/usr/bin/env bash
# tests/truth/compare_aa.sh [OPTION...]: how often `pitwall compare` calls a program changed against itself (A/A), or finds
# that it takes 10 % longer (--slow). Records real programs, so it needs a quiet machine and some minutes; no part of CI.
#
#   --runs N       recordings of each variant (20)          --trials N   comparisons (200)
#   --sides N      runs a side of a comparison (1 and 5)    --program P  lenet or python (both)
#   --steps N      steps of a run (lenet 300, python 2000)  --slow       10 % more work in B (python)
#   --bin FOLDER   of pitwall and train_lenet (build/release/bin)        --seed N   of the choice of runs (1)
#
# A run lasts some seconds: on a virtual machine the speed of a CPU can change for a second or two. Each comparison draws its
# runs anew from the recordings. Prints a line for each program and number of runs a side. Exit
# code 1 when more than 5 % of A/A are called changed, or less than 90 % of --slow with five runs a side.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

runs=20 trials=200 sides="1 5" programs="lenet python" steps= slow=0 bin=build/release/bin seed=1
while [ $# -gt 0 ]; do
  case $1 in
    --slow) slow=1 programs=python; shift; continue ;;
    --runs | --trials | --sides | --program | --steps | --bin | --seed) [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; } ;;
    *) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
  esac
  case $1 in
    --runs) runs=$2 ;; --trials) trials=$2 ;; --sides) sides=$2 ;; --program) programs=$2 ;;
    --steps) steps=$2 ;; --bin) bin=$2 ;; --seed) seed=$2 ;;
  esac
  shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# record PROGRAM VARIANT NUMBER: one run; prints nothing.
record() {
  case $1 in
    lenet) PITWALL_TRACE="$work/$1.$2.$3" "$bin/train_lenet" --synthetic --steps "${steps:-300}" >"$work/log" 2>&1 ;;
    python)
      python3 tests/truth/steps.py "$work/steps.json" "$([ "$2" = b ] && echo 110 || echo 100)" "${steps:-2000}" >"$work/log" 2>&1 &&
        "$bin/pitwall" import "$work/steps.json" -o "$work/$1.$2.$3" >"$work/log" 2>&1
      ;;
    *) echo "no program '$1'" >&2; exit 2 ;;
  esac || { cat "$work/log" >&2; exit 2; }
}

# pick COUNT: so many different numbers of recordings, drawn for trial $trial.
pick() {
  awk -v count="$1" -v runs="$runs" -v seed="$seed" -v trial="$trial" 'BEGIN {
    srand(seed * 100003 + trial); for (i = 1; i <= runs; ++i) number[i] = i
    for (i = 1; i <= count; ++i) { j = i + int(rand() * (runs - i + 1)); t = number[i]; number[i] = number[j]; number[j] = t; print number[i] } }'
}

# compare PROGRAM SIDE TRIAL: prints whether the runs drawn for the trial are said to differ.
compare() {
  local a=() b=() drawn other=a trial=$3 i
  [ "$slow" -eq 0 ] || other=b
  mapfile -t drawn < <(pick $((2 * $2)))
  for ((i = 0; i < $2; ++i)); do
    a+=("$work/$1.a.${drawn[i]}")
    b+=("$work/$1.$other.${drawn[i + $2]}")
  done
  "$bin/pitwall" compare "${a[@]}" -- "${b[@]}" --format json >"$work/answer.$trial" || return 255
  ! grep -qE '"(fastest_)?significant": true' "$work/answer.$trial" || echo changed
}
export -f pick compare
export work bin slow runs seed

failed=0
printf '%-8s %-10s %8s %8s %8s\n' program kind "runs" trials changed
for program in $programs; do
  # In turns, every second round in reverse.
  for ((i = 1; i <= runs; ++i)); do
    order="a"
    [ "$slow" -eq 0 ] || { [ $((i % 2)) -eq 0 ] && order="b a" || order="a b"; }
    for variant in $order; do record "$program" "$variant" "$i"; done
  done
  for side in $sides; do
    [ "$runs" -ge $((2 * side)) ] || { echo "--runs $runs are too few for $side a side" >&2; exit 2; }
    # The comparisons measure nothing, so that all CPUs may work on them.
    seq "$trials" | xargs -P "$(nproc)" -n 1 bash -c 'compare "$@"' _ "$program" "$side" >"$work/changed" || exit 2
    changed=$(wc -l <"$work/changed")
    printf '%-8s %-10s %8d %8d %7.1f%%\n' "$program" "$([ "$slow" -eq 1 ] && echo "10 % more" || echo "A/A")" "$side" \
      "$trials" "$(awk "BEGIN { print 100 * $changed / $trials }")"
    if [ "$slow" -eq 0 ]; then
      [ $((changed * 20)) -le "$trials" ] || failed=1
    elif [ "$side" -ge 5 ]; then
      [ $((changed * 10)) -ge $((trials * 9)) ] || failed=1
    fi
  done
done
exit "$failed"
