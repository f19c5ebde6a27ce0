#!/usr/bin/env bash
# gpu_traces.sh PITWALL FOLDER: what two real recordings of an NVIDIA H200 show. Both are parts of longer ones, without paths and environment:
# PyTorch training ResNet-18 with a DataLoader of two workers, and Pitwall's runtime training ResNet-18 on images of 64 x 64.
set -u
pitwall=$1 folder=$(mktemp -d) failures=0
trap 'rm -rf "$folder"' EXIT
cp "$2"/*.gz "$folder"
ask() { "$pitwall" query "$folder/$1.pitwall.gz" "$2" 2> /dev/null | tail -1; }
expect() { # WHAT FOUND EXPECTED
  [ "$2" = "$3" ] && return
  echo "$1: $2, expected $3"
  failures=$((failures + 1))
}
findings() { "$pitwall" analyze "$folder/$1.pitwall.gz" 2> /dev/null | grep -oE '\[[a-z]+/[a-z-]+\]' | tr -d '[]' | sort -u | tr '\n' ' '; }

p=pytorch_h200
expect "$p: kernels" "$(ask $p "SELECT count(*) FROM event WHERE kind = 'kernel'")" 678
expect "$p: kernels with a launch configuration" "$(ask $p "SELECT count(*) FROM event e JOIN kernel k ON k.id = e.kernel WHERE k.block_x > 0")" 678
expect "$p: bytes of a batch to the device" "$(ask $p "SELECT max(value) FROM event WHERE name = 'Memcpy HtoD (Pinned -> Device)'")" 19267584
expect "$p: streams with kernels" "$(ask $p "SELECT count(DISTINCT track) FROM event WHERE kind = 'kernel'")" 1
expect "$p: operators have device time" "$(ask $p "SELECT sum(device_ns) > 4000000 FROM analysis_operator")" 1
expect "$p: the convolutions' gradients have most of it" "$(ask $p "SELECT name FROM analysis_operator WHERE phase = 'backward' ORDER BY device_ns DESC LIMIT 1")" aten::convolution_backward
expect "$p: the DataLoader is waited for" "$(ask $p "SELECT part FROM analysis_critical ORDER BY share DESC LIMIT 1")" "data wait"
expect "$p: findings" "$(findings $p)" "gpu/idle quality/profiler-overhead quality/too-few-steps "

o=own_h200
expect "$o: kernels" "$(ask $o "SELECT count(*) FROM event WHERE kind = 'kernel'")" 1068
expect "$o: kernels of cuDNN or cuBLAS" "$(ask $o "SELECT count(*) > 100 FROM event WHERE kind = 'kernel' AND (name LIKE '%xmma%' OR name LIKE '%cutlass%' OR name LIKE '%cudnn%')")" 1
expect "$o: operators have device time" "$(ask $o "SELECT sum(device_ns) > 1000000 FROM analysis_operator")" 1
expect "$o: the device's time adds up" "$(ask $o "SELECT abs(span_ns - busy_ns - all_idle_ns) FROM analysis_device")" 0
expect "$o: launches determine the end" "$(ask $o "SELECT title FROM analysis_critical ORDER BY share DESC LIMIT 1")" cudaLaunchKernel
expect "$o: findings" "$(findings $o)" "gpu/idle gpu/launch-bound quality/too-few-steps "
[ $failures -eq 0 ] || exit 1
echo "both recordings show what they should"
