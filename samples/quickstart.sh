#!/usr/bin/env bash
# samples/quickstart.sh: all of Pitwall on one example. Builds it, trains a small network on Fashion-MNIST while
# recording, analyzes the recording, and measures the recommended settings with 'pitwall tune', which keeps those that help.
#
# Needs Debian 12 (as root or with sudo for the packages). Runs without input. Creates lenet.pitwall, lenet.env and the folder
# lenet.tune. To change its length: QUICKSTART_EPOCHS of the recorded training (3), QUICKSTART_IMAGES of one run of the measurement
# (as many as take three seconds), QUICKSTART_BUDGET of all its runs (4m).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=build/release/bin
epochs=${QUICKSTART_EPOCHS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

say "1/4 Build (several minutes the first time)"
.ci/install_packages.sh build data
build() { cmake --preset release && cmake --build --preset release --target train_lenet pitwall; }
if ! build >"$work/build.log" 2>&1; then
  cat "$work/build.log"
  echo "The build failed; the messages above say where."
  exit 1
fi
ls -1 $bin/train_lenet $bin/pitwall

say "2/4 Train, recording lenet.pitwall"
PITWALL_TRACE=lenet.pitwall $bin/train_lenet --epochs "$epochs"

say "3/4 Analyze"
$bin/pitwall analyze lenet.pitwall --env lenet.env

say "4/4 Measure the recommendations, and keep those that help"
# Images for about three seconds, from the rate in the report.
rate=$($bin/pitwall analyze lenet.pitwall --no-env --format json | sed -n 's/^ *"items_per_second": \([0-9]*\).*/\1/p')
images=${QUICKSTART_IMAGES:-$((${rate:-0} > 1600 ? rate * 3 : 4800))}
$bin/pitwall tune -o lenet.tune --restart --budget "${QUICKSTART_BUDGET:-4m}" -- $bin/train_lenet --epochs 1000 --images "$images"
cp lenet.tune/best.env lenet.env
echo
if grep -q '^export ' lenet.env; then
  echo "lenet.env has the settings that were measured to help: source lenet.env"
else
  echo "Nothing was measured to help, so lenet.env sets nothing."
fi
