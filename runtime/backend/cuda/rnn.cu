#include "runtime/backend/gpu_kernels/rnn.h"

#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/library_helpers.h"
#include "runtime/backend/cuda/operators.h"

namespace pitwall::cuda {

PITWALL_CUDA_KERNEL(RnnDesc)

Status launchProduct(const KernelContext& context, const gpu_kernels::StridedProduct& product,
                     const float* left, const float* right, float* out) {
  return gpu_kernels::PlainProducts<CudaLaunch>().multiply(context, product, left, right, out);
}

gpu_kernels::GpuFunction rnnOf(const RnnDesc& desc, Pass pass, Signature& signature,
                               std::shared_ptr<const gpu_kernels::StridedProducts> products) {
  return gpu_kernels::rnnFunction<CudaLaunch>(desc, pass, signature, std::move(products));
}

}  // namespace pitwall::cuda
