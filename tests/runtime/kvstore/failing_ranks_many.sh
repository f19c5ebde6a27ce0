#!/bin/sh
# failing_ranks_many.sh PROGRAM TIMES: failing_ranks.sh so many times, in turn with a worker of dist_sync, a worker of dist_async, and a
# server of dist_async that is killed at a random moment. Ends at the first time that is not as it must be.
set -eu
folder=$(dirname "$0")
time=0
while [ "$time" -lt "$2" ]; do
  case $((time % 3)) in
    0) how=random ;;
    1) how="random dist_async" ;;
    2) how=server ;;
  esac
  # shellcheck disable=SC2086
  output=$("$folder/failing_ranks.sh" "$1" $how) || { echo "$output"; echo "time $time ($how) is wrong"; exit 1; }
  time=$((time + 1))
  slowest=$(echo "$output" | sed -n 's/^rank .*: ended after \(.*\) s$/\1/p' | sort -n | tail -n 1)
  echo "$time $how: the last rank ended after $slowest s"
done
