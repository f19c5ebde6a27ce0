#!/bin/sh
# use_installed.sh CMAKE BUILD PROJECT CXX GENERATOR: installs BUILD into a fresh prefix, configures and builds PROJECT
# against it in a folder that does not know this source tree, and runs what it built.
set -eu
cmake=$1 build=$2 project=$3 cxx=$4 generator=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" > "$work/install.log" || { cat "$work/install.log"; exit 1; }
cp -r "$project" "$work/project"
"$cmake" -G "$generator" -S "$work/project" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release
"$cmake" --build "$work/build"
cd "$work"
"$work/build/main"
if [ -x "$work/prefix/bin/pitwall" ]; then
  "$work/prefix/bin/pitwall" --version
fi
