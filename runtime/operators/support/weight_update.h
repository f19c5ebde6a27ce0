// What the updates of weights by optimizers have in common.
#pragma once

#include <array>
#include <vector>

#include "runtime/array/call.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/sgd.h"

namespace pitwall {

// Of gradients to weights and as many states of each; in multi-precision to copies of the weights too.
Result<Signature> updateSignature(const ShapeQuery& query, std::size_t states, bool multi_precision);

struct UpdateCall {
  struct States {
    const char* name = "";  // "momentum"
    std::vector<const NDArray*> arrays = {};
  };
  const char* name;  // a literal
  const OperatorKindDesc& desc;
  FlopFunction flop = nullptr;
  op::SgdStep step = {};
  std::vector<const NDArray*> weights = {};
  std::vector<const NDArray*> masters = {};  // in multi-precision: of each weight
  std::array<States, 2> states = {};         // of each weight one, or none
};

// So many for each element.
inline Flop updateFlop(const Prepared& prepared, Flop each) {
  Flop elements = 0;
  for (const TensorSpec& gradient : prepared.at_hand) elements += gradient.shape.elements();
  return elements * each;
}

// One operator. Errors: invalidInput for a weight without gradient, and for a state or a master that is missing or has
// another shape.
Status updateWeights(const UpdateCall& call, const CallSite& site);

}  // namespace pitwall
