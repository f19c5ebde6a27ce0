#!/usr/bin/env bash
# train_fashion on a small data set of the tests: it learns, classifies the test images, writes the network, and is recorded.
set -euo pipefail
train=$1 pitwall=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Images of one bright row, which is the class: 320 to train on, and 50 to test, which do not fill the last batch.
python3 - "$work" <<'PYTHON'
import random, struct, sys
from pathlib import Path

def write(prefix, count, seed):
    choose = random.Random(seed)
    labels = [choose.randrange(10) for _ in range(count)]
    images = b"".join(bytes(255 if row // 2 == label else choose.randrange(64) for row in range(28) for _ in range(28))
                      for label in labels)
    folder = Path(sys.argv[1])
    (folder / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, count, 28, 28) + images)
    (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) + bytes(labels))

write("train", 320, 1)
write("t10k", 50, 2)
PYTHON

fail() { echo "train_fashion: $*" >&2; cat "$work/log" >&2; exit 1; }
"$train" --data "$work" --batch-size 32 --num-epochs 4 --disp-batches 5 --model-prefix "$work/net" --quantize naive \
    --record "$work/run.pitwall" >"$work/log" 2>&1 || fail "ended with $?"
grep -qP 'Epoch\[0\] Batch \[5-10\]\tSpeed: [0-9.]+ samples/sec\taccuracy=[0-9.]+$' "$work/log" || fail "no line of the speedometer"
grep -qE '^Epoch\[3\] Time cost=[0-9.]+$' "$work/log" || fail "no time of the last epoch"
accuracy=$(sed -n 's/^Epoch\[3\] Validation-accuracy=//p' "$work/log")
awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.9 && a <= 1) }' || fail "an accuracy of '$accuracy' after the last epoch"
quantized=$(sed -n 's/^Quantized Validation-accuracy=//p' "$work/log")
awk -v a="$accuracy" -v q="$quantized" 'BEGIN { exit !(q >= a - 0.05) }' || fail "an accuracy of '$quantized' on 8-bit numbers, $accuracy before"
[ -s "$work/net-symbol.json" ] && [ -s "$work/net-0004.params" ] || fail "the network was not written"
layers=$("$pitwall" query "$work/run.pitwall" "SELECT DISTINCT layer FROM operator WHERE layer LIKE 'stage1_unit1_conv1%'") ||
  fail "the trace cannot be read"
grep -q 'stage1_unit1_conv1' <<<"$layers" || fail "the trace names no layer"

if "$train" --data "$work/none" >"$work/log" 2>&1; then fail "a missing data set is no error"; fi
grep -q 'install dataset-fashion-mnist' "$work/log" || fail "a missing data set has no advice"
