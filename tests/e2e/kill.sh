#!/usr/bin/env bash
# SIGKILL at 10 random moments of a recording (PITWALL_KILLS changes it): every trace opens, says that it is not complete, and can be analysed.
# What a kill may cost at most (the records since the last flush) is proven by the store's own kill test, which counts
# confirmed flushes; here the gap is only printed.
source "$(dirname "$0")/lib.sh" "$@"
RANDOM=${PITWALL_TEST_SEED:-$$}
printf 'seed %s\n' "${PITWALL_TEST_SEED:-$$}"

for i in $(seq "${PITWALL_KILLS:-10}"); do
  trace=$SCRATCH/killed$i.pitwall
  PITWALL_TRACE=$trace "$TRAIN" --synthetic --epochs 1000 >/dev/null 2>&1 &
  child=$!
  for _ in $(seq 600); do  # a moment of a recording: not before there is one
    [ -s "$trace" ] && break
    sleep 0.05
  done
  sleep "$(awk -v r=$RANDOM 'BEGIN { printf "%.3f", r / 32768 * 1.5 }')"
  kill -9 $child
  killed_ns=$(date +%s%N)
  wait $child 2>/dev/null
  [ -s "$trace" ] || { report_failure "run $i left no trace"; continue; }
  report=$("$PITWALL" analyze "$trace" --format json 2>"$SCRATCH/err")
  code=$?
  if [ $code -ne 0 ]; then
    report_failure "run $i: analyze ended with $code: $(cat "$SCRATCH/err")"
  elif ! grep -q '"complete": *false' <<<"$report"; then
    report_failure "run $i: the report does not say that the trace is incomplete"
  elif command -v sqlite3 >/dev/null; then
    last_ns=$(sqlite3 "$trace" "SELECT sum(value) FROM meta WHERE key IN ('trace.start_unix_ns', 'trace.end_ns')")
    printf 'run %2d: opened; the last flush was %d ms before the kill\n' "$i" $(((killed_ns - last_ns) / 1000000))
  else
    printf 'run %2d: opened\n' "$i"
  fi
done
finish
