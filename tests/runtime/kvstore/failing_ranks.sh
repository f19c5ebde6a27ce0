#!/bin/sh
# failing_ranks.sh PROGRAM HOW: one of three ranks fails as the word says; both others end with an error that names the rank and the key.
# 77: there is no mpirun.
set -eu
program=$1
how=$2
command -v mpirun > /dev/null || { echo "skipped: mpirun is not installed (openmpi-bin)"; exit 77; }
# With recovery mpirun does not end the other ranks itself.
output=$(PITWALL_KVSTORE_TIMEOUT=4 OMP_WAIT_POLICY=PASSIVE mpirun -n 3 --enable-recovery --oversubscribe --allow-run-as-root \
  --bind-to none "$program" "$how" 2>&1) || true
echo "$output"
for rank in 0 2; do
  echo "$output" | grep -q "^rank $rank: ended after" || { echo "rank $rank did not end by itself"; exit 1; }
  error=$(echo "$output" | grep "^rank $rank: kvstore: ")
  echo "$error" | grep -q "rank 1 " || { echo "the error of rank $rank does not name rank 1"; exit 1; }
  echo "$error" | grep -q "key '\(conv1\|fc1\)_weight'" || { echo "the error of rank $rank does not name the key"; exit 1; }
done
