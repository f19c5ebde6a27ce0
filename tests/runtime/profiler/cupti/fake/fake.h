// What the fake driver reports to the fake CUPTI.
#pragma once

namespace fake_cuda {

enum class Call { initialised, launch, migrate, prefetch, takeDown };
using Observe = void(Call);
inline constexpr char kObserve[] = "fakeCuptiObserve";

// Whether the fake CUPTI records kernels.
bool recordsKernels();

}  // namespace fake_cuda
