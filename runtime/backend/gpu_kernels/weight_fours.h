// 8-bit weights of products and convolutions in the order in which threads read them that compute four outputs from four inputs at a time:
// neighbouring threads, which compute neighbouring outputs, read neighbouring 16 bytes.
#pragma once

#include <memory>

#include "runtime/backend/gpu_kernels/numbers.h"
#include "runtime/operators.h"
#include "runtime/tensor.h"

namespace pitwall::gpu_kernels {

// Of weights O x I x ...: [taps][I / 4][O / 4][4 outputs][4 inputs]; both rounded up, with zeros.
struct WeightFoursPlace {
  std::int64_t outputs, inputs, taps;
  std::int64_t output_fours, input_fours;

  static WeightFoursPlace of(const Shape& weight) {
    const std::int64_t outputs = weight[0], inputs = weight[1];
    return {outputs, inputs, weight.elements() / (outputs * inputs), (outputs + 3) / 4, (inputs + 3) / 4};
  }
  // Of 4 inputs of an output.
  std::int64_t words() const { return taps * input_fours * output_fours * 4; }
};

class WeightFours final : public Layout {
 public:
  WeightFours(const Shape& shape, DType type) : shape_(shape), type_(type) {}
  Bytes sizeBytes() const override { return WeightFoursPlace::of(shape_).words() * 4 * sizeOf(type_); }
  std::string toString() const override { return "4 outputs x 4 inputs"; }
  bool equals(const Layout& other) const override {
    const auto* const fours = dynamic_cast<const WeightFours*>(&other);
    return fours != nullptr && fours->shape_ == shape_ && fours->type_ == type_;
  }

 private:
  const Shape shape_;
  const DType type_;
};

inline bool isWeightFours(const LayoutPtr& layout) {
  return dynamic_cast<const WeightFours*>(layout.get()) != nullptr;
}

// From row-major to that order. Each thread writes the numbers of 4 inputs of an output.
struct PackWeights {
  WeightFoursPlace z;
  const std::int8_t* from;
  Four<std::int8_t>* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t four = quotientOf(i, 4 * z.output_fours), output = remainderOf(i, 4 * z.output_fours);
    const std::int64_t tap = quotientOf(four, z.input_fours), first = 4 * remainderOf(four, z.input_fours);
    Four<std::int8_t> made;
    for (int k = 0; k < 4; ++k) {
      const bool is_weight = output < z.outputs && first + k < z.inputs;
      made.x[k] = is_weight ? from[(output * z.inputs + first + k) * z.taps + tap] : std::int8_t{0};
    }
    to[i] = made;
  }
};

// Whether a convolution computes four outputs from four inputs at a time: images, and groups of whole fours.
inline bool usesWeightFours(const ConvolutionDesc& d, const Shape& data) {
  if (data.rank() != 4) return false;
  return d.groups == 1 || (data[1] / d.groups % 4 == 0 && d.channels / d.groups % 4 == 0);
}

// Of fewer rows each output has a team: four outputs of four rows by a thread would be too few threads.
constexpr std::int64_t kLeastRowsOfFours = 17;

// The same of a product of data with a weight of so many columns.
inline bool usesWeightFours(const Shape& data, const Shape& weight) {
  return weight[1] % 4 != 0 || data.elements() / weight[1] >= kLeastRowsOfFours;
}

}  // namespace pitwall::gpu_kernels
