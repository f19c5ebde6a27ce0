#!/usr/bin/env bash
# launch.sh LAUNCH BANDWIDTH: samples/launch starts as many processes as it says, with the variables that programs read; wrong calls are
# refused. 77: there is no mpirun.
set -euo pipefail
launch=$1
bandwidth=$2
command -v mpirun > /dev/null || { echo "skipped: mpirun is not installed (openmpi-bin)"; exit 77; }
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE GOMP_SPINCOUNT=0

lines=$("$launch" -n 3 -s 2 -- sh -c 'echo "$DMLC_ROLE of $DMLC_NUM_WORKER with $DMLC_NUM_SERVER"')
[ "$(grep -c '^worker of 3 with 2$' <<< "$lines")" = 3 ] || { echo "variables: $lines"; exit 1; }
[ "$(grep -c '^server of 3 with 2$' <<< "$lines")" = 2 ] || { echo "servers: $lines"; exit 1; }
[ "$("$launch" -n 2 --dry-run -- program --an-option | grep -o 'DMLC_NUM_SERVER=0 program --an-option')" ] ||
  { echo "--dry-run does not print the command"; exit 1; }

for arguments in "" "-n 0 -- true" "-n x -- true" "-n 2" "-n 2 -H /no/such/file -- true"; do
  if output=$("$launch" $arguments 2>&1); then
    echo "launch $arguments: not refused: $output"
    exit 1
  fi
done

ldd "$bandwidth" | grep -q libmpi || { echo "skipped the rest: built without MPI"; exit 0; }
for kind in dist_sync horovod; do
  output=$("$launch" -n 2 -- "$bandwidth" --network resnet --num-layers 18 --devices 2 --kv-store $kind --num-batches 1)
  grep -q '^num of arrays = 23, total size = ' <<< "$output" && grep -q 'error 0\.000000$' <<< "$output" ||
    { echo "$kind: $output"; exit 1; }
  [ "$(wc -l <<< "$output")" = 2 ] || { echo "more than one rank prints: $output"; exit 1; }
done
output=$("$launch" -n 1 -s 2 -- "$bandwidth" --network resnet --num-layers 18 --devices 2 --kv-store dist_async --optimizer sgd --num-batches 1)
grep -q 'error 0\.000000$' <<< "$output" || { echo "dist_async: $output"; exit 1; }
