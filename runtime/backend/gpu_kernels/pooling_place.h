// The windows of a pooling, and the order of the images' elements.
#pragma once

#include <cmath>

#include "runtime/backend/gpu_kernels/launch.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

struct PoolingPlace {
  PoolingType type;
  std::int32_t power;
  bool count_padding;
  std::int64_t kernel[2], stride[2], pad[2], extent[2], out[2];
  std::int64_t channels;
  bool channels_last;

  // An element of an array of images: its pixel, and the number of its channel, counted over all images.
  struct Spot {
    std::int64_t pixel, channel;
  };
  PITWALL_DEVICE Spot spot(std::int64_t i, std::int64_t pixels) const {
    if (!channels_last) return {remainderOf(i, pixels), quotientOf(i, pixels)};
    const std::int64_t place = quotientOf(i, channels);
    return {remainderOf(place, pixels), quotientOf(place, pixels) * channels + remainderOf(i, channels)};
  }
  // Where a channel begins, and the step from one of its pixels to the next.
  PITWALL_DEVICE std::int64_t begin(std::int64_t channel, std::int64_t pixels) const {
    if (!channels_last) return channel * pixels;
    return quotientOf(channel, channels) * channels * pixels + remainderOf(channel, channels);
  }
  PITWALL_DEVICE std::int64_t step() const { return channels_last ? channels : 1; }

  // A window along one axis: [first, last) inside the image.
  PITWALL_DEVICE std::int64_t first(int axis, std::int64_t o) const {
    const std::int64_t at = o * stride[axis] - pad[axis];
    return at < 0 ? 0 : at;
  }
  PITWALL_DEVICE std::int64_t last(int axis, std::int64_t o) const {
    const std::int64_t at = o * stride[axis] - pad[axis] + kernel[axis];
    return at > extent[axis] ? extent[axis] : at;
  }
  PITWALL_DEVICE std::int64_t padded(int axis, std::int64_t o) const {
    const std::int64_t at = o * stride[axis] - pad[axis], most = extent[axis] + pad[axis];
    return (at + kernel[axis] > most ? most : at + kernel[axis]) - at;
  }
  PITWALL_DEVICE float divisor(std::int64_t y, std::int64_t x) const {
    const std::int64_t n =
        count_padding ? padded(0, y) * padded(1, x) : (last(0, y) - first(0, y)) * (last(1, x) - first(1, x));
    return static_cast<float>(n);
  }
  // The windows along one axis that an element is in: [firstWindow, lastWindow).
  PITWALL_DEVICE std::int64_t firstWindow(int axis, std::int64_t at) const {
    const std::int64_t reach = at + pad[axis] - kernel[axis] + 1;
    return reach <= 0 ? 0 : quotientOf(reach + stride[axis] - 1, stride[axis]);
  }
  PITWALL_DEVICE std::int64_t lastWindow(int axis, std::int64_t at) const {
    const std::int64_t end = quotientOf(at + pad[axis], stride[axis]) + 1;
    return end > out[axis] ? out[axis] : end;
  }
  PITWALL_DEVICE float term(float x) const {
    if (type != PoolingType::norm || power == 1) return x;
    return power == 2 ? x * x : x * x * x;
  }
  PITWALL_DEVICE float result(float sum, float count) const {
    if (type == PoolingType::average) return sum / count;
    if (type == PoolingType::sum || power == 1) return sum;
    return power == 2 ? sqrtf(sum) : cbrtf(sum);
  }
  PITWALL_DEVICE float slope(float x, float y, float count) const {
    if (type == PoolingType::average) return 1 / count;
    if (type == PoolingType::sum || power == 1) return 1;
    if (y == 0) return 0;
    return power == 2 ? x / y : x * x / (y * y);
  }
};

inline PoolingPlace poolingPlace(const PoolingDesc& d, const Window& w, bool channels_last) {
  return {d.type,
          d.power,
          d.count_padding,
          {d.kernel[0], d.kernel[1]},
          {d.stride[0], d.stride[1]},
          {d.pad[0], d.pad[1]},
          {w.height, w.width},
          {w.out_height, w.out_width},
          w.channels,
          channels_last};
}

}  // namespace pitwall::gpu_kernels
