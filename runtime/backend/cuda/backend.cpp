// The backend "cuda", and the GPUs of this build.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/cuda/collectives.h"
#include "runtime/backend/cuda/driver.h"
#include "runtime/backend/cuda/libraries.h"
#include "runtime/backend/cuda/operators.h"
#include "runtime/backend/gpu_kernels/keep_layout.h"
#include "runtime/backend/gpu_kernels/short_types.h"
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

BackendOptions cacheOptions(const CudaOptions& options) {
  BackendOptions of_cache;
  of_cache.cached_kernels = options.cached_kernels;
  return of_cache;
}

class CudaBackend final : public CachingBackend {
 public:
  explicit CudaBackend(const CudaOptions& options)
      : CachingBackend(cacheOptions(options)), libraries_(openLibraries(options)) {}
  std::string_view name() const override { return "cuda"; }
  std::string libraryVersion() const override {
    int version = 0;
    (void)cudaRuntimeGetVersion(&version);
    const std::string cuda = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    const std::string libraries = libraries_->version();
    return libraries.empty() ? cuda : cuda + ", " + libraries;
  }

 private:
  static bool isOfLibraries(const OperatorKindDesc& desc) {
    return desc.is<ConvolutionDesc>() || desc.is<DeconvolutionDesc>() || desc.is<FullyConnectedDesc>() ||
           desc.is<DotDesc>() || desc.is<BatchDotDesc>();
  }
  bool computes16Bits(const OperatorKindDesc& desc, Pass pass,
                      std::span<const TensorSpec> inputs) const override {
    return isOfLibraries(desc) || gpu_kernels::computes16Bits(desc, pass, inputs);
  }
  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override {
    Signature signature = PITWALL_TRY(inferSignature(desc, pass, inputs, like));
    if (KernelPtr kernel = PITWALL_TRY(libraries_->make(desc, pass, signature))) return kernel;
    const auto isShort = [](const TensorSpec& spec) { return is16Bits(spec.dtype); };
    if (isOfLibraries(desc) && std::ranges::any_of(inputs, isShort))
      return createWidened(desc, pass, inputs, like);
    gpu_kernels::keepLayout(desc, pass, inputs, signature);
    gpu_kernels::GpuFunction function = makeFunction(desc, pass, signature);
    if (!function.run) return KernelPtr();
    return KernelPtr(
        std::make_shared<gpu_kernels::GpuFunctionKernel>(std::move(signature), "cuda", std::move(function)));
  }

  const std::unique_ptr<Libraries> libraries_;
};

class CudaPlatform final : public GpuPlatform {
 public:
  GpuDriver& driver() override { return *driver_; }
  Result<std::unique_ptr<Backend>> openBackend(const Settings& settings) override {
    return std::unique_ptr<Backend>(std::make_unique<CudaBackend>(CudaOptions::of(settings)));
  }
  Result<std::string> collectivesVersion() override { return cuda::collectivesVersion(); }
  Result<std::unique_ptr<GpuCollectives>> openCollectives(std::span<const int> devices) override {
    return cuda::openCollectives(devices);
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
