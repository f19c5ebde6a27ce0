// What the calls of operators have in common.
#pragma once

#include <memory>
#include <string>

#include "runtime/ndarray.h"

namespace pitwall {

struct CallSiteState;  // runtime/array/call.h

// A call site of a repeatedly called operator: it names the layer in the trace and caches the prepared
// kernels by shape, so that a repeated call needs no lookup. A plain handle; copies share. Use one per
// operator, from one thread at a time, and destroy it before its session.
class CallSite {
 public:
  CallSite() = default;  // no call site: every call prepares a kernel
  explicit CallSite(std::string layer);
  const std::shared_ptr<CallSiteState>& state() const { return state_; }

 private:
  std::shared_ptr<CallSiteState> state_;
};

namespace op {

// The trained inputs of an operator; an empty bias means none (and desc.bias must agree).
struct WeightAndBias {
  NDArray weight;
  NDArray bias;
};

}  // namespace op
}  // namespace pitwall
