#!/usr/bin/env bash
# Starts a small program some hundred times, and computes a little between them: a build or a test script.
seconds=3
while [ $# -gt 0 ]; do
  [ "$1" = --seconds ] && seconds=$2
  shift
done
end=$((SECONDS + ${seconds%.*}))
count=0
while [ $SECONDS -lt $end ]; do
  /bin/true
  total=0
  for i in 1 2 3 4 5 6 7 8 9 10; do total=$((total + i)); done
  count=$((count + 1))
done
echo "items_per_second $((count / ${seconds%.*}))"
