#!/usr/bin/env bash
# tests/peers/run.sh [--bin build/release/bin] [--venvs FOLDER] [PROGRAM...]: records one unchanged program of each framework with
# the plain command, prints what the trace holds, and checks it. Not part of CI: installs the frameworks from PyPI (as pip is
# configured) into environments in FOLDER (default ~/.cache/pitwall-peers), PyTorch's takes some gigabytes.
#
# Programs: numpy, torch1 (Debian's packages), onnxruntime, mxnet, torch, jax. Default: all.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$here/../../build/release/bin venvs=$HOME/.cache/pitwall-peers
while [ $# -gt 0 ]; do
  case $1 in
    --bin) bin=$2; shift 2 ;;
    --venvs) venvs=$2; shift 2 ;;
    -*) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
    *) break ;;
  esac
done
bin=$(cd "$bin" && pwd) || exit 2
pitwall=$bin/pitwall
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

ask() { "$pitwall" query "$1" "$2" --format tsv | tail -n +2; }
least() { # least WHAT LEAST GOT
  printf '  %-45s %s\n' "$1" "$3"
  awk -v least="$2" -v got="${3:-0}" 'BEGIN { exit !(got >= least) }' && return
  printf '  FAILED: at least %s was expected\n' "$2"
  failures=$((failures + 1))
}
named() { # named WHAT EXPECTED SQL: a row that contains EXPECTED
  local rows
  rows=$(ask "$trace" "$3")
  printf '  %s:\n%s\n' "$1" "$(head -6 <<< "$rows" | sed 's/^/    /')"
  grep -q -- "$2" <<< "$rows" && return
  printf '  FAILED: %s was expected\n' "$2"
  failures=$((failures + 1))
}
environment() { # environment NAME PACKAGE...: makes it once
  [ -x "$venvs/$1/bin/python" ] && return
  mkdir -p "$venvs" && python3 -m venv "$venvs/$1" && "$venvs/$1/bin/pip" install -q "${@:2}"
}
recorded() { # recorded NAME PYTHON PROGRAM [ARGUMENT...]
  local program=("$2" "$here/programs/$3" "${@:4}")
  trace=$folder/$1.pitwall
  printf '%s\n' "$1"
  alone=$("${program[@]}") || { echo "  cannot be run"; failures=$((failures + 1)); return 1; }
  if ! output=$(cd "$folder" && "$pitwall" record -q -o "$trace" -- "${program[@]}" 2> messages); then
    echo "  FAILED under pitwall record"; failures=$((failures + 1))
  fi
  sed 's/^/  /' "$folder/messages"
  printf '  alone:    %s\n  recorded: %s\n' "$alone" "$output"
  ask "$trace" "SELECT value FROM meta WHERE key = 'recorder.notes'" | sed 's/^/  note: /'
  least "processes" 1 "$(ask "$trace" "SELECT count(*) FROM process")"
  "$pitwall" analyze "$trace" > "$folder/$1.txt" || failures=$((failures + 1))
  sed -n '1,60p' "$folder/$1.txt" | sed 's/^/  | /'
}
operators="SELECT name, phase, layer, shapes, count FROM analysis_operator ORDER BY total_ns DESC"
# The workers compute for a few hundredths of their time: steps for half a minute.
torch_steps=1500
code="SELECT function, round(sum(share), 3) FROM analysis_code WHERE function <> '' GROUP BY function ORDER BY sum(share) DESC"
iterations() { least iterations "$1" "$(ask "$trace" "SELECT count(*) FROM analysis_iteration")"; }
own_code() { # own_code FUNCTION: of the program itself
  named "own code" "$1" "$code"
}

for program in "${@:-numpy torch1 onnxruntime mxnet torch jax}"; do
  for name in $program; do
    case $name in
      numpy)
        recorded numpy /usr/bin/python3 numpy_train.py || continue
        own_code backward
        ;;
      torch1)
        recorded torch1 /usr/bin/python3 torch_train.py $torch_steps || continue
        named "operators by shape" "32x3x32x32" "$operators"
        named "phases" backward "SELECT category, round(share, 3) FROM analysis_breakdown WHERE share > 0"
        named "layers" "features.0" "SELECT DISTINCT layer FROM operator WHERE layer <> ''"
        iterations 60
        named "own code in the workers" __getitem__ "$code"
        ;;
      torch)
        environment torch torch numpy || continue
        recorded torch "$venvs/torch/bin/python" torch_train.py $torch_steps || continue
        named "operators by shape" "32x3x32x32" "$operators"
        named "phases" backward "SELECT category, round(share, 3) FROM analysis_breakdown WHERE share > 0"
        named "layers" "features.0" "SELECT DISTINCT layer FROM operator WHERE layer <> ''"
        iterations 60
        named "own code in the workers" __getitem__ "$code"
        ;;
      onnxruntime)
        environment onnxruntime onnxruntime onnx || continue
        recorded onnxruntime "$venvs/onnxruntime/bin/python" onnx_infer.py || continue
        named "operators by shape" "8x32x32x32" "$operators"
        iterations 200
        own_code prepare
        ;;
      mxnet)
        environment mxnet numpy==1.23.5 mxnet==1.9.1 || continue
        recorded mxnet "$venvs/mxnet/bin/python" mxnet_train.py || continue
        named "operators" Convolution "$operators"
        named "phases" backward "SELECT category, round(share, 3) FROM analysis_breakdown WHERE share > 0"
        iterations 60
        own_code augment
        ;;
      jax)
        environment jax jax || continue
        recorded jax "$venvs/jax/bin/python" jax_train.py || continue
        named "operators" dot "$operators"
        ;;
      *) echo "$name: no such program" >&2; exit 2 ;;
    esac
  done
done
echo "$failures failures"
exit $((failures > 0))
