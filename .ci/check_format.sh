#!/usr/bin/env bash
# check_format.sh [--fix]: every C++ file is as clang-format 14 leaves it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t files < <(git ls-files -co --exclude-standard '*.h' '*.cpp' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
if [ "${1:-}" = --fix ]; then
  clang-format-14 -i "${files[@]}"
elif ! printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 8 clang-format-14 --dry-run -Werror; then
  echo "Run .ci/check_format.sh --fix"
  exit 1
fi
echo "format: ${#files[@]} files"
