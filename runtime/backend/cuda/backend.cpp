// The backend "cuda", and the GPUs of this build.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/cuda/driver.h"
#include "runtime/backend/cuda/operators.h"
#include "runtime/backend/support/caching_backend.h"
#include "runtime/gpu.h"

namespace pitwall {
namespace cuda {
namespace {

gpu_kernels::GpuFunction makeFunction(const OperatorKindDesc& desc, Pass pass, Signature& signature) {
#define PITWALL_MAKE(Desc) \
  if (desc.is<Desc>()) return make(desc.as<Desc>(), pass, signature);
  PITWALL_GPU_OPERATORS(PITWALL_MAKE)
#undef PITWALL_MAKE
  return {};
}

class CudaBackend final : public CachingBackend {
 public:
  using CachingBackend::CachingBackend;
  std::string_view name() const override { return "cuda"; }
  std::string libraryVersion() const override {
    int version = 0;
    (void)cudaRuntimeGetVersion(&version);
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  }

 private:
  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override {
    Signature signature = PITWALL_TRY(inferSignature(desc, pass, inputs, like));
    gpu_kernels::GpuFunction function = makeFunction(desc, pass, signature);
    if (!function.run) return KernelPtr();
    return KernelPtr(
        std::make_shared<gpu_kernels::GpuFunctionKernel>(std::move(signature), "cuda", std::move(function)));
  }
};

class CudaPlatform final : public GpuPlatform {
 public:
  GpuDriver& driver() override { return *driver_; }
  Result<std::unique_ptr<Backend>> openBackend(const Settings& settings) override {
    BackendOptions options;
    options.cached_kernels = settings.integer("MXNET_MKLDNN_CACHE_NUM");
    return std::unique_ptr<Backend>(std::make_unique<CudaBackend>(options));
  }

 private:
  const std::unique_ptr<GpuDriver> driver_ = makeDriver();
};

}  // namespace
}  // namespace cuda

Result<std::shared_ptr<GpuPlatform>> openGpuPlatform() {
  return std::shared_ptr<GpuPlatform>(std::make_shared<cuda::CudaPlatform>());
}

}  // namespace pitwall
