#!/usr/bin/env bash
# What the world gets wrong: each a clear message and the documented exit code, and training goes on when only the
# trace cannot be written.
source "$(dirname "$0")/lib.sh" "$@"
train=("$TRAIN" --synthetic --steps 40)

# Settings.
expect 2 "MXNET_ENGINE_TYPE.*Foo" env MXNET_ENGINE_TYPE=Foo "${train[@]}"
expect 2 "ThreadedEnginePerDevice" env MXNET_ENGINE_TYPE=Foo "${train[@]}"
expect 2 "MXNET_CPU_WORKER_NTHREADS=0: must be" env MXNET_CPU_WORKER_NTHREADS=0 "${train[@]}"
expect 2 "MXNET_CPU_WORKER_NTHREADS=abc: must be" env MXNET_CPU_WORKER_NTHREADS=abc "${train[@]}"
expect 0 "images/s" env MXNET_ENGINE_TYPE= "${train[@]}"
expect 0 "PITWALL_TUNE_batch_size" env PITWALL_TUNE_batch_size=many "${train[@]}"

# Data and options.
expect 2 "dataset-fashion-mnist" "$TRAIN" --data "$SCRATCH/nothing-here"
expect 2 "batch" "$TRAIN" --batch 0
expect 0 "generated" "${train[@]}"

# Traces that cannot be read.
printf 'not a trace\n' >"$SCRATCH/text.pitwall"
expect 3 "nothing.pitwall" "$PITWALL" analyze "$SCRATCH/nothing.pitwall"
expect 3 "text.pitwall" "$PITWALL" analyze "$SCRATCH/text.pitwall"
expect 0 "images/s" env PITWALL_TRACE="$SCRATCH/good.pitwall" "${train[@]}"
expect 0 "breakdown\|Breakdown\|iteration" "$PITWALL" analyze "$SCRATCH/good.pitwall"
head -c 70000 "$SCRATCH/good.pitwall" >"$SCRATCH/cut.pitwall"
expect 3 "cut.pitwall" "$PITWALL" analyze "$SCRATCH/cut.pitwall"
if command -v sqlite3 >/dev/null; then
  sqlite3 "$SCRATCH/other.pitwall" "CREATE TABLE t(x); PRAGMA application_id = 42"
  expect 3 "other.pitwall" "$PITWALL" analyze "$SCRATCH/other.pitwall"
  cp "$SCRATCH/good.pitwall" "$SCRATCH/newer.pitwall"
  sqlite3 "$SCRATCH/newer.pitwall" "PRAGMA user_version = 999"
  expect 3 "newer" "$PITWALL" analyze "$SCRATCH/newer.pitwall"
else
  echo "skipped: another program's database and a newer schema (no sqlite3 here)"
fi

# Traces that cannot be written: the training is not affected. /proc takes no file from anyone, root included.
expect 0 "/proc/pitwall-test.pitwall" env PITWALL_TRACE=/proc/pitwall-test.pitwall "${train[@]}"
expect 0 "images/s" env PITWALL_TRACE=/proc/pitwall-test.pitwall "${train[@]}"
expect 0 "text.pitwall" env PITWALL_TRACE="$SCRATCH/text.pitwall" "${train[@]}"
[ "$(cat "$SCRATCH/text.pitwall")" = "not a trace" ] || report_failure "a file that is no trace was overwritten"
expect 2 "/proc/lenet.env" "$PITWALL" analyze "$SCRATCH/good.pitwall" --env /proc/lenet.env

# A disk that is full from the start, and one that fills.
mkdir "$SCRATCH/disk"
cleanup() { umount "$SCRATCH/disk"; }
for size in 4k 1800k; do
  steps=600
  [ $size != 4k ] || steps=40
  if mount -t tmpfs -o size=$size tmpfs "$SCRATCH/disk" 2>/dev/null; then
    trace=$SCRATCH/disk/full.pitwall
    # Many small steps fill it soon. The training goes on, and what is missing is said.
    PITWALL_TRACE=$trace "$TRAIN" --synthetic --batch 8 --steps $steps >"$SCRATCH/out" 2>&1 || report_failure "a full disk ended the training with $?"
    expect 0 "full\.pitwall.*full" cat "$SCRATCH/out"
    expect 0 "images/s" cat "$SCRATCH/out"
    if [ -e "$trace" ]; then
      "$PITWALL" analyze "$trace" >"$SCRATCH/out" 2>&1
      code=$?
      [ $code -eq 0 ] || [ $code -eq 3 ] || report_failure "analyze of a trace on a full disk ended with $code"
      printf 'analyze of what a disk of %s holds ended with %d: %s\n' "$size" $code "$(head -n 1 "$SCRATCH/out")"
    fi
    umount "$SCRATCH/disk"
  else
    echo "skipped: a full disk (mounting a small tmpfs needs root)"
  fi
done
finish
