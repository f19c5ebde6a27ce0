#include "runtime/backend/null/backend.h"

#include "db/try.h"
#include "runtime/backend/support/caching_backend.h"
#include "runtime/backend/support/function_kernel.h"

namespace pitwall {
namespace {

class NullBackend final : public CachingBackend {
 public:
  using CachingBackend::CachingBackend;
  std::string_view name() const override { return "null"; }

 private:
  bool computes16Bits(const OperatorKindDesc&, Pass, std::span<const TensorSpec>) const override {
    return true;
  }
  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override {
    Signature signature = PITWALL_TRY(inferSignature(desc, pass, inputs, like));
    return KernelPtr(std::make_shared<FunctionKernel>(std::move(signature), "null",
                                                      [](const KernelArgs&) { return Status{}; }));
  }
};

}  // namespace

std::unique_ptr<Backend> makeNullBackend(const BackendOptions& options) {
  return std::make_unique<NullBackend>(options);
}

}  // namespace pitwall
