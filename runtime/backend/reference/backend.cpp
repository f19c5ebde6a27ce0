#include "runtime/backend/reference/backend.h"

#include "db/try.h"
#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/caching_backend.h"

namespace pitwall {
namespace reference {

static RunFunction makeFunction(const OperatorKindDesc& desc, Pass pass, Signature& signature) {
#define PITWALL_OPERATOR(Desc) \
  if (desc.is<Desc>()) return make(desc.as<Desc>(), pass, signature);
#include "runtime/backend/reference/kernel_list.inc"
#undef PITWALL_OPERATOR
  return nullptr;
}

KernelPtr makeKernel(const OperatorKindDesc& desc, Pass pass, Signature signature) {
  RunFunction function = makeFunction(desc, pass, signature);
  if (!function) return nullptr;
  return std::make_shared<FunctionKernel>(std::move(signature), "reference", std::move(function));
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
    if (desc.is<ReorderDesc>() && (desc.as<ReorderDesc>().output_layout != nullptr || isForeign(inputs[0]))) {
      return fail(ErrorCode::unsupported, "the reference backend supports row-major arrays only");
    }
    if (desc.is<PoolingDesc>() && pass == Pass::backward && inputs[3].sizeBytes() != inputs[2].sizeBytes()) {
      return fail(ErrorCode::invalidInput, "Pooling backward: the workspace is not that of the forward pass");
    }
    return reference::makeKernel(desc, pass, std::move(signature));
  }
};

}  // namespace

std::unique_ptr<Backend> makeReferenceBackend(const BackendOptions& options) {
  return std::make_unique<ReferenceBackend>(options);
}

}  // namespace pitwall
