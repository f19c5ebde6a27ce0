// Operators of each element by itself: Activation, add_n, Cast, clip, Dropout, linear, reciprocal, Reorder.
#pragma once

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/backend/gpu_kernels/weight_fours.h"
#include "runtime/backend/support/random.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

template <class E>
struct Activate {
  ActivationType type;
  In<E> x;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return activated(type, x[i]); }
};

// Softrelu reads the data, the others the output.
template <class E>
struct ActivateGradient {
  ActivationType type;
  In<E> x, y, dy;
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

template <class L, class E>
GpuFunction makeOf(const ActivationDesc& d, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const ActivationType type = d.type;
  if (pass == Pass::backward)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.map(n, arrayOut<E>(a, 0),
                 ActivateGradient<E>{type, arrayIn<E>(a, 0), arrayIn<E>(a, 1), arrayIn<E>(a, 2)});
      return launch.status();
    };
  return [=](const KernelArgs& a) {
    L launch(a.context);
    launch.map(n, arrayOut<E>(a, 0), Activate<E>{type, arrayIn<E>(a, 0)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(ActivationDesc)

template <class E>
struct AddTwo {
  In<E> a, b;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return a[i] + b[i]; }
};

template <class E>
struct CopyElement {
  In<E> from;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return from[i]; }
};

template <class E>
struct AddFour {
  In<E> a, b, c, d;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return a[i] + b[i] + c[i] + d[i]; }
};

// In the order of the arrays, up to four with each launch. The output may be the place of one that a later launch reads: the
// first launch has read that only if it is among its own, so the sum is begun in the output alone where it is safe.
template <class L, class E>
GpuFunction makeOf(const AddNDesc& d, Pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const auto count = static_cast<std::size_t>(d.inputs);
  return [=](const KernelArgs& a) {
    L launch(a.context);
    E* const out = arrayOut<E>(a, 0);
    if (count == 1) {
      launch.map(n, out, CopyElement<E>{arrayIn<E>(a, 0)});
      return launch.status();
    }
    std::size_t next = 0;
    In<E> sum{nullptr};
    if (count >= 4) {
      launch.map(n, out, AddFour<E>{arrayIn<E>(a, 0), arrayIn<E>(a, 1), arrayIn<E>(a, 2), arrayIn<E>(a, 3)});
      next = 4;
    } else {
      launch.map(n, out, AddTwo<E>{arrayIn<E>(a, 0), arrayIn<E>(a, 1)});
      next = 2;
    }
    sum.at = out;
    for (; next + 3 <= count; next += 3)
      launch.map(n, out,
                 AddFour<E>{sum, arrayIn<E>(a, next), arrayIn<E>(a, next + 1), arrayIn<E>(a, next + 2)});
    for (; next < count; ++next) launch.map(n, out, AddTwo<E>{sum, arrayIn<E>(a, next)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(AddNDesc)

template <class E>
struct Clip {
  float least, most;
  In<E> x;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return limited(x[i], least, most); }
};

template <class E>
struct ClipGradient {
  float least, most;
  In<E> y, dy;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return least < y[i] && y[i] < most ? dy[i] : 0; }
};

template <class L, class E>
GpuFunction makeOf(const ClipDesc& d, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return [=, least = d.minimum, most = d.maximum](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.map(n, arrayOut<E>(a, 0), ClipGradient<E>{least, most, arrayIn<E>(a, 0), arrayIn<E>(a, 1)});
    else
      launch.map(n, arrayOut<E>(a, 0), Clip<E>{least, most, arrayIn<E>(a, 0)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(ClipDesc)

template <class E>
struct Drop {
  std::uint64_t seed, threshold;
  float scale;
  In<E> x;
  E *y, *mask;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float kept = randomBits(seed, static_cast<std::uint64_t>(i)) < threshold ? scale : 0.0F;
    mask[i] = stored<E>(kept);
    y[i] = stored<E>(x[i] * kept);
  }
};

template <class E>
struct Multiply {
  In<E> a, b;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return a[i] * b[i]; }
};

template <class L, class E>
GpuFunction makeOf(const DropoutDesc& d, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const std::uint64_t threshold = keepThreshold(d.rate);
  const float scale = 1 / (1 - d.rate);
  return [=](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.map(n, arrayOut<E>(a, 0), Multiply<E>{arrayIn<E>(a, 0), arrayIn<E>(a, 1)});
    else
      launch.each(n, Drop<E>{a.context.seed, threshold, scale, arrayIn<E>(a, 0), arrayOut<E>(a, 0),
                             arrayOut<E>(a, 1)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(DropoutDesc)

template <class E>
struct Linear {
  float scale, shift;
  In<E> x;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return scale * x[i] + shift; }
};

template <class L, class E>
GpuFunction makeOf(const LinearDesc& d, Pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return [=, scale = d.scale, shift = d.shift](const KernelArgs& a) {
    L launch(a.context);
    launch.map(n, arrayOut<E>(a, 0), Linear<E>{scale, shift, arrayIn<E>(a, 0)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(LinearDesc)

template <class E>
struct Reciprocal {
  float scalar;
  In<E> x;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return scalar / x[i]; }
};

template <class E>
struct ReciprocalGradient {
  float scalar;
  In<E> x, dy;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return -scalar / (x[i] * x[i]) * dy[i]; }
};

template <class L, class E>
GpuFunction makeOf(const ReciprocalDesc& d, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return [=, scalar = d.scalar](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.map(n, arrayOut<E>(a, 0), ReciprocalGradient<E>{scalar, arrayIn<E>(a, 0), arrayIn<E>(a, 1)});
    else
      launch.map(n, arrayOut<E>(a, 0), Reciprocal<E>{scalar, arrayIn<E>(a, 0)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(ReciprocalDesc)

// From one type to another, in the same layout.
template <class L, class E>
GpuFunction makeOf(const CastDesc& d, Pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return withElementType(d.output, [n](auto result) -> GpuFunction {
    using To = decltype(result);
    return [n](const KernelArgs& a) {
      L launch(a.context);
      launch.map(n, arrayOut<To>(a, 0), CopyElement<E>{arrayIn<E>(a, 0)});
      return launch.status();
    };
  });
}
PITWALL_FOR_ELEMENTS(CastDesc)

// An element as it is, of so many bytes.
template <class W>
struct CopyWord {
  const W* from;
  W* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const { to[i] = from[i]; }
};

// Images from row-major to channels last, or back.
struct ChannelMove {
  std::int64_t channels, pixels;
  bool to_last;
  // Where element i of the result is.
  PITWALL_DEVICE std::int64_t source(std::int64_t i) const {
    const std::int64_t inner = to_last ? channels : pixels, outer = to_last ? pixels : channels;
    const std::int64_t image = quotientOf(i, channels * pixels), place = quotientOf(i, inner);
    return (image * inner + remainderOf(i, inner)) * outer + remainderOf(place, outer);
  }
};

template <class E>
struct MoveChannels {
  ChannelMove move;
  In<E> from;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return from[move.source(i)]; }
};

// Of integers.
template <class W>
struct MoveWords {
  ChannelMove move;
  const W* from;
  W* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const { to[i] = from[move.source(i)]; }
};

// Layouts of other backends have no place on a GPU.
inline bool isOfGpu(const LayoutPtr& layout) {
  return layout == nullptr || dynamic_cast<const ChannelsLast*>(layout.get()) != nullptr;
}

template <class L>
GpuFunction copyWords(Bytes bytes) {
  return [bytes](const KernelArgs& a) {
    L launch(a.context);
    using Word = std::uint32_t;
    const Bytes words = bytes / static_cast<Bytes>(sizeof(Word));
    launch.each(words,
                CopyWord<Word>{static_cast<const Word*>(a.inputs[0]), static_cast<Word*>(a.outputs[0])});
    const Bytes done = words * static_cast<Bytes>(sizeof(Word));
    launch.each(bytes - done, CopyWord<std::uint8_t>{static_cast<const std::uint8_t*>(a.inputs[0]) + done,
                                                     static_cast<std::uint8_t*>(a.outputs[0]) + done});
    return launch.status();
  };
}

template <class L, class W>
GpuFunction moveWords(const ChannelMove& move, std::int64_t n) {
  return [=](const KernelArgs& a) {
    L launch(a.context);
    launch.each(n, MoveWords<W>{move, static_cast<const W*>(a.inputs[0]), static_cast<W*>(a.outputs[0])});
    return launch.status();
  };
}

template <class L>
GpuFunction packWeights(const Shape& weight) {
  return [z = WeightFoursPlace::of(weight)](const KernelArgs& a) {
    L launch(a.context);
    launch.each(z.words(), PackWeights{z, static_cast<const std::int8_t*>(a.inputs[0]),
                                       static_cast<Four<std::int8_t>*>(a.outputs[0])});
    return launch.status();
  };
}

template <class L>
GpuFunction make(const ReorderDesc&, Pass, Signature& s) {
  const TensorSpec &from = s.inputs[0], &to = s.outputs[0];
  if (from.layout == nullptr && isWeightFours(to.layout)) return packWeights<L>(to.shape);
  if (!isOfGpu(from.layout) || !isOfGpu(to.layout)) return {};
  if (isChannelsLast(from) == isChannelsLast(to)) return copyWords<L>(to.sizeBytes());
  const std::int64_t n = to.shape.elements();
  const ChannelMove move{to.shape[1], to.shape[2] * to.shape[3], isChannelsLast(to)};
  if (!isReal(to.dtype))
    return sizeOf(to.dtype) == 1 ? moveWords<L, std::uint8_t>(move, n) : moveWords<L, std::uint32_t>(move, n);
  return withElementType(to.dtype, [&](auto element) -> GpuFunction {
    using E = decltype(element);
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.map(n, arrayOut<E>(a, 0), MoveChannels<E>{move, arrayIn<E>(a, 0)});
      return launch.status();
    };
  });
}

}  // namespace pitwall::gpu_kernels
