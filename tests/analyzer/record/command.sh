#!/usr/bin/env bash
# The command from a user's view: arguments, exit codes, messages, Python, ranks of a distributed job.
source "$(dirname "$0")/../../e2e/lib.sh" "$@"
TARGET=$TRAIN
cd "$SCRATCH" || exit 1

expect 7 'recorded .* -> sh.pitwall' "$PITWALL" record -- sh -c 'exit 7'
expect 0 'complete' "$PITWALL" analyze --no-env --format json sh.pitwall
expect 127 'no such program in PATH' "$PITWALL" record -- no-such-program
expect 126 'not executable' "$PITWALL" record -- "$SCRATCH"
expect 2 'none/x.pitwall' "$PITWALL" record -o none/x.pitwall -- true
expect 2 'after --' "$PITWALL" record
expect 2 'sample' "$PITWALL" record --sample -1 -- true
expect 143 '' "$PITWALL" record -- sh -c 'kill -TERM $$'
expect 0 '^--help -x$' "$PITWALL" record -q -- echo --help -x

# Settings that bind an OpenMP program's threads bind neither the recorder nor the affinity that the program inherits
# from it.
allowed="$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)"
for setting in OMP_PROC_BIND=close OMP_PLACES=cores "GOMP_CPU_AFFINITY=${allowed%%[-,]*}"; do
  expect 0 "^Cpus_allowed_list:[[:space:]]*$allowed\$" env "$setting" "$PITWALL" record -q -o bound.pitwall -- grep Cpus_allowed_list /proc/self/status
  expect 0 "^$allowed\$" "$PITWALL" query --format csv bound.pitwall "SELECT value AS affinity FROM meta WHERE key = 'process.affinity'"
done

# Results from samples only: the program's run time and CPU use.
expect 0 'burn.pitwall' "$PITWALL" record -o burn.pitwall -- "$TARGET" burn 300
expect 0 'record_target (process [0-9]*) used .* CPUs on average' "$PITWALL" analyze --no-env --format json burn.pitwall
expect 0 '"recorded": "[1-9]' "$PITWALL" analyze --no-env --format json burn.pitwall

# A Python program without changes, with numpy where an interpreter has it.
python=$(command -v python3 || true)
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import numpy' 2>/dev/null && python=$(command -v "$candidate") && break
done
if [ -n "$python" ]; then
  expect 0 'py.pitwall' "$PITWALL" record -o py.pitwall -- "$python" -c '
import time
try:
    import numpy
except ImportError:
    numpy = None
end = time.process_time() + 0.3
while time.process_time() < end:
    numpy.ones((300, 300)).dot(numpy.ones((300, 300))) if numpy else sum(i * i for i in range(10000))
print("the end")'
  expect 0 'python3[^ ]* (process [0-9]*) used .* CPUs on average' "$PITWALL" analyze --no-env --format json py.pitwall
  "$python" -c 'import numpy' 2>/dev/null || echo 'skipped: numpy, as it is not installed (python3-numpy)'
fi

# Programs that use only NVTX, in C and in Python: their ranges, each on its thread, from the first to the last. names
# FILE THREAD: of that thread's events, in the order of their start.
names() {
  "$PITWALL" query --format csv "$1" "SELECT group_concat(name) AS names FROM (SELECT name FROM event
    WHERE track IN (SELECT id FROM track WHERE name = '$2') ORDER BY start_ns, depth)"
}
program=${3:-none} script=${4:-}
if [ "$program" != none ]; then
  all='epoch,iteration 0,iteration 1,iteration 2,mühsam,checkpoint,load batch,decode,step,left open'
  expect 7 'c.pitwall' "$PITWALL" record -o c.pitwall -- "$program" exit
  expect 0 "^\"$all\"\$" names c.pitwall trainer
  expect 0 '^copy$' names c.pitwall copier
  expect 0 '^transfer$' names c.pitwall 'NVTX start/end ranges'
  expect 7 'only.pitwall' "$PITWALL" record --only loader --only training -o only.pitwall -- "$program" exit
  expect 0 '^"load batch,step"$' names only.pitwall trainer
  # A flight recorder with a longer window than the program's run time keeps all events.
  expect 7 'last.pitwall' "$PITWALL" record --last 3600 -o last.pitwall -- "$program" exit
  expect 0 "^\"$all\"\$" names last.pitwall trainer
  # After a kill nothing is lost, including open ranges.
  expect 137 'killed.pitwall' "$PITWALL" record -o killed.pitwall -- "$program" kill
  expect 0 "^\"$all\"\$" names killed.pitwall trainer
fi
if [ -n "$script" ] && [ -n "$python" ]; then
  expect 0 'script.pitwall' "$PITWALL" record -o script.pitwall -- "$python" "$script"
  expect 0 '^"outer,inner,half way"$' names script.pitwall main
  expect 0 '^across threads$' names script.pitwall 'NVTX start/end ranges'
fi

# mergeRanks NAME: four ranks' files make one trace of four processes, one per rank.
mergeRanks() {
  local rank
  for rank in 0 1 2 3; do
    [ -s "$1$rank.pitwall" ] || report_failure "no trace of rank $rank"
  done
  expect 0 'rank' "$PITWALL" import "$1"{0,1,2,3}.pitwall -o "$1-all.pitwall"
  expect 0 '^"0,1,2,3"$' "$PITWALL" query --format csv "$1-all.pitwall" \
    "SELECT group_concat(rank) AS ranks FROM (SELECT DISTINCT rank FROM process ORDER BY rank)"
  expect 0 '^4$' "$PITWALL" query --format csv "$1-all.pitwall" \
    "SELECT count(DISTINCT process_id) AS n FROM track WHERE name = 'cpu' AND thread_id IS NULL"
}

# A launcher's rank variable, set without a launcher.
for rank in 0 1 2 3; do
  OMPI_COMM_WORLD_RANK=$rank "$PITWALL" record -q -o 'launched%r.pitwall' -- "$TARGET" burn 50 &
done
wait
mergeRanks launched

if command -v mpirun >/dev/null; then
  mpirun --allow-run-as-root --oversubscribe -n 4 "$PITWALL" record -q -o 'rank%r.pitwall' -- "$TARGET" burn 50 ||
    report_failure "mpirun ended with $?"
  mergeRanks rank
else
  echo 'skipped: ranks under mpirun, as Open MPI (openmpi-bin) is not installed'
fi
finish
