#!/usr/bin/env bash
# ranks.sh SAMPLES STORE SERVERS --seconds S: a network trains in a rank for each CPU, two at least, by a key-value store between them.
set -euo pipefail
samples=$1 store=$2 servers=$3 seconds=${5%.*}
[ "$seconds" -ge 1 ] || seconds=1
ranks=$(nproc)
[ "$ranks" -ge 2 ] || ranks=2
[ "$ranks" -le 4 ] || ranks=4
launch=$(dirname "$0")/../../../samples/launch
exec "$launch" -n "$ranks" -s "$servers" -- "$samples/train_imagenet" --benchmark 1 --network squeezenet1.1 --num-classes 10 \
  --batch-size 4 --num-batches $((10 * seconds)) --disp-batches 10 --kv-store "$store"
