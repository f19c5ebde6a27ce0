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

# step NAME: shows and logs what its build prints, then runs its tests, and counts what passed and failed. ctest's closing
# line gives how many tests there were; anything else is one.
step() {
  local name=$1 start=$SECONDS code tests lost
  is_wanted "$name" || return 0
  printf '\n=== %s\n' "$name"
  { built "$name" && tests_of "$name"; } 2>&1 | tee "$logs/$name.log"
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

# start_builds STEP...: their builds, one after the other in the background, at the lowest priority: what tests of an earlier
# step leave of the processors, builds of the next ones use.
start_builds() {
  local name
  for name in "$@"; do rm -f "$logs/$name.built" && : >"$logs/$name.build.log"; done
  set -m  # a process group, to be ended with this script
  {
    renice -n 19 -p "$BASHPID" >/dev/null
    for name in "$@"; do
      is_wanted "$name" || continue
      "build_$name" >"$logs/$name.build.log" 2>&1
      echo $? >"$logs/$name.built"
    done
  } </dev/null &
  builds=$!
  set +m
  trap 'kill -- -"$builds" 2>/dev/null' EXIT
}

# built STEP: waits for its build, and shows what it prints meanwhile.
built() {
  local code=
  exec 7<"$logs/$1.build.log"
  while [ -z "$code" ]; do
    # Asked before the file: the last thing that a build does is to write it.
    kill -0 "$builds" 2>/dev/null || code=1
    [ ! -s "$logs/$1.built" ] || code=$(<"$logs/$1.built")
    cat <&7
    [ -n "$code" ] || sleep 0.2
  done
  exec 7<&-
  return "$code"
}

# What a step runs once it is built; some only build.
tests_of() {
  ! declare -F "test_$1" >/dev/null || "test_$1"
}

# configure_build FOLDER PRESET [-DOPTION...]: one configuration, in build/FOLDER.
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

build_headers() { .ci/check_headers.sh; }

build_release() { configure_build release release -DPITWALL_CUDA=AUTO; }
test_release() { ctest --test-dir build/release --no-tests=error; }

# Two checks of single files, with the commands of a configuration that compiles each alone: that it includes what it
# uses, and by Clang, which locks are held where members are used.
configure_single() { cmake --preset release -B build/single -DPITWALL_CUDA=AUTO -DPITWALL_UNITY=OFF -Wno-dev >/dev/null; }
build_sources() { configure_single && .ci/check_sources.py build/single; }
build_locks() { configure_single && .ci/check_locks.py build/single; }

# Without the optional parts everything builds; what then is another code runs its tests. That of the slow samples and of damaged inputs is the same.
build_minimal() { configure_build minimal release -DPITWALL_CUDA=OFF -DPITWALL_GUI=OFF -DPITWALL_MPI=OFF; }
test_minimal() {
  local ctest_options=(-LE slow_samples -E bad_input)
  test_parts build/minimal runtime/session runtime/profiler package e2e
}

build_db() { configure_build db-only release -DPITWALL_BUILD_RUNTIME=OFF -DPITWALL_BUILD_ANALYZER=OFF; }
test_db() { ctest --test-dir build/db-only --no-tests=error; }

# The analyzer without the runtime is the same code, but for what its command finds beside it: the tests of the command
# and of the recorder run again, those of the libraries do not.
build_analyzer() { configure_build db-analyzer release -DPITWALL_BUILD_RUNTIME=OFF; }
test_analyzer() {
  ctest --test-dir build/db-analyzer --no-tests=error -R '^(Command|Record|MergeParts|Attach|Stacks|PythonStacksOfAProgram|Program|ProgramEnvironment|cli|record|gui)[.]|^package_'
}

# build_parts FOLDER PART...: the tests of some folders of tests/, without the rest. With Ninja each folder is a target that
# builds what it holds.
build_parts() {
  local folder=$1 targets
  shift
  targets=("${@/#/tests/}")
  ninja -C "$folder" "${targets[@]/%//all}"
}

# Where threads and raw memory are.
careful=(db runtime/engine runtime/memory runtime/profiler)
watched=("${careful[@]}" runtime/graph analyzer/record)

# Clang's sanitizers, so that the fuzzers use the same libraries.
configure_asan() {
  CC=clang-14 CXX=clang++-14 cmake --preset asan -Wno-dev -DPITWALL_BUILD_ANALYZER=OFF -DPITWALL_BUILD_RECORD=ON \
    -DPITWALL_FUZZ=ON -DPITWALL_SANITIZE=address,undefined,fuzzer-no-link
}
build_asan() { configure_asan && build_parts build/asan "${watched[@]}"; }
test_asan() { test_parts build/asan "${watched[@]}"; }

# A few seconds of each fuzzer, always with the same inputs; tests/fuzz/run.sh lets them run longer and with others.
build_fuzz() { configure_asan && cmake --build build/asan --target fuzzers; }
test_fuzz() { tests/fuzz/run.sh build/asan 1500runs; }

# The viewer and its tests with addresses and undefined behaviour watched, beside the release configuration.
build_viewer() { cmake --preset release -DPITWALL_CUDA=AUTO && ninja -C build/release viewer_asan; }
test_viewer() { build/release/tests/viewer_asan --gtest_brief=1; }

build_tsan() { cmake --preset tsan -DPITWALL_BUILD_ANALYZER=OFF && build_parts build/tsan "${careful[@]}"; }
# Codecs, SQL and damaged files are read by one thread: there is nothing for this sanitizer to see.
test_tsan() {
  GTEST_FILTER='-Sql*:Redact*:ColumnCodec*:RecoveryTest.DamagedRecords*:*/Columns.*' test_parts build/tsan "${careful[@]}"
}

# ThreadSanitizer of GCC 12 cannot map its shadow under the address randomisation of newer kernels.
without_aslr=(setarch "$(uname -m)" -R)
"${without_aslr[@]}" true 2>/dev/null || without_aslr=()

build_packages() { .ci/install_packages.sh build viewer data check; }
build_format() { .ci/check_format.sh; }
build_layers() { .ci/check_layers.py; }
build_sizes() { .ci/check_sizes.py; }
build_words() { .ci/check_words.py; }

mkdir -p "$logs"
start_builds packages
step packages
[ "$failed" -eq 0 ] || exit 1
# Hundreds of programs are linked: the fastest linker.
export LDFLAGS=${LDFLAGS:--fuse-ld=lld}
# Long builds beside long tests; short tests at the end, when nothing is left to build.
steps=(format layers sizes words release headers sources locks asan fuzz viewer tsan minimal db analyzer)
start_builds "${steps[@]}"
for name in "${steps[@]}"; do step "$name"; done

printf '\n=== summary (%d s)\n' "$SECONDS"
printf '%s\n' "${summary[@]}"
# What the first tests that failed printed, and at the very end which failed: the end of a long log shows it.
lost_tests=
for log in "$logs"/*.log; do
  is_wanted "$(basename "$log" .log)" || continue  # of an earlier run
  awk -v most=40 '
    /^ *[0-9]+\/[0-9]+ Test +#|^ +Start +[0-9]+:|^[0-9]+% tests passed/ { shows = 0 }
    /^ *[0-9]+\/[0-9]+ Test +#.*\*\*\*/ && !/Skipped/ { shows = most; if (++tests > 5) exit }
    shows-- > 0' "$log"
  lost_tests+=$(sed -nE "/^The following tests FAILED:/,/^Errors while running CTest/ { /\(Skipped\)|^The|^Err/d; s|^|$(basename "$log" .log): |p }" "$log")$'\n'
done
printf '%s' "$lost_tests" | grep .
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
