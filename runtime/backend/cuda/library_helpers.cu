#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/library_helpers.h"
#include "runtime/backend/gpu_kernels/epilogue.h"
#include "runtime/backend/support/random.h"

namespace pitwall::cuda {

namespace {

// launch(E{}) for the type.
template <class F>
void forType(DType type, const F& launch) {
  withElementType(type, [&](auto element) {
    launch(element);
    return 0;
  });
}

struct Noise {
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    return static_cast<float>(randomBits(1, static_cast<std::uint64_t>(i))) / 2147483648.0F - 1.0F;
  }
};

}  // namespace

Status launchEpilogue(const KernelContext& context, const EpilogueCall& c) {
  CudaLaunch launch(context);
  forType(c.type, [&](auto element) {
    using E = decltype(element);
    const auto in = [](const void* at) { return gpu_kernels::In<E>{static_cast<const E*>(at)}; };
    launch.map(
        c.elements, static_cast<E*>(c.to),
        gpu_kernels::Epilogue<E>{c.channels, c.pixels, c.activation, in(c.from), in(c.bias), in(c.addend)});
  });
  return launch.status();
}

Status launchChannelSum(const KernelContext& context, const gpu_kernels::ChannelParts& parts, DType type,
                        const void* from, void* to) {
  CudaLaunch launch(context);
  forType(type, [&](auto element) {
    using E = decltype(element);
    gpu_kernels::sumChannels<E>(launch, parts, {static_cast<const E*>(from)}, context.workspace,
                                static_cast<E*>(to));
  });
  return launch.status();
}

Status fillWithNoise(void* stream, DType type, void* to, std::int64_t count) {
  CudaLaunch launch(KernelContext{.stream = stream});
  forType(type, [&](auto element) { launch.map(count, static_cast<decltype(element)*>(to), Noise{}); });
  return launch.status();
}

}  // namespace pitwall::cuda
