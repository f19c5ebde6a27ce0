#!/usr/bin/env bash
# im2rec killed, interrupted, and on a full disk: a file has its name only when it is complete, and the next run makes it.
source "$(dirname "$0")/lib.sh" "$@"
IM2REC=$3
[ -x /usr/bin/python3 ] || exit 77
/usr/bin/python3 "$(dirname "$0")/make_images.py" "$SCRATCH/images" 150 120 90 || exit 1
cd "$SCRATCH" || exit 1
expect 0 'data.lst: 150 images' "$IM2REC" --list --recursive data images
cp data.lst whole.lst
expect 0 'data.rec: 150 images, 0 left out' "$IM2REC" --num-thread 2 data.lst images
mkdir whole && mv data.rec data.idx whole

for signal in KILL INT TERM; do
  for delay in 0.01 0.05 0.1; do
    "$IM2REC" --num-thread 2 --resize 400 data.lst images >/dev/null 2>err &
    child=$!
    sleep $delay
    kill -$signal $child 2>/dev/null
    wait $child 2>/dev/null
    code=$?
    cmp -s data.lst whole.lst || report_failure "SIG$signal after $delay s: the list is another one"
    if [ "$code" -ne 0 ]; then
      [ -e data.idx ] && report_failure "SIG$signal after $delay s: there is an index of an unfinished file"
      [ -z "$(ls ./*.tmp 2>/dev/null)" ] || report_failure "SIG$signal after $delay s leaves $(ls ./*.tmp)"
    fi
    rm -f data.rec data.idx ./*.tmp
  done
done

# A limit for the size of files: writing fails as on a full disk.
limited() { (ulimit -f 40; trap '' XFSZ; exec "$@"); }
expect 2 'data.rec: cannot be written: .*; choose another path, or make room' limited "$IM2REC" data.lst images
[ -z "$(ls data.rec data.idx ./*.tmp 2>/dev/null)" ] || report_failure "a full disk leaves $(ls)"
tiny() { (ulimit -f 1; trap '' XFSZ; exec "$@"); }
expect 2 'data.lst: cannot be written: .*; choose another path, or make room' tiny "$IM2REC" --list --recursive data images
cmp -s data.lst whole.lst || report_failure "a full disk changes the list that is there"

expect 0 'data.rec: 150 images, 0 left out' "$IM2REC" --num-thread 2 data.lst images
cmp -s data.rec whole/data.rec && cmp -s data.idx whole/data.idx || report_failure "the next run makes other files"
expect 0 'data.rec: there already' "$IM2REC" --resume data.lst images
finish
