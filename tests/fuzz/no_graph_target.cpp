// Without the runtime.
#include "tests/fuzz/targets.h"

namespace pitwall::fuzz {

std::span<const Target> graphTargets() { return {}; }

}  // namespace pitwall::fuzz
