// The entry point of libFuzzer, one program for each target: PITWALL_FUZZ_TARGET is its name.
#include "db/check.h"
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const pitwall::fuzz::Target* const kTarget = pitwall::fuzz::findTarget(PITWALL_FUZZ_TARGET);
  PITWALL_CHECK(kTarget != nullptr, "no target %s", PITWALL_FUZZ_TARGET);
  kTarget->run({data, size});
  return 0;
}
