// What the tests of optimizers' updates share.
#pragma once

#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test {

class UpdateCheck : public ConformanceCheck {
 protected:
  struct Before {
    float weight = 0;
    std::array<float, 2> states = {};
  };

  // Weights of several sizes in one call, on both backends.
  // In multi-precision the copies of the weights come last.
  void check(const OperatorKindDesc& desc, int states, bool copies = false) {
    const std::vector<Shape> shapes{{20, 1, 5, 5}, {20}, {512, 800}, {1}, {10, 512}, {10}};
    Call call{.desc = desc, .rate = 0.1F, .rescale = 1.0F / 64};
    for (const Shape& shape : shapes) call.inputs.push_back(random(shape));
    for (const Shape& shape : shapes) call.outputs.push_back(random(shape));
    for (int i = 0; i < states; ++i) {
      for (const Shape& shape : shapes) {
        Array state = random(shape);
        for (std::int64_t k = 0; k < shape.elements(); ++k) state.floats()[k] = std::abs(state.floats()[k]);
        call.outputs.push_back(state);
      }
    }
    if (copies)
      for (const Shape& shape : shapes) call.outputs.push_back(random(shape));
    compare(call);
  }

  // One weight with the gradient 4, the rate 0.1 and the scale 0.25: the weight and its states afterwards.
  std::tuple<float, float, float> updated(const OperatorKindDesc& desc, const Before& before, int states) {
    Call call{.desc = desc, .rate = 0.1F, .rescale = 0.25F};
    call.inputs = {makeArray({1}, {4})};
    call.outputs = {makeArray({1}, {before.weight})};
    for (int i = 0; i < states; ++i)
      call.outputs.push_back(makeArray({1}, {before.states[static_cast<std::size_t>(i)]}));
    const Pair after = compare(call, 1e-6);
    std::array<float, 3> values{};
    for (std::size_t i = 0; i < after.reference.outputs.size(); ++i)
      values[i] = after.reference.outputs[i].floats()[0];
    return {values[0], values[1], values[2]};
  }
};

}  // namespace pitwall::test
