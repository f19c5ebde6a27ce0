#!/usr/bin/env bash
# screenshots.sh BUILD [CORPUS] [OUT]: the pictures of docs/screenshots, from a recording made now and, where the folder
# is there, from traces of other tools (h100/bert.json.gz, ... as below). Under Xvfb where it is installed, else offscreen.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$(cd "$1/bin" && pwd)
corpus=${2:+$(cd "$2" && pwd)}
out=${3:-$root/docs/screenshots}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
export HOME=$work XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work

under=(env QT_QPA_PLATFORM=offscreen)
command -v xvfb-run >/dev/null && under=(xvfb-run -a -s "-screen 0 3840x2400x24")

cd "$work"
record() { PITWALL_TRACE=$1 "${@:2}" "$bin/train_lenet" --synthetic --batch 64 --steps 40 >/dev/null; }
"$bin/pitwall" env --calibrate >/dev/null  # for the roofline
record lenet.pitwall env OMP_NUM_THREADS=2
"$bin/pitwall" record -o sampled.pitwall -- "$bin/train_lenet" --synthetic --batch 64 --steps 400 >/dev/null 2>&1
"$bin/pitwall" tune --quiet --no-ledger -o slow_loading.tune -- "$bin/samples/slow_loading" >/dev/null
record slower.pitwall env OMP_NUM_THREADS=1 MXNET_ENGINE_TYPE=NaiveEngine
# Three iterations in the middle.
range=$("$bin/pitwall" query lenet.pitwall --format csv "SELECT min(time_ns) || '..' || max(time_ns) FROM (
  SELECT time_ns FROM iteration_mark ORDER BY time_ns LIMIT 4 OFFSET 20)" | tail -1 | tr -d '"')
one=$("$bin/pitwall" query lenet.pitwall --format csv "SELECT min(time_ns) || '..' || max(time_ns) FROM (
  SELECT time_ns FROM iteration_mark ORDER BY time_ns LIMIT 2 OFFSET 20)" | tail -1 | tr -d '"')

# shot NAME ARGUMENTS...: one picture; the code is that of the last argument's fate.
shot() {
  local code=0
  "${under[@]}" "$bin/pitwall-gui" --export "$out/$1.png" --size 1440x900 "${@:2}" 2>"$work/said" || code=$?
  if [ "$code" -ne 0 ] && [ "$1" != error ]; then
    cat "$work/said"
    exit 1
  fi
  python3 "$root/tests/gui/fewer_colors.py" "$out/$1.png"
  echo "$(stat -c %s "$out/$1.png") $1.png"
}
shot timeline --range "$range" lenet.pitwall
shot findings slower.pitwall
shot details --range "$one" --select Convolution lenet.pitwall
shot flame --page flame --range "$range" lenet.pitwall
shot events --page events lenet.pitwall
shot roofline --page roofline lenet.pitwall
shot trials slow_loading.tune
shot sql --page sql lenet.pitwall
shot compare --page compare slower.pitwall lenet.pitwall
shot dark --theme dark --range "$range" lenet.pitwall
shot color_blind --color-blind --range "$range" lenet.pitwall
shot scale2 --scale 2 --size 1200x750 --range "$range" lenet.pitwall
shot states --size 1440x1200 sampled.pitwall
shot small --size 1024x640 --range "$range" lenet.pitwall
shot empty
shot error missing.pitwall
if [ -d "$corpus" ]; then
  shot pytorch "$corpus/tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz"
  shot kernels --page kernels --size 1600x900 "$corpus/nsys/mfu_2gpu_before.sqlite"
  shot simulate --size 1600x950 --simulate data_wait=0 "$corpus/kineto_tb/workers_0.pt.trace.json.gz"
  shot nsight --theme dark "$corpus/nsys/mfu_2gpu_before.sqlite"
  shot critical_path "$corpus/hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz"
fi
