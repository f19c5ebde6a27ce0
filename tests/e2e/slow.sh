#!/bin/bash
# Usage: slow.sh PITWALL FOLDER SAMPLE RULE: the sample's planted cause is the first finding, and no finding of the
# variant without it.
set -u
pitwall=$1 program=$2/$3 rule=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset OMP_WAIT_POLICY GOMP_SPINCOUNT OMP_THREAD_LIMIT
# One thread: what other programs do to threads that wait for each other is not what is looked for.
export OMP_NUM_THREADS=1
[ "$3" = slow_too_many_threads ] && unset OMP_NUM_THREADS

ids() { # of the findings in the trace, best first
  "$pitwall" analyze "$1" --no-env | sed -n 's/^[0-9]*\. [A-Z]*: .*\[\([a-z/-]*\)\]$/\1/p; s/^ *\[\([a-z/-]*\)\]$/\1/p'
}

PITWALL_TRACE=$folder/slow.pitwall "$program" > out 2>&1 || { cat out; exit 1; }
PITWALL_TRACE=$folder/fixed.pitwall "$program" --fixed > out 2>&1 || { cat out; exit 1; }
first=$(ids slow.pitwall | head -1)
if [ "$first" != "$rule" ]; then
  echo "the first finding of $3 is '$first', not '$rule':"
  "$pitwall" analyze slow.pitwall --no-env
  exit 1
fi
if ids fixed.pitwall | grep -qx "$rule"; then
  echo "$3 --fixed still has the finding '$rule':"
  "$pitwall" analyze fixed.pitwall --no-env
  exit 1
fi
echo "$3: $rule first, and absent when fixed"
