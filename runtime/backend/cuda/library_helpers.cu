#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/library_helpers.h"
#include "runtime/backend/gpu_kernels/epilogue.h"
#include "runtime/backend/support/random.h"

namespace pitwall::cuda {

Status launchEpilogue(const KernelContext& context, const EpilogueCall& c) {
  CudaLaunch launch(context);
  launch.map(c.elements, c.to,
             gpu_kernels::Epilogue{c.channels, c.pixels, c.activation, c.from, c.bias, c.addend});
  return launch.status();
}

Status launchChannelSum(const KernelContext& context, const gpu_kernels::ChannelParts& parts,
                        const float* from, float* to) {
  CudaLaunch launch(context);
  gpu_kernels::sumChannels(launch, parts, from, context.workspace, to);
  return launch.status();
}

namespace {

struct Noise {
  float* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    to[i] = static_cast<float>(randomBits(1, static_cast<std::uint64_t>(i))) / 2147483648.0F - 1.0F;
  }
};

}  // namespace

Status fillWithNoise(void* stream, float* to, std::int64_t count) {
  CudaLaunch launch(KernelContext{.stream = stream});
  launch.each(count, Noise{to});
  return launch.status();
}

}  // namespace pitwall::cuda
