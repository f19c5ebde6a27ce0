#!/usr/bin/env bash
# check_headers.sh: each public header compiles alone, so that its users need to know nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

headers=(db/*.h runtime/*.h runtime/operators/*.h analyzer/*.h)
# As cmake/Operators.cmake generates it.
generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT
export generated
mkdir "$generated/runtime"
printf '#include "%s"\n' runtime/operators/*.h >"$generated/runtime/operator_list.h"
one() {
  echo "#include \"$1\"" |
    ${CXX:-g++} -std=c++20 -I. -I"$generated" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -x c++ - ||
    { echo "$1:1: does not compile alone; include what it uses"; return 1; }
}
export -f one
printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I{} bash -c 'one {}' || exit 1
echo "headers: ${#headers[@]} compile alone"
