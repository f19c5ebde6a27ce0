// Pooling. The gradient of an element is gathered from the windows that it is in: no sum depends on the order of threads.
#pragma once

#include <cmath>

#include "runtime/backend/gpu_kernels/channel_vectors.h"
#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/eight_bit_pooling.h"
#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/backend/gpu_kernels/pooling_place.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

template <class E>
struct Pool {
  PoolingPlace z;
  In<E> data;
  E* to;
  std::int32_t* where;  // of each maximum, in its image; nullptr = not kept
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const auto [pixel, channel] = z.spot(i, z.out[0] * z.out[1]);
    const std::int64_t y = quotientOf(pixel, z.out[1]), x = remainderOf(pixel, z.out[1]), step = z.step();
    const In<E> from{data.at + z.begin(channel, z.extent[0] * z.extent[1])};
    float sum = 0, most = 0;
    std::int64_t best = -1;
    for (std::int64_t row = z.first(0, y); row < z.last(0, y); ++row) {
      for (std::int64_t column = z.first(1, x); column < z.last(1, x); ++column) {
        const std::int64_t at = row * z.extent[1] + column;
        const float value = from[at * step];
        sum += z.term(value);
        if (best >= 0 && !(value > most)) continue;
        best = at;
        most = value;
      }
    }
    to[i] = stored<E>(z.type == PoolingType::max ? most : z.result(sum, z.divisor(y, x)));
    if (where != nullptr) where[i] = static_cast<std::int32_t>(best);
  }
};

template <class E>
struct PoolGradient {
  PoolingPlace z;
  In<E> data, result, dout;  // data and result: read for a norm
  const std::int32_t* where;
  E* ddata;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const auto [at, channel] = z.spot(i, z.extent[0] * z.extent[1]);
    const std::int64_t row = quotientOf(at, z.extent[1]), column = remainderOf(at, z.extent[1]);
    const std::int64_t first = z.begin(channel, z.out[0] * z.out[1]), step = z.step();
    const bool reads = z.type == PoolingType::norm;
    float sum = 0;
    for (std::int64_t y = z.firstWindow(0, row); y < z.lastWindow(0, row); ++y) {
      for (std::int64_t x = z.firstWindow(1, column); x < z.lastWindow(1, column); ++x) {
        const std::int64_t o = first + (y * z.out[1] + x) * step;
        if (z.type == PoolingType::max) {
          if (where[o] == at) sum += dout[o];
        } else {
          sum += dout[o] * z.slope(reads ? data[i] : 0.0F, reads ? result[o] : 0.0F, z.divisor(y, x));
        }
      }
    }
    ddata[i] = stored<E>(sum);
  }
};

// Of channels last, a thread for some neighbouring channels: it finds the windows once. Not of norms.
template <class E>
struct PoolVectors {
  PoolingPlace z;
  std::int64_t groups;  // of channels
  const E* data;
  E* to;
  std::int32_t* where;  // nullptr = not kept
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    constexpr int kCount = Vector<E>::kCount;
    const std::int64_t place = quotientOf(i, groups), group = remainderOf(i, groups);
    const std::int64_t pixel = remainderOf(place, z.out[0] * z.out[1]),
                       image = quotientOf(place, z.out[0] * z.out[1]);
    const std::int64_t y = quotientOf(pixel, z.out[1]), x = remainderOf(pixel, z.out[1]);
    const std::int64_t from = image * z.extent[0] * z.extent[1];
    float sum[kCount] = {}, most[kCount] = {};
    std::int32_t best[kCount];
    for (int k = 0; k < kCount; ++k) best[k] = -1;
    for (std::int64_t row = z.first(0, y); row < z.last(0, y); ++row) {
      for (std::int64_t column = z.first(1, x); column < z.last(1, x); ++column) {
        const std::int64_t at = row * z.extent[1] + column;
        const Vector<E> v = vectorAt(data, (from + at) * groups + group);
        for (int k = 0; k < kCount; ++k) {
          const float value = v[k];
          sum[k] += value;
          if (best[k] >= 0 && !(value > most[k])) continue;
          best[k] = static_cast<std::int32_t>(at);
          most[k] = value;
        }
      }
    }
    const float divisor = z.type == PoolingType::max ? 1 : z.divisor(y, x);
    Vector<E> made;
    for (int k = 0; k < kCount; ++k)
      made.x[k] = stored<E>(z.type == PoolingType::max ? most[k] : z.result(sum[k], divisor));
    storeVector(to, i, made);
    if (where == nullptr) return;
    for (int k = 0; k < kCount; ++k) where[i * kCount + k] = best[k];
  }
};

