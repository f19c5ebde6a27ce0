#!/bin/sh
# failing_ranks.sh PROGRAM HOW [dist_async]: one of three workers fails as the word says, or with "server" their server; all others end with
# an error that names the rank and the key. 77: there is no mpirun.
set -eu
program=$1
how=$2
kind=${3-dist_sync}
[ "$how" != server ] || kind=dist_async
command -v mpirun > /dev/null || { echo "skipped: mpirun is not installed (openmpi-bin)"; exit 77; }
FAILING_RANK_STARTED=$(mktemp)
trap 'rm -f "$FAILING_RANK_STARTED"' EXIT
export PITWALL_KVSTORE_TIMEOUT=4 OMP_WAIT_POLICY=PASSIVE FAILING_RANK_STARTED
options="--oversubscribe --bind-to none"
# With recovery mpirun does not end the other ranks itself. Options are unquoted: a list without blanks in it.
# shellcheck disable=SC2086
if [ "$kind" = dist_async ]; then
  output=$(mpirun --enable-recovery --allow-run-as-root $options -x DMLC_NUM_SERVER=1 -x DMLC_ROLE=worker -n 3 "$program" "$how" "$kind" : \
    $options -x DMLC_NUM_SERVER=1 -x DMLC_ROLE=server -n 1 "$program" "$how" "$kind" 2>&1) || true
else
  output=$(mpirun --enable-recovery --allow-run-as-root $options -n 3 "$program" "$how" 2>&1) || true
fi
echo "$output"
failed=1
ranks="0 2"
[ "$how" != server ] || { failed=3; ranks="0 1 2"; }
for rank in $ranks; do
  echo "$output" | grep -q "^rank $rank: ended after" || { echo "rank $rank did not end by itself"; exit 1; }
  error=$(echo "$output" | grep "^rank $rank: kvstore: ")
  echo "$error" | grep -q "rank $failed[ ,]" || { echo "the error of rank $rank does not name rank $failed"; exit 1; }
  echo "$error" | grep -q "key '\(conv1\|fc1\)_weight'" || { echo "the error of rank $rank does not name the key"; exit 1; }
done
[ "$kind" != dist_async ] || [ "$how" = server ] || echo "$output" | grep -q "^server: kvstore: rank 1 .*key '" ||
  { echo "the server does not name rank 1 and the key"; exit 1; }
