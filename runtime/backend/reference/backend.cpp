#include "runtime/backend/reference/backend.h"

#include "db/try.h"
#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/caching_backend.h"

namespace pitwall {
namespace reference {

// An operator without an overload in operators.h has no kernel here.
template <class D>
static RunFunction make(const D&, Pass, const Signature&) {
  return nullptr;
}

}  // namespace reference

namespace {

bool isForeign(const TensorSpec& spec) { return spec.layout != nullptr; }

class ReferenceBackend final : public CachingBackend {
 public:
  using CachingBackend::CachingBackend;
  std::string_view name() const override { return "reference"; }

 private:
  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override {
    Signature signature = PITWALL_TRY(inferSignature(desc, pass, inputs, like));
    const auto* reorder = std::get_if<ReorderDesc>(&desc);
    if (reorder != nullptr && (reorder->output_layout != nullptr || isForeign(inputs[0]))) {
      return fail(ErrorCode::unsupported, "the reference backend supports row-major arrays only");
    }
    // A workspace holds, for each output of max pooling, where its maximum was: 4 bytes each.
    if (std::holds_alternative<PoolingDesc>(desc) && pass == Pass::forward) {
      signature.outputs[1].shape = {signature.outputs[0].shape.elements() * 4};
    }
    if (std::holds_alternative<PoolingDesc>(desc) && pass == Pass::backward &&
        inputs[3].sizeBytes() != inputs[2].sizeBytes()) {
      return fail(ErrorCode::invalidInput, "Pooling backward: the workspace is not that of the forward pass");
    }
    RunFunction function =
        std::visit([&](const auto& d) { return reference::make(d, pass, signature); }, desc);
    if (!function) return KernelPtr();
    return KernelPtr(
        std::make_shared<FunctionKernel>(std::move(signature), "reference", std::move(function)));
  }
};

}  // namespace

std::unique_ptr<Backend> makeReferenceBackend(const BackendOptions& options) {
  return std::make_unique<ReferenceBackend>(options);
}

}  // namespace pitwall
