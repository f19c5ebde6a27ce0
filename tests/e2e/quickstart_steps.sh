#!/usr/bin/env bash
# The steps of samples/quickstart.sh and what it concludes, with a command and a program that answer at once: no timing, no build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect NAME WANTED GOT
expect() {
  [ "$2" = "$3" ] && return
  printf 'FAILED %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
  failed=1
}

tree=$scratch/tree
mkdir -p "$tree/.ci" "$tree/stubs" "$tree/build/release/bin"
cp -r samples "$tree/samples"
for stub in .ci/install_packages.sh stubs/cmake; do printf '#!/bin/sh\n' >"$tree/$stub"; done
cat >"$tree/build/release/bin/train_lenet" <<'STUB'
#!/bin/sh
echo "train_lenet trace=${PITWALL_TRACE:-} $*" >>calls
STUB
cat >"$tree/build/release/bin/pitwall" <<'STUB'
#!/bin/sh
echo "pitwall $*" >>calls
case "$*" in
  *json*) echo '  "items_per_second": 8000,' ;;
  tune*) mkdir -p lenet.tune && cp best.env lenet.tune/best.env ;;
esac
STUB
chmod +x "$tree"/.ci/* "$tree"/stubs/* "$tree"/build/release/bin/*
run() { (cd "$tree" && rm -f calls && PATH="$tree/stubs:$PATH" bash samples/quickstart.sh >out 2>&1); }

printf 'export A=1\n' >"$tree/best.env"
run || { cat "$tree/out"; failed=1; }
expect "the calls" "train_lenet trace=lenet.pitwall --epochs 3
pitwall analyze lenet.pitwall --env lenet.env
pitwall analyze lenet.pitwall --no-env --format json
pitwall tune -o lenet.tune --restart --budget 4m -- build/release/bin/train_lenet --epochs 1000 --images 24000" "$(cat "$tree/calls")"
expect "what is kept" "export A=1" "$(cat "$tree/lenet.env")"
expect "the conclusion" "lenet.env has the settings that were measured to help: source lenet.env" "$(tail -1 "$tree/out")"

printf '# nothing\n' >"$tree/best.env"
run || { cat "$tree/out"; failed=1; }
expect "the conclusion without a gain" "Nothing was measured to help, so lenet.env sets nothing." "$(tail -1 "$tree/out")"
[ "$failed" -eq 0 ] && echo "ok"
exit "$failed"
