#!/usr/bin/env bash
# train_imagenet_ranks.sh TRAIN_IMAGENET PITWALL LAUNCH: a network trains in two processes, whose gradients a store sums while the
# backward pass goes on, and the trace of both has each key and what of the communication is hidden.
set -euo pipefail
train=$1
pitwall=$2
launch=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE GOMP_SPINCOUNT=0
common="--benchmark 1 --network squeezenet1.1 --num-classes 10 --batch-size 1 --num-batches 4 --disp-batches 2"

code=0
said=$("$train" $common --kv-store local --dtype float16 2>&1) || code=$?
[ "$code" = 2 ] && grep -q -- "--kv-store sums gradients of --dtype float32 alone" <<< "$said" ||
  { echo "float16 with a store: code $code: $said"; exit 1; }
lines=$("$train" $common --kv-store local)
grep -q "Epoch\[0\] Train-accuracy" <<< "$lines" || { echo "one process with a store: $lines"; exit 1; }

if ! command -v mpirun > /dev/null || ! ldd "$train" | grep -q libmpi; then
  echo "skipped several processes: there is no mpirun (openmpi-bin), or the program was built without MPI"
  exit 0
fi
lines=$("$pitwall" record -o "$work/job.pitwall" -- "$launch" -n 2 -- "$train" $common --kv-store dist_sync 2> "$work/said")
[ "$(grep -c 'Epoch\[0\] Batch \[2-4\]' <<< "$lines")" = 2 ] || { echo "lines of two processes: $lines"; cat "$work/said"; exit 1; }
answer() { "$pitwall" query "$work/job.pitwall" "$1" --format csv | tail -1; }
# Two arrays, weight and bias, of each of the 26 convolutions.
for rank in 0 1; do
  keys=$(answer "SELECT count(DISTINCT key) FROM analysis_kvstore WHERE operator = 'KVStoreDistAllReduce' AND rank = $rank")
  [ "$keys" = 52 ] || { echo "keys of rank $rank: $keys"; exit 1; }
done
parts=$(answer "SELECT count(*) FROM analysis_kvstore_rank WHERE communication_ns > 0 AND hidden_ns + exposed_ns = communication_ns")
[ "$parts" = 2 ] || { echo "ranks with communication: $parts"; exit 1; }
