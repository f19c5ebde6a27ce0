// Images on a GPU whose channels are the innermost axis: N x H x W x C in memory, for arrays of shape N x C x H x W. Tensor Cores
// read them without a transposition. Weights of a convolution, O x I x KH x KW, have their inputs last likewise.
#pragma once

#include <memory>

#include "runtime/tensor.h"

namespace pitwall::gpu_kernels {

class ChannelsLast final : public Layout {
 public:
  ChannelsLast(std::int64_t elements, DType type) : elements_(elements), size_(elements * sizeOf(type)) {}
  Bytes sizeBytes() const override { return size_; }
  std::string toString() const override { return "channels last"; }
  bool equals(const Layout& other) const override {
    return dynamic_cast<const ChannelsLast*>(&other) != nullptr && other.sizeBytes() == size_;
  }
  LayoutPtr ofType(DType type) const override { return std::make_shared<ChannelsLast>(elements_, type); }

 private:
  const std::int64_t elements_;
  const Bytes size_;
};

// nullptr where it is the same as row-major: one channel, one pixel, or an array that is no image.
inline LayoutPtr channelsLast(const Shape& shape, DType dtype = DType::float32) {
  if (shape.rank() != 4 || shape[1] == 1 || shape[2] * shape[3] == 1) return nullptr;
  return std::make_shared<ChannelsLast>(shape.elements(), dtype);
}

// Whether an array with channels last is stored so. An array of which both layouts are the same counts as row-major.
inline bool isChannelsLast(const TensorSpec& spec) { return spec.layout != nullptr; }

}  // namespace pitwall::gpu_kernels
