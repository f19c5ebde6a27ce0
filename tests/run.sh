#!/usr/bin/env bash
# tests/run.sh [--quick | STEP...]: everything that must hold, on a bare Debian 12: installs the packages it needs, then
# format, layers, sizes, words, headers, sources, locks, and builds and tests of every configuration. Asks nothing.
# Steps by name run alone; --quick is the release build and its tests, for the desk.
#
# Exit code 0 only when every step passed. The last line says how many tests passed and failed; a check that is not a
# test program counts as one. Logs: build/logs/STEP.log.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

jobs=$(nproc)
logs=build/logs
passed=0 failed=0
summary=()
# The same source compiled in several build folders is one ccache entry.
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$PWD CMAKE_BUILD_PARALLEL_LEVEL=$jobs CTEST_OUTPUT_ON_FAILURE=1
# More than processors: some tests wait for programs.
export CTEST_PARALLEL_LEVEL=$((jobs + 2))
# Tests run side by side: OpenMP threads that spin while they wait would hold each other up.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-PASSIVE} GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-0}
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS="suppressions=$PWD/.ci/tsan.supp second_deadlock_stack=1"

wanted=("$@")
[ "${1:-}" != --quick ] || wanted=(release)
is_wanted() {
  [ ${#wanted[@]} -eq 0 ] && return 0
  local w
  for w in "${wanted[@]}"; do [ "$w" = "$1" ] && return 0; done
  return 1
}

# step NAME COMMAND...: runs it, shows and logs its output, counts what passed and failed. ctest's closing line gives
# how many tests there were; anything else is one.
step() {
  local name=$1 start=$SECONDS code tests lost
  shift
  is_wanted "$name" || return 0
  printf '\n=== %s\n' "$name"
  "$@" 2>&1 | tee "$logs/$name.log"
  code=${PIPESTATUS[0]}
  lost=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$logs/$name.log" |
    awk '{ bad += $1; all += $2 } END { if (NR) print bad, all }')
  if [ -n "$lost" ]; then
    read -r lost tests <<<"$lost"
    if [ "$code" -ne 0 ] && [ "$lost" -eq 0 ]; then lost=1 tests=$((tests + 1)); fi
  else
    tests=1 lost=$((code != 0))
  fi
  passed=$((passed + tests - lost)) failed=$((failed + lost))
  summary+=("$(printf '%-10s %-6s %5d passed %3d failed %5d s' "$name" "$([ "$code" -eq 0 ] && echo ok || echo FAILED)" \
    $((tests - lost)) "$lost" $((SECONDS - start)))")
  return 0
}

# configure_build_test FOLDER PRESET [-DOPTION...]: one configuration, in build/FOLDER.
configure_build_test() {
  local folder=build/$1
  configure_build "$@" && ctest --test-dir "$folder" --no-tests=error
}

configure_build() {
  local folder=build/$1 preset=$2
  shift 2
  cmake --preset "$preset" -B "$folder" -Wno-dev "$@" && cmake --build "$folder"
}

# test_parts FOLDER PART...: the tests of some folders of tests/ alone, two folders at a time, since one with a long test
# at its end would leave processors idle; `ctest_options` choose among them.
ctest_options=()
test_parts() {
  local folder=$1
  shift
  printf '%s\0' "${@/#/$folder/tests/}" |
    CTEST_PARALLEL_LEVEL=$jobs xargs -0 -P 2 -I{} "${without_aslr[@]}" ctest --test-dir {} --no-tests=error "${ctest_options[@]}"
}

# Without the optional parts everything builds; what then is another code runs its tests. That of the slow samples and of damaged inputs is the same.
minimal() {
  local ctest_options=(-LE slow_samples -E bad_input)
  configure_build minimal release -DPITWALL_CUDA=OFF -DPITWALL_GUI=OFF -DPITWALL_MPI=OFF &&
    test_parts build/minimal runtime/session runtime/profiler package e2e
}

# The analyzer without the runtime is the same code, but for what its command finds beside it: the tests of the command
# and of the recorder run again, those of the libraries do not.
analyzer_alone() {
  configure_build db-analyzer release -DPITWALL_BUILD_RUNTIME=OFF &&
    ctest --test-dir build/db-analyzer --no-tests=error -R '^(Command|Record|MergeParts|Attach|Stacks|PythonStacksOfAProgram|Program|ProgramEnvironment|cli|record|gui)[.]|^package_'
}

# sanitized FOLDER PART...: the tests of some folders of tests/ alone, built without the rest. With Ninja each folder is a
# target that builds what it holds.
sanitized() {
  local folder=$1 targets
  shift
  targets=("${@/#/tests/}")
  ninja -C "$folder" "${targets[@]/%//all}" && test_parts "$folder" "$@"
}

# Where threads and raw memory are.
careful=(db runtime/engine runtime/memory runtime/profiler)

# Clang's sanitizers, so that the fuzzers use the same libraries.
configure_asan() {
  CC=clang-14 CXX=clang++-14 cmake --preset asan -Wno-dev -DPITWALL_BUILD_ANALYZER=OFF -DPITWALL_BUILD_RECORD=ON \
    -DPITWALL_FUZZ=ON -DPITWALL_SANITIZE=address,undefined,fuzzer-no-link
}
asan() { configure_asan && sanitized build/asan "${careful[@]}" runtime/graph analyzer/record; }
# Codecs, SQL and damaged files are read by one thread: there is nothing for this sanitizer to see.
tsan() {
  cmake --preset tsan -DPITWALL_BUILD_ANALYZER=OFF &&
    GTEST_FILTER='-Sql*:Redact*:ColumnCodec*:RecoveryTest.DamagedRecords*:*/Columns.*' sanitized build/tsan "${careful[@]}"
}

# The viewer and its tests with addresses and undefined behaviour watched, beside the release configuration.
viewer() {
  cmake --preset release -DPITWALL_CUDA=AUTO && ninja -C build/release viewer_asan &&
    build/release/tests/viewer_asan --gtest_brief=1
}

# Two checks of single files, with the commands of a configuration that compiles each alone: that it includes what it
# uses, and by Clang, which locks are held where members are used.
configure_single() { cmake --preset release -B build/single -DPITWALL_CUDA=AUTO -DPITWALL_UNITY=OFF -Wno-dev >/dev/null; }
sources() { configure_single && .ci/check_sources.py build/single; }
locks() { configure_single && .ci/check_locks.py build/single; }

# A few seconds of each fuzzer, always with the same inputs; tests/fuzz/run.sh lets them run longer and with others.
fuzz() { configure_asan && cmake --build build/asan --target fuzzers && tests/fuzz/run.sh build/asan 1500runs; }

# ThreadSanitizer of GCC 12 cannot map its shadow under the address randomisation of newer kernels.
without_aslr=(setarch "$(uname -m)" -R)
"${without_aslr[@]}" true 2>/dev/null || without_aslr=()

mkdir -p "$logs"
step packages .ci/install_packages.sh build viewer data check
[ "$failed" -eq 0 ] || exit 1
# Hundreds of programs are linked: the fastest linker.
export LDFLAGS=${LDFLAGS:--fuse-ld=lld}
step format .ci/check_format.sh
step layers .ci/check_layers.py
step sizes .ci/check_sizes.py
step words .ci/check_words.py
step headers .ci/check_headers.sh
step release configure_build_test release release -DPITWALL_CUDA=AUTO
step sources sources
step locks locks
step minimal minimal
step db configure_build_test db-only release -DPITWALL_BUILD_RUNTIME=OFF -DPITWALL_BUILD_ANALYZER=OFF
step analyzer analyzer_alone
step asan asan
step fuzz fuzz
step viewer viewer
step tsan tsan

printf '\n=== summary (%d s)\n' "$SECONDS"
printf '%s\n' "${summary[@]}"
# Which tests failed, and what a test that failed printed, where the end of a long log shows it.
for log in "$logs"/*.log; do
  is_wanted "$(basename "$log" .log)" || continue  # of an earlier run
  sed -nE "/^The following tests FAILED:/,/^Errors while running CTest/ { /\(Skipped\)|^The|^Err/d; s|^|$(basename "$log" .log): |p }" "$log"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
