// What the tests of operators share.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/runtime/backend/conformance_check.h"
#include "tests/runtime/backend/gradient_check.h"
#include "tests/runtime/nn/gradient_check.h"

namespace pitwall::test {

// The message of a request that cannot be prepared; empty when it can.
inline std::string failureOf(Backend& backend, const OperatorKindDesc& desc, Pass pass,
                             const std::vector<Shape>& shapes) {
  std::vector<TensorSpec> specs;
  for (const Shape& shape : shapes) specs.push_back({shape});
  const auto prepared = backend.prepare(desc, pass, specs);
  return prepared.has_value() ? "" : prepared.error().message;
}

// An operator that keeps any layout, and whose gradient is computed from its output.
class KeepsLayoutCheck : public ConformanceCheck {
 protected:
  void compareInEveryLayout(const OperatorKindDesc& desc, const Array& data) {
    const Array dout = random(data.spec.shape);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, data.spec.shape)) {
      const Array arranged = reordered(*onednn_, data, layout);
      compare({.desc = desc, .pass = Pass::inference, .inputs = {data}},
              {.desc = desc, .pass = Pass::inference, .inputs = {arranged}});
      const Pair out = compare({.desc = desc, .inputs = {data}}, {.desc = desc, .inputs = {arranged}});
      ASSERT_TRUE(out.onednn.kernel);
      EXPECT_TRUE(sameLayout(out.onednn.kernel->outputs()[0].layout, layout)) << "it keeps the layout";
      compare({.desc = desc, .pass = Pass::backward, .inputs = {out.reference.outputs[0], dout}},
              {.desc = desc, .pass = Pass::backward, .inputs = {out.onednn.outputs[0], dout}});
    }
  }
};

inline auto namesOf() {
  return [](const auto& backend) { return std::string(backend.param); };
}

// Padding included.
inline double storedSum(const Array& array) {
  double sum = 0;
  for (Bytes i = 0; i < array.spec.sizeBytes() / static_cast<Bytes>(sizeof(float)); ++i)
    sum += static_cast<double>(array.floats()[i]);
  return sum;
}

}  // namespace pitwall::test
