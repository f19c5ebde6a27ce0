#!/usr/bin/env bash
# The score program: rows in each format, the published figures beside them, a trace of each row, and messages.
source "$(dirname "$0")/lib.sh" "$@"
export PITWALL_KERNEL_CHOICES=/dev/null  # nothing is written into the user's folder for caches
score=("$TRAIN" --seconds 0.05 --batch-size 1)

number='[0-9.]\+'
expect 0 '{"network":"inception-bn","batch":1,"images_per_second":'$number',"gflops_per_second":'$number',"planned_bytes":' \
  "${score[@]}" --network inception-bn --format json
expect 0 '"published_images_per_second":null,"trace":null}\]' "${score[@]}" --network squeezenet1.1 --format json
expect 0 "^inception-bn,1,$number,$number,[0-9]*,[0-9]*,float32,c5.xlarge,27.06,$" \
  "${score[@]}" --network inception-bn --format csv --published c5.xlarge
expect 0 "^mobilenet0.25  *1 " "${score[@]}" --network mobilenet0.25

expect 0 ",int8," "${score[@]}" --network mobilenet0.25 --dtype int8 --format csv

# A trace of each row, which the command reads.
expect 0 '"trace":".*/traces/mobilenet0.25-2.pitwall"}' \
  "$TRAIN" --seconds 0.05 --batch-size 1,2 --network mobilenet0.25 --record "$SCRATCH/traces" --format json
for batch in 1 2; do
  expect 0 '^mobilenet0_conv1_fwd+' "$PITWALL" query "$SCRATCH/traces/mobilenet0.25-$batch.pitwall" \
    "SELECT layer FROM operator WHERE layer LIKE 'mobilenet0_conv1_fwd+%'"
done

expect 2 "there is no network mobilenet; there are alexnet, " "${score[@]}" --network alexnet,mobilenet
expect 2 "\-\-published c4.xlarge: the page has no such machine" "${score[@]}" --published c4.xlarge
expect 2 "dtype" "${score[@]}" --dtype float16
printf 'a file\n' >"$SCRATCH/file"
expect 2 "\-\-record $SCRATCH/file/traces: " "${score[@]}" --network alexnet --record "$SCRATCH/file/traces"
if grep -q amx_bf16 /proc/cpuinfo; then
  expect 0 ',bfloat16,' "${score[@]}" --network mobilenet0.25 --dtype bfloat16 --format csv
else
  expect 2 "computes no layer of mobilenet0.25 in bfloat16 here" "${score[@]}" --network mobilenet0.25 --dtype bfloat16
fi
finish
