#!/usr/bin/env bash
# record.sh PITWALL PACKAGES: `pitwall record` of Python programs that use ONNX Runtime, MXNet or JAX and are not changed for it.
# PACKAGES has packages of these names with the part of the interface that is used, and profiles in the real form; the real
# ones are tested by tests/peers/run.sh.
set -uo pipefail
pitwall=$1
export PYTHONPATH=$2 PYTHONDONTWRITEBYTECODE=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
python=$(python3 -c 'import sys; print(sys.executable)') # itself, where `python3` is a script

check() { # check WHAT EXPECTED GOT
  [ "$2" = "$3" ] && return
  printf 'FAILED %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
  failures=$((failures + 1))
}
ask() { "$pitwall" query "$1" "$2" --format tsv 2>&1 | tail -n +2 | tr '\n' ' ' | sed 's/ $//'; }
record() { # record TRACE PROGRAM [OPTION...]: the program's output
  local trace=$1 program=$2
  shift 2
  "$pitwall" record -q -o "$trace" --stacks off "$@" -- "$python" "$program" 2>&1
}
operators="SELECT name || ' ' || count(*) FROM event WHERE kind = 'operator' GROUP BY name ORDER BY name"
notes() { ask "$1" "SELECT value FROM meta WHERE key = 'recorder.notes'" | sed 's/no GPU is sampled: [^)]*)//'; }
# Operators outside of the recorded time, or on no thread of the process.
misplaced="SELECT count(*) FROM event JOIN track ON track.id = event.track JOIN thread ON thread.id = track.thread_id
  JOIN process ON process.id = thread.process_id WHERE event.kind = 'operator' AND (process.name NOT LIKE 'python%'
  OR start_ns < 0 OR end_ns > (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'trace.end_ns'))"

# --- ONNX Runtime ---
cat > ort.py <<'END'
import onnxruntime
session = onnxruntime.InferenceSession("model", providers=["CPUExecutionProvider"])
for i in range(5): session.run(None, {})
assert session.end_profiling() == "", "as without recording"
print("done")
END
check "ort: output" done "$(record ort.pitwall ort.py)"
check "ort: operators" "Gemm 5" "$(ask ort.pitwall "$operators")"
check "ort: their place" 0 "$(ask ort.pitwall "$misplaced")"
check "ort: shapes" "dense 2x3->2x3 float CPUExecutionProvider" "$(ask ort.pitwall \
  "SELECT layer || ' ' || shapes || ' ' || dtype || ' ' || backend FROM operator")"
check "ort: one process" 1 "$(ask ort.pitwall "SELECT count(*) FROM process")"
check "ort: on the main thread" 1 "$(ask ort.pitwall "SELECT count(DISTINCT thread.id) FROM event JOIN track ON track.id = event.track
  JOIN thread ON thread.id = track.thread_id JOIN process ON process.id = thread.process_id WHERE event.kind = 'operator' AND tid = pid")"
check "ort: iterations" 5 "$(ask ort.pitwall "SELECT count(*) - 1 FROM iteration_mark")"
check "ort: files left" "ort.pitwall ort.py" "$(echo *)"
check "ort: notes" "" "$(notes ort.pitwall)"

