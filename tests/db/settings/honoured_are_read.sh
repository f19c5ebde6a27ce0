#!/bin/sh
# honoured_are_read.sh ROOT < settings.md: every setting that the catalogue calls honoured is read in ROOT/runtime
# (tests' own settings and comments do not count), and every one that is read there through Settings is honoured.
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk '/^### `/ { name = $2; gsub(/`/, "", name) } /\*\*Honoured\*\* since/ { print name }' | sort > "$work/honoured"
[ -s "$work/honoured" ] || { echo "no honoured setting on standard input: is it docs/settings.md?"; exit 1; }

# Lines of code (not comments) that name a setting in a string.
find "$root/runtime" \( -name '*.cpp' -o -name '*.h' \) -exec grep -nHE '"(MXNET|PITWALL|NNVM|DMLC|PS)_[A-Za-z0-9_]*' {} + |
  grep -vE '^[^:]*:[0-9]+: *//' > "$work/lines" || true
# MXNET_C_API is what MXNet's profiler calls a category of events.
grep -oE '"(MXNET|PITWALL|NNVM|DMLC|PS)_[A-Za-z0-9_]*' "$work/lines" | tr -d '"' | grep -vx MXNET_C_API | sort -u > "$work/read"

failed=0
while read -r name; do
  if [ "$name" = 'PITWALL_TUNE_*' ]; then  # read through Settings::chosen, which knows the prefix
    grep -rqE 'settings(\(\))?(\.|->)chosen\(' "$root/runtime" || { echo "$name: nothing calls chosen()"; failed=1; }
  elif ! grep -qx "$name" "$work/read"; then
    echo "$name: the catalogue says honoured, but nothing in runtime/ reads it; read it or change its status"
    failed=1
  fi
done < "$work/honoured"
while read -r name; do
  if ! sed 's/\*$//' "$work/honoured" | grep -qx "$name"; then
    echo "$name: read in runtime/ but not honoured in the catalogue: $(grep "\"$name\"" "$work/lines" | head -1 |
      cut -d: -f1,2)"
    failed=1
  fi
done < "$work/read"
[ $failed = 0 ] && echo "$(wc -l < "$work/honoured") honoured settings, all read in runtime/"
exit $failed
