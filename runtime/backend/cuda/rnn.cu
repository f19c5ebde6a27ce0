#include "runtime/backend/gpu_kernels/rnn.h"

#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/library_helpers.h"
#include "runtime/backend/cuda/operators.h"

namespace pitwall::cuda {

PITWALL_CUDA_KERNEL(RnnDesc)

gpu_kernels::GpuFunction rnnOf(const RnnDesc& desc, Pass pass, Signature& signature,
                               std::shared_ptr<const gpu_kernels::StridedProducts> products) {
  return gpu_kernels::rnnFunction<CudaLaunch>(desc, pass, signature, std::move(products));
}

}  // namespace pitwall::cuda
