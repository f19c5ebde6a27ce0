// Operators of each element by itself: Activation, add_n, clip, Dropout, linear, reciprocal, Reorder.
#pragma once

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/backend/support/random.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

struct Activate {
  ActivationType type;
  const float* x;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return activated(type, x[i]); }
};

// Softrelu reads the data, the others the output.
struct ActivateGradient {
  ActivationType type;
  const float *x, *y, *dy;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    float slope = 0;
    switch (type) {
      case ActivationType::relu: slope = y[i] > 0 ? 1.0F : 0.0F; break;
      case ActivationType::sigmoid: slope = y[i] * (1 - y[i]); break;
      case ActivationType::tanh: slope = 1 - y[i] * y[i]; break;
      case ActivationType::softrelu: slope = sigmoidOf(x[i]); break;
    }
    return slope * dy[i];
  }
};

template <class L>
GpuFunction make(const ActivationDesc& d, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const ActivationType type = d.type;
  if (pass == Pass::backward)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.map(n, output(a, 0), ActivateGradient{type, input(a, 0), input(a, 1), input(a, 2)});
      return launch.status();
    };
  return [=](const KernelArgs& a) {
    L launch(a.context);
    launch.map(n, output(a, 0), Activate{type, input(a, 0)});
    return launch.status();
  };
}

struct AddTwo {
  const float *a, *b;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return a[i] + b[i]; }
};

struct CopyElement {
  const float* from;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return from[i]; }
};

struct AddFour {
  const float *a, *b, *c, *d;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return a[i] + b[i] + c[i] + d[i]; }
};

// In the order of the arrays, up to four with each launch. The output may be the place of one that a later launch reads: the
// first launch has read that only if it is among its own, so the sum is begun in the output alone where it is safe.
template <class L>
GpuFunction make(const AddNDesc& d, Pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const auto count = static_cast<std::size_t>(d.inputs);
  return [=](const KernelArgs& a) {
    L launch(a.context);
    float* const out = output(a, 0);
    if (count == 1) {
      launch.map(n, out, CopyElement{input(a, 0)});
      return launch.status();
    }
    std::size_t next = 0;
    const float* sum = nullptr;
    if (count >= 4) {
      launch.map(n, out, AddFour{input(a, 0), input(a, 1), input(a, 2), input(a, 3)});
      next = 4;
    } else {
      launch.map(n, out, AddTwo{input(a, 0), input(a, 1)});
      next = 2;
    }
    sum = out;
    for (; next + 3 <= count; next += 3)
      launch.map(n, out, AddFour{sum, input(a, next), input(a, next + 1), input(a, next + 2)});
    for (; next < count; ++next) launch.map(n, out, AddTwo{sum, input(a, next)});
    return launch.status();
  };
}

struct Clip {
  float least, most;
  const float* x;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return limited(x[i], least, most); }
};

struct ClipGradient {
  float least, most;
  const float *y, *dy;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return least < y[i] && y[i] < most ? dy[i] : 0; }
};

template <class L>
GpuFunction make(const ClipDesc& d, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return [=, least = d.minimum, most = d.maximum](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.map(n, output(a, 0), ClipGradient{least, most, input(a, 0), input(a, 1)});
    else
      launch.map(n, output(a, 0), Clip{least, most, input(a, 0)});
    return launch.status();
  };
}

struct Drop {
  std::uint64_t seed, threshold;
  float scale;
  const float* x;
  float *y, *mask;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float kept = randomBits(seed, static_cast<std::uint64_t>(i)) < threshold ? scale : 0.0F;
    mask[i] = kept;
    y[i] = x[i] * kept;
  }
};

struct Multiply {
  const float *a, *b;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return a[i] * b[i]; }
};

template <class L>
GpuFunction make(const DropoutDesc& d, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const std::uint64_t threshold = keepThreshold(d.rate);
  const float scale = 1 / (1 - d.rate);
  return [=](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.map(n, output(a, 0), Multiply{input(a, 0), input(a, 1)});
    else
      launch.each(n, Drop{a.context.seed, threshold, scale, input(a, 0), output(a, 0), output(a, 1)});
    return launch.status();
  };
}

struct Linear {
  float scale, shift;
  const float* x;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return scale * x[i] + shift; }
};

template <class L>
GpuFunction make(const LinearDesc& d, Pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return [=, scale = d.scale, shift = d.shift](const KernelArgs& a) {
    L launch(a.context);
    launch.map(n, output(a, 0), Linear{scale, shift, input(a, 0)});
    return launch.status();
  };
}

struct Reciprocal {
  float scalar;
  const float* x;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return scalar / x[i]; }
};

struct ReciprocalGradient {
  float scalar;
  const float *x, *dy;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return -scalar / (x[i] * x[i]) * dy[i]; }
};

template <class L>
GpuFunction make(const ReciprocalDesc& d, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return [=, scalar = d.scalar](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.map(n, output(a, 0), ReciprocalGradient{scalar, input(a, 0), input(a, 1)});
    else
      launch.map(n, output(a, 0), Reciprocal{scalar, input(a, 0)});
    return launch.status();
  };
}

struct CopyWord {
  const std::uint8_t* from;
  std::uint8_t* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const { to[i] = from[i]; }
};

// Images from row-major to channels last, or back. Each thread writes one element.
struct MoveChannels {
  std::int64_t channels, pixels;
  bool to_last;
  const float* from;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    const std::int64_t inner = to_last ? channels : pixels, outer = to_last ? pixels : channels;
    const std::int64_t image = quotientOf(i, channels * pixels), place = quotientOf(i, inner);
    return from[(image * inner + remainderOf(i, inner)) * outer + remainderOf(place, outer)];
  }
};

// Layouts of other backends have no place on a GPU.
inline bool isOfGpu(const LayoutPtr& layout) {
  return layout == nullptr || dynamic_cast<const ChannelsLast*>(layout.get()) != nullptr;
}

template <class L>
GpuFunction make(const ReorderDesc&, Pass, Signature& s) {
  const TensorSpec &from = s.inputs[0], &to = s.outputs[0];
  const bool words = sizeOf(to.dtype) == 4, moves = isChannelsLast(from) != isChannelsLast(to);
  if (!isOfGpu(from.layout) || !isOfGpu(to.layout) || (moves && !words)) return {};
  const std::int64_t n = to.shape.elements();
  if (moves) {
    const std::int64_t channels = to.shape[1], pixels = to.shape[2] * to.shape[3];
    return [=, to_last = isChannelsLast(to)](const KernelArgs& a) {
      L launch(a.context);
      launch.map(n, output(a, 0), MoveChannels{channels, pixels, to_last, input(a, 0)});
      return launch.status();
    };
  }
  return [=, bytes = to.sizeBytes()](const KernelArgs& a) {
    L launch(a.context);
    if (words)
      launch.map(n, output(a, 0), CopyElement{input(a, 0)});
    else
      launch.each(bytes, CopyWord{static_cast<const std::uint8_t*>(a.inputs[0]),
                                  static_cast<std::uint8_t*>(a.outputs[0])});
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
