#!/usr/bin/env bash
# run.sh [--only NAME]... [--pairs N] [--no-gain] [--json] ...: runs every program of cases/, and compares what the
# report says first with what is planted. Builds what it needs. `run.sh --help` names the rest.
#
# Exit code 0 only when the first finding is right in 90 % of the planted cases, no healthy program gets a false alarm,
# and 80 % of the predicted intervals hold the measured gain. Run it on a quiet machine.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${PITWALL_BUILD:-$root/build/release}
case " $* " in
  *" --help "* | *" -h "* | *" --list "* | *" --check "* | *" --no-build "*) ;;
  *)
    [ -e "$build/build.ninja" ] || cmake --preset release -S "$root" -B "$build" -Wno-dev >/dev/null
    targets=(pitwall truth_programs)
    for sample in "$root"/samples/slow/*.cpp; do targets+=("$(basename "$sample" .cpp)"); done
    cmake --build "$build" --target "${targets[@]}" train_lenet >"$build/truth_build.log" 2>&1 ||
      { tail -n 20 "$build/truth_build.log"; exit 2; }
    ;;
esac
exec /usr/bin/python3 "$root/tests/truth/run.py" --build "$build" "$@"