template <class E>
struct PoolGradientOfVectors {
  PoolingPlace z;
  std::int64_t groups;
  const E* dout;
  const std::int32_t* where;
  E* ddata;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    constexpr int kCount = Vector<E>::kCount;
    const std::int64_t place = quotientOf(i, groups), group = remainderOf(i, groups);
    const std::int64_t at = remainderOf(place, z.extent[0] * z.extent[1]),
                       image = quotientOf(place, z.extent[0] * z.extent[1]);
    const std::int64_t row = quotientOf(at, z.extent[1]), column = remainderOf(at, z.extent[1]);
    const std::int64_t first = image * z.out[0] * z.out[1];
    const std::int64_t first_x = z.firstWindow(1, column), last_x = z.lastWindow(1, column);
    float sum[kCount] = {};
    for (std::int64_t y = z.firstWindow(0, row); y < z.lastWindow(0, row); ++y) {
      for (std::int64_t x = first_x; x < last_x; ++x) {
        const std::int64_t o = (first + y * z.out[1] + x) * groups + group;
        const Vector<E> head = vectorAt(dout, o);
        const bool is_max = z.type == PoolingType::max;
        const float slope = is_max ? 1 : z.slope(0, 0, z.divisor(y, x));
        for (int k = 0; k < kCount; ++k)
          if (!is_max || where[o * kCount + k] == at) sum[k] += head[k] * slope;
      }
    }
    Vector<E> made;
    for (int k = 0; k < kCount; ++k) made.x[k] = stored<E>(sum[k]);
    storeVector(ddata, i, made);
  }
};

template <class L, class E>
GpuFunction makeOf(const PoolingDesc& given, Pass pass, Signature& s) {
  const bool backward = pass == Pass::backward;
  const Shape data = backward ? s.outputs[0].shape : s.inputs[0].shape;
  const Shape out = backward ? s.inputs[2].shape : s.outputs[0].shape;
  const PoolingDesc d = given.over(data);
  const Window w = windowOf(data, out);
  const PoolingPlace z = poolingPlace(d, w, isChannelsLast(s.inputs[0]));
  const bool vectors = z.channels_last && z.channels % Vector<E>::kCount == 0 && d.type != PoolingType::norm;
  const std::int64_t groups = z.channels / Vector<E>::kCount;
  if (backward)
    return [=, n = data.elements()](const KernelArgs& a) {
      L launch(a.context);
      const auto* const where = static_cast<const std::int32_t*>(a.inputs[3]);
      if (vectors)
        launch.each(n / Vector<E>::kCount,
                    PoolGradientOfVectors<E>{z, groups, arrayIn<E>(a, 2).at, where, arrayOut<E>(a, 0)});
      else
        launch.each(n, PoolGradient<E>{z, arrayIn<E>(a, 0), arrayIn<E>(a, 1), arrayIn<E>(a, 2), where,
                                       arrayOut<E>(a, 0)});
      return launch.status();
    };
  const bool keeps = pass == Pass::forward;
  if (keeps) s.outputs[1].shape = {out.elements() * static_cast<std::int64_t>(sizeof(std::int32_t))};
  return [=, n = out.elements()](const KernelArgs& a) {
    L launch(a.context);
    auto* const where = keeps ? static_cast<std::int32_t*>(a.outputs[1]) : nullptr;
    if (vectors)
      launch.each(n / Vector<E>::kCount,
                  PoolVectors<E>{z, groups, arrayIn<E>(a, 0).at, arrayOut<E>(a, 0), where});
    else
      launch.each(n, Pool<E>{z, arrayIn<E>(a, 0), arrayOut<E>(a, 0), where});
    return launch.status();
  };
}

template <class L>
GpuFunction make(const PoolingDesc& desc, Pass pass, Signature& s) {
  const DType type = s.inputs[0].dtype;
  if (type == DType::int8) return eightBitPooling<L, std::int8_t>(desc, s);
  if (type == DType::uint8) return eightBitPooling<L, std::uint8_t>(desc, s);
  return withElementType(type, [&](auto element) { return makeOf<L, decltype(element)>(desc, pass, s); });
}

}  // namespace pitwall::gpu_kernels