record parts.pitwall ort.py --keep-parts > /dev/null
"$pitwall" import parts.pitwall.parts/* -o again.pitwall > /dev/null
check "ort: imported manually" "Gemm 5 1" "$(ask again.pitwall "$operators") $(ask again.pitwall \
  "SELECT count(*) FROM meta WHERE key = 'trace.start_unix_ns'")"
check "ort: none" "done " "$(record none.pitwall ort.py --framework none) $(ask none.pitwall "$operators")"

cat > own.py <<'END'
import onnxruntime
options = onnxruntime.SessionOptions()
options.enable_profiling, options.profile_file_prefix = True, "mine"
session = onnxruntime.InferenceSession("model", options)
for i in range(5): session.run(None, {})
print(session.end_profiling()[:5])
END
check "ort: the program's own profile" "mine_ Gemm 5 1" "$(record own.pitwall own.py) $(ask own.pitwall "$operators") $(find . -name 'mine_*' | wc -l)"

cat > options.py <<'END'
import multiprocessing, os, onnxruntime
options = onnxruntime.SessionOptions()
def run(times):
    session = onnxruntime.InferenceSession(path_or_bytes="model", sess_options=options)
    for i in range(times): session.run(None, {})
if __name__ == "__main__":
    run(2)
    assert (options.enable_profiling, options.profile_file_prefix) == (False, "onnxruntime_profile_")
    try: onnxruntime.InferenceSession("no model", options)
    except ValueError as error: print(error)
    kept = onnxruntime.InferenceSession("model", options)
    worker = multiprocessing.get_context("fork").Process(target=run, args=(3,))
    worker.start(); worker.join()
    if os.fork() == 0: os._exit(0)
    os.wait()
    kept.run(None, {})
END
check "ort: a worker, a failure, options" "no model Gemm 6 2" \
  "$(record options.pitwall options.py) $(ask options.pitwall "$operators") $(ask options.pitwall \
  "SELECT count(DISTINCT process.pid) FROM event JOIN track ON track.id = event.track JOIN process ON process.id = track.process_id
    WHERE event.kind = 'operator'")"

echo "import onnxruntime, os
session = onnxruntime.InferenceSession('model')
session.run(None, {})
os.kill(os.getpid(), 9)" > killed.py
record killed.pitwall killed.py > /dev/null
check "ort: a killed program" 1 "$(notes killed.pitwall | grep -c "ONNX Runtime's profile of process [0-9]* is missing")"

mkdir -p other/onnxruntime
printf 'class InferenceSession:\n  def __init__(self, model): print("made")\n' > other/onnxruntime/__init__.py
echo "import onnxruntime; onnxruntime.InferenceSession('model')" > other.py
check "ort: an unknown version" made "$(PYTHONPATH=other record other.pitwall other.py)"
check "ort: its note" 1 "$(notes other.pitwall | grep -c "onnxruntime is not recorded in process")"

# --- MXNet ---
cat > mx.py <<'END'
import mxnet as mx
trainer = mx.gluon.Trainer()
for i in range(5): mx.nd.dot(); trainer.step(1); mx.nd.waitall()
print("done")
END
check "mxnet: output" done "$(record mx.pitwall mx.py)"
check "mxnet: operators" "dot 10" "$(ask mx.pitwall "$operators")"
check "mxnet: their place" 0 "$(ask mx.pitwall "$misplaced")"
check "mxnet: one process" 1 "$(ask mx.pitwall "SELECT count(*) FROM process")"
check "mxnet: calls that wait" "MXNDArrayWaitAll 5" "$(ask mx.pitwall "SELECT name || ' ' || count(*) FROM event WHERE kind = 'wait' GROUP BY name")"
check "mxnet: iterations" 5 "$(ask mx.pitwall "SELECT count(*) FROM iteration_mark")"
check "mxnet: no file in the program's folder" "" "$(find . -name '*profile*')"
echo "import mxnet as mx
for i in range(3): mx.nd.dot()
mx.profiler.set_config(filename='theirs.json')
mx.profiler.set_state('run')
for i in range(4): mx.nd.dot(); mx.nd.waitall()
mx.profiler.set_state('stop')
mx.profiler.dump()" > mxown.py
record mxown.pitwall mxown.py
check "mxnet: the program's own profile" "dot 7 8" "$(ask mxown.pitwall "$operators") $(grep -o '"name": "dot"' theirs.json | wc -l)"
check "mxnet: without calls that it did not ask for" 0 "$(grep -c MXNDArrayWait theirs.json)"

# --- JAX ---
echo "import jax
jax.compile_something()
print('done')" > jax1.py
check "jax: output" done "$(record jax.pitwall jax1.py)"
check "jax: events" "PjitFunction(step) 1" "$(ask jax.pitwall "SELECT name || ' ' || count(*) FROM event WHERE kind = 'scope' GROUP BY name")"
check "jax: one process" 1 "$(ask jax.pitwall "SELECT count(*) FROM process")"
echo "import jax
jax.compile_something()
jax.profiler.start_trace('mine')
jax.profiler.stop_trace()" > jaxown.py
record jaxown.pitwall jaxown.py
check "jax: and the program's own" "2 1" "$(ask jaxown.pitwall "SELECT count(*) FROM event WHERE kind = 'scope'") $(find mine -name '*.pb' | wc -l)"

[ "$failures" -eq 0 ] && echo "all checks passed"
exit "$((failures > 0))"
