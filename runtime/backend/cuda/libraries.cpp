#include "runtime/backend/cuda/libraries.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <utility>

#include "db/mutex.h"
#include "db/try.h"
#include "runtime/backend/cuda/cublas_kernels.h"
#include "runtime/backend/cuda/cudnn_convolution.h"

namespace pitwall::cuda {
namespace {

// What a measured choice depends on besides the problem.
std::string machineOf(const CudnnApi* api, int device) {
  cudaDeviceProp properties{};
  (void)cudaGetDeviceProperties(&properties, device);
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);
  return fmt::format("{}, {} multiprocessors, driver {}, cuDNN {}", properties.name,
                     properties.multiProcessorCount, driver, api == nullptr ? 0 : api->cudnnGetVersion());
}

class OpenedLibraries final : public Libraries {
 public:
  explicit OpenedLibraries(const CudaOptions& options) : options_(options) {}

  Result<KernelPtr> make(const OperatorKindDesc& desc, Pass pass, const Signature& signature) override {
    if (desc.is<ConvolutionDesc>() || desc.is<DeconvolutionDesc>()) {
      Device* const device = PITWALL_TRY(current());
      if (device == nullptr) return KernelPtr();
      return makeConvolution({*device->api, device->properties, options_, device->choices}, desc, pass,
                             signature);
    }
    return makeProduct(desc, pass, signature, options_);
  }

  std::string version() const override {
    const auto api = cudnn();
    if (!api.has_value()) return {};
    const std::size_t version = (*api)->cudnnGetVersion();
    return fmt::format("cuDNN {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }

 private:
  // A GPU, for cuDNN.
  struct Device {
    Device(const CudnnApi* of, Descriptor described, std::string file, std::string machine)
        : api(of), properties(std::move(described)), choices(std::move(file), std::move(machine)) {}
    const CudnnApi* api;
    Descriptor properties;
    KernelChoices choices;
  };

  // The thread's; nullptr without cuDNN.
  Result<Device*> current() {
    const auto api = cudnn();
    if (!api.has_value()) {
      printOnce(fmt::format("convolutions on GPUs are slow here: {}; install cuDNN 9 for CUDA 13",
                            api.error().message));
      return nullptr;
    }
    if ((*api)->cudnnGetVersion() < CUDNN_VERSION && options_.checks_cudnn)
      printOnce(
          fmt::format("{} is older than that of the build, {}.{}.{}; MXNET_CUDNN_LIB_CHECKING=0 hides this",
                      version(), CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL));
    int index = 0;
    if (cudaGetDevice(&index) != cudaSuccess) return fail(ErrorCode::internal, "cudaGetDevice failed");
    const ScopedLock lock(mutex_);
    std::unique_ptr<Device>& device = devices_[index];
    if (device == nullptr) {
      const cudnnHandle_t handle = PITWALL_TRY(handleFor(**api, nullptr));
      Descriptor properties = PITWALL_TRY(deviceProperties(**api, handle));
      device = std::make_unique<Device>(*api, std::move(properties), options_.choices_file,
                                        machineOf(*api, index));
    }
    return device.get();
  }

  void printOnce(const std::string& problem) {
    const ScopedLock lock(mutex_);
    if (!std::exchange(printed_, true)) fprintf(stderr, "pitwall: %s\n", problem.c_str());
  }

  const CudaOptions options_;
  Mutex mutex_;
  std::map<int, std::unique_ptr<Device>> devices_ PITWALL_GUARDED_BY(mutex_);
  bool printed_ PITWALL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<Libraries> openLibraries(const CudaOptions& options) {
  return std::make_unique<OpenedLibraries>(options);
}

}  // namespace pitwall::cuda
