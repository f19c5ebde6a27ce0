// The backend that tests compare with the reference backend. PITWALL_TEST_BACKEND names it: "onednn", which is the default;
// "host_gpu", the kernels of GPUs as loops of the host; "cuda", those on the first GPU, with copies to it and from it. With
// PITWALL_TEST_DTYPE it computes with numbers of 16 bits (short_backend.h).
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace pitwall::test {

bool secondIsOnednn();
// Errors: why there is none, such as no GPU; the test is skipped.
Result<std::unique_ptr<Backend>> openSecondBackend();

}  // namespace pitwall::test
