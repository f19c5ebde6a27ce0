#!/usr/bin/env bash
# train_devices.sh TRAIN_DEVICES PITWALL LAUNCH: training on several devices and in several processes gives the weights of one device, and
# the trace names the keys of the store.
set -euo pipefail
train=$1
pitwall=$2
launch=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE GOMP_SPINCOUNT=0
common="--synthetic --steps 8 --batch 48 --optimizer adam --lr 0.001"

sumOf() { grep -o "weights' sizes [0-9.]*" <<< "$1" | grep -o '[0-9.]*$'; }
alone=$(sumOf "$("$train" $common --devices 1)")
expectAlike() {
  local sum
  sum=$(sumOf "$2")
  awk -v a="$alone" -v b="$sum" 'BEGIN { exit !(a > 0 && b > 0 && (a - b)^2 < (1e-5 * a)^2) }' ||
    { echo "$1: $sum instead of $alone: $2"; exit 1; }
}
for store in local device; do
  for update in 0 1; do
    expectAlike "$store $update" "$("$train" $common --devices 3 --kv-store $store --update-on-kvstore $update)"
  done
done

PITWALL_TRACE=$work/run.pitwall "$train" $common --devices 2 --kv-store local > /dev/null
keys=$("$pitwall" query "$work/run.pitwall" "SELECT count(DISTINCT layer) AS keys FROM operator WHERE name = 'KVStoreReduce'" | tail -1)
[ "$(grep -o '[0-9]*' <<< "$keys" | tail -1)" = 8 ] || { echo "keys in the trace: $keys"; exit 1; }

if command -v mpirun > /dev/null && ldd "$train" | grep -q libmpi; then
  expectAlike "2 processes" "$("$launch" -n 2 -- "$train" $common --devices 2 --kv-store dist_sync)"
  expectAlike "4 processes" "$("$launch" -n 4 -- "$train" $common --devices 1 --kv-store dist_device_sync)"
  expectAlike "horovod" "$("$launch" -n 3 -- "$train" $common --devices 1 --kv-store horovod)"
else
  echo "skipped several processes: there is no mpirun (openmpi-bin), or the program was built without MPI"
fi
