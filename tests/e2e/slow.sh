#!/usr/bin/env bash
# Usage: slow.sh PITWALL FOLDER SAMPLE RULE: the sample's planted cause is the first finding, and no finding of the
# variant without it.
set -uo pipefail
pitwall=$1 sample=$3 program=$2/$3 rule=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# What the caller has set for its own programs plays no part here.
for name in $(compgen -e | grep -E '^(OMP|GOMP|KMP|ONEDNN|DNNL|MXNET|PITWALL)_'); do unset "$name"; done
# One thread: the effect of other programs on threads that wait for each other is not tested here.
# Those whose operators compute (the others' last as long as specified) would rightly be reported to have too few.
case $sample in
  slow_too_many_threads | slow_narrow_isa) ;;
  *) export OMP_NUM_THREADS=1 ;;
esac

report() { # of a trace, on standard output
  "$pitwall" analyze "$1" --no-env
}
ids() { # of its findings, best first
  "$pitwall" analyze "$1" --no-env --format json | sed -n '/^  "findings": \[/,/^  \]/s/^      "id": "\(.*\)",$/\1/p'
}
run() { # NAME OPTION...: records the sample into NAME.pitwall
  local trace=$folder/$1.pitwall
  shift
  PITWALL_TRACE=$trace "$program" "$@" >out 2>&1 || { echo "$sample $* failed:"; cat out; exit 1; }
}

run slow
run fixed --fixed
first=$(ids slow.pitwall | head -n 1)
if [ "$first" != "$rule" ]; then
  echo "the first finding of $sample is '$first', not '$rule':"
  report slow.pitwall
  exit 1
fi
if ids fixed.pitwall | grep -qx "$rule"; then
  echo "$sample --fixed still has the finding '$rule':"
  report fixed.pitwall
  exit 1
fi
report fixed.pitwall >/dev/null || exit 1
echo "$sample: $rule first, and absent when fixed"
