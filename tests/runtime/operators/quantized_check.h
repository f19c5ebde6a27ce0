// Arrays of integers, and comparisons of backends on them.
#pragma once

#include "runtime/backend/support/elements.h"
#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test {

// Row-major, whatever the array's layout and type.
inline std::vector<float> numbersOf(Backend& backend, const Array& array) {
  const Array plain = reordered(backend, array, nullptr);
  std::vector<float> values;
  for (std::int64_t i = 0; i < plain.spec.shape.elements(); ++i)
    values.push_back(static_cast<float>(elementAt(plain.bytes.get(), plain.spec.dtype, i)));
  return values;
}

inline Array integersOf(const Shape& shape, DType type, const std::vector<double>& values) {
  Array array = makeArray(TensorSpec{shape, type, nullptr});
  for (std::size_t i = 0; i < values.size(); ++i)
    storeElement(array.bytes.get(), type, static_cast<std::int64_t>(i), values[i]);
  return array;
}

class QuantizedCheck : public ConformanceCheck {
 protected:
  Array integers(const Shape& shape, DType type) {
    const double least = type == DType::uint8 ? 0 : -127, most = type == DType::uint8 ? 255 : 127;
    std::uniform_real_distribution<double> uniform(least, most);
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    for (double& value : values) value = uniform(random_);
    return integersOf(shape, type, values);
  }
  // With which oneDNN's kernel computes exactly.
  Array weights(const Shape& shape, const OperatorKindDesc& desc, DType data) {
    const WeightCodes codes = onednn_->weightCodes(desc, data);
    std::uniform_int_distribution<int> uniform(-codes.largest / codes.step, codes.largest / codes.step);
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    for (double& value : values) value = uniform(random_) * codes.step;
    return integersOf(shape, DType::int8, values);
  }
  static Array filled(const Shape& shape, DType type, double value) {
    return integersOf(shape, type, std::vector(static_cast<std::size_t>(shape.elements()), value));
  }
  // Data and weights that are the largest numbers, scales of 1, no bias.
  std::vector<Array> largest(const Shape& data, DType type, const Shape& weight,
                             const OperatorKindDesc& desc) {
    const std::vector<float> ones(static_cast<std::size_t>(weight[0]), 1), none(ones.size(), 0);
    return {filled(data, type, type == DType::uint8 ? 255 : 127),
            filled(weight, DType::int8, onednn_->weightCodes(desc, type).largest),
            makeArray({weight[0]}, ones), makeArray({weight[0]}, none)};
  }
  // Of one element each, the same.
  Array factors(std::int64_t count, float least, float most) {
    std::uniform_real_distribution<float> uniform(least, most);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = uniform(random_);
    return makeArray({count}, values);
  }

  // Integers of oneDNN may differ by one where a number is nearly in the middle, which is rare; reals by rounding.
  Pair compareIntegers(const Call& call) { return compareIntegers(call, call); }
  // The same where the second backend has other layouts.
  Pair compareIntegers(const Call& call, const Call& for_onednn) {
    Pair pair{ask(*reference_, call), ask(*onednn_, for_onednn)};
    EXPECT_TRUE(pair.reference.kernel && pair.onednn.kernel) << call.toString();
    if (!pair.reference.kernel || !pair.onednn.kernel) return pair;
    const Array &expected = pair.reference.outputs[0], &actual = pair.onednn.outputs[0];
    EXPECT_EQ(expected.spec.dtype, actual.spec.dtype);
    const std::vector<float> theirs = numbersOf(*reference_, expected), ours = numbersOf(*onednn_, actual);
    const bool rounds = expected.spec.dtype != DType::float32;
    const float tolerance = secondIsOnednn() ? 1e-4F : 1e-6F;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      EXPECT_NEAR(ours[i], theirs[i], rounds ? 1.0F : tolerance * (1 + std::abs(theirs[i])))
          << call.toString() << " element " << i << ", " << pair.onednn.kernel->implementation();
      differ += ours[i] != theirs[i] ? 1 : 0;
      if (HasFailure()) return pair;
    }
    if (rounds) {
      EXPECT_LE(differ, secondIsOnednn() ? 1 + theirs.size() / 100 : 0) << call.toString();
    }
    return pair;
  }
  // With images in each layout of the second backend.
  void compareInEveryLayout(const Call& call) {
    const Shape images = call.inputs[0].spec.shape;
    for (const LayoutPtr& layout : layoutsFor(*onednn_, images)) {
      Call arranged = call;
      for (Array& array : arranged.inputs)
        if (array.spec.shape == images)
          array = reordered(*onednn_, array, layoutOfType(layout, array.spec.dtype));
      const Pair pair = compareIntegers(call, arranged);
      if (!pair.onednn.kernel) return;
      const TensorSpec& out = pair.onednn.outputs[0].spec;
      if (out.shape != images || arranged.inputs[0].spec.layout == nullptr) continue;
      EXPECT_TRUE(sameLayout(out.layout, layoutOfType(layout, out.dtype)))
          << arranged.toString() << " keeps the layout";
    }
  }
};

}  // namespace pitwall::test
