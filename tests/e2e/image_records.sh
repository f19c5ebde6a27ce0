#!/usr/bin/env bash
# Images -> a list -> a record file -> batches -> training and --test-io 1, both recorded, and what the analysis says about the input.
source "$(dirname "$0")/lib.sh" "$@"
IM2REC=$3
[ -x /usr/bin/python3 ] || exit 77
/usr/bin/python3 "$(dirname "$0")/make_images.py" "$SCRATCH/images" 60 56 48 || exit 1
head -c 300 "$SCRATCH/images/grey/0001.png" >"$SCRATCH/images/light/cut.png"  # no image any more
cd "$SCRATCH" || exit 1

expect 0 'data_train.lst: 48 images' "$IM2REC" --list --recursive --train-ratio 0.8 --test-ratio 0.2 data images
[ "$(cat data_train.lst data_test.lst data_val.lst | sort -u | wc -l)" -eq 61 ] || report_failure "the lists have not each file once"
"$IM2REC" --resize 40 --num-thread 2 data images >out 2>err
grep -q 'images/light/cut.png: ' err || report_failure "the cut file is not named: $(cat err)"
left=$(grep -oP 'data_(train|test|val).rec: \K[0-9]+(?= images)' out | paste -sd+ | bc)
[ "$left" = 60 ] || report_failure "$left images are in the record files instead of 60: $(cat out)"
[ -s data_train.idx ] && [ -s data_test.rec ] || report_failure "a file is missing: $(ls)"
ls ./*.tmp >/dev/null 2>&1 && report_failure "an unfinished file is left: $(ls)"

network="--network resnet-18 --image-size 32 --num-classes 3 --batch-size 8 --data-nthreads 2"
expect 0 'Epoch.0. Train-accuracy=' "$TRAIN" $network --data-train data_train.rec --num-epochs 1 --prefetch-buffer 1 --record train.pitwall
expect 0 'Epoch.1. Batches .6.' "$TRAIN" $network --data-train data_train.rec --num-epochs 2 --test-io 1 --record io.pitwall

for trace in train io; do
  expect 0 'iterations' "$PITWALL" analyze $trace.pitwall
  parts=$("$PITWALL" query $trace.pitwall "SELECT group_concat(name) FROM (SELECT name FROM analysis_data_work ORDER BY name)")
  grep -q 'augment,decode,make batch,read' <<<"$parts" || report_failure "$trace: the parts of making batches are '$parts'"
done
# Each image of a batch is read, decoded and augmented once. Two epochs have 12 batches; more may have been made ahead when the program ended.
count() { "$PITWALL" query io.pitwall "SELECT count FROM analysis_name WHERE name = '$1'" --format tsv | tail -1; }
batches=$(count 'make batch')
[ "$batches" -ge 12 ] || report_failure "$batches batches were made instead of 12 or more"
for part in read decode augment; do
  [ "$(count $part)" -eq $((8 * batches)) ] || report_failure "not $((8 * batches)) times '$part': $(count $part)"
done
# Only input: nearly all of the time is a wait for it, and that is the first finding.
first=$("$PITWALL" analyze io.pitwall --format json | /usr/bin/python3 -c "import json, sys; print(json.load(sys.stdin)['findings'][0]['id'])")
[[ $first == input/* ]] || report_failure "--test-io 1: the first finding is '$first'"

printf '0\t0\tlight/cut.png\n' >cut.lst
expect 2 'cut.lst: none of its images can be used; nothing is written' "$IM2REC" cut.lst images
[ -e cut.rec ] && report_failure "a record file without images is written"

expect 2 'none.rec: cannot be opened' "$TRAIN" $network --data-train none.rec
truncate -s -500 data_train.rec
expect 0 'data_train.rec: 1 image skipped; record [0-9]* at byte [0-9]*: .* the record is incomplete' \
  "$TRAIN" $network --data-train data_train.rec --test-io 1
mv data_train.idx kept.idx
expect 0 'data_train.rec: 1 damaged place, .* the file ends after' "$TRAIN" $network --data-train data_train.rec --test-io 1
mv kept.idx data_train.idx
truncate -s -5000 data_train.rec
expect 2 'data_train.idx: line [0-9]*: offset [0-9]* is outside the record file' "$TRAIN" $network --data-train data_train.rec --test-io 1
finish
