// A kernel made of a function; for backends that have no state to keep between runs.
#pragma once

#include <functional>
#include <utility>

#include "db/check.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {

using RunFunction = std::function<Status(const KernelArgs&)>;

class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(Signature signature, std::string implementation, RunFunction function)
      : function_(std::move(function)) {
    inputs_ = std::move(signature.inputs);
    outputs_ = std::move(signature.outputs);
    workspace_bytes_ = signature.workspace_bytes;
    implementation_ = std::move(implementation);
  }
  Status run(const KernelArgs& args) const override {
    PITWALL_CHECK(args.context.workspace != nullptr || workspaceBytes() == 0, "%s: a run without workspace",
                  implementation().c_str());
    return function_(args);
  }

 private:
  const RunFunction function_;
};

inline const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
inline float* output(const KernelArgs& args, std::size_t i) { return static_cast<float*>(args.outputs[i]); }

}  // namespace pitwall
