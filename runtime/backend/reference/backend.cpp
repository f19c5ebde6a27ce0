#include "runtime/backend/reference/backend.h"

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/caching_backend.h"

namespace pitwall {
namespace {

// Overloads so that std::visit finds each operator by its desc.
RunFunction make(const ConvolutionDesc& d, Pass p, const Signature& s) {
  return reference::convolution(d, p, s);
}
RunFunction make(const FullyConnectedDesc& d, Pass p, const Signature& s) {
  return reference::fullyConnected(d, p, s);
}
RunFunction make(const PoolingDesc& d, Pass p, const Signature& s) { return reference::pooling(d, p, s); }
RunFunction make(const ActivationDesc& d, Pass p, const Signature& s) {
  return reference::activation(d, p, s);
}
RunFunction make(const BatchNormDesc& d, Pass p, const Signature& s) { return reference::batchNorm(d, p, s); }
RunFunction make(const DropoutDesc& d, Pass p, const Signature& s) { return reference::dropout(d, p, s); }
RunFunction make(const BinaryDesc& d, Pass p, const Signature& s) { return reference::binary(d, p, s); }
RunFunction make(const LinearDesc& d, Pass p, const Signature& s) { return reference::linear(d, p, s); }
RunFunction make(const SoftmaxCrossEntropyDesc& d, Pass p, const Signature& s) {
  return reference::softmaxCrossEntropy(d, p, s);
}
RunFunction make(const SgdDesc& d, Pass p, const Signature& s) { return reference::sgd(d, p, s); }
RunFunction make(const ReorderDesc& d, Pass p, const Signature& s) { return reference::reorder(d, p, s); }

bool isForeign(const TensorSpec& spec) { return spec.layout != nullptr; }

class ReferenceBackend final : public CachingBackend {
 public:
  using CachingBackend::CachingBackend;
  std::string_view name() const override { return "reference"; }

 private:
  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override {
    Result<Signature> signature = inferSignature(desc, pass, inputs, like);
    if (!signature.has_value()) return fail(signature.error());
    const auto* reorder = std::get_if<ReorderDesc>(&desc);
    if (reorder != nullptr && (reorder->output_layout != nullptr || isForeign(inputs[0]))) {
      return fail(ErrorCode::unsupported, "the reference backend supports row-major arrays only");
    }
    // A workspace holds, for each output of max pooling, where its maximum was: 4 bytes each.
    if (std::holds_alternative<PoolingDesc>(desc) && pass == Pass::forward) {
      signature->outputs[1].shape = {signature->outputs[0].shape.elements() * 4};
    }
    if (std::holds_alternative<PoolingDesc>(desc) && pass == Pass::backward &&
        inputs[3].sizeBytes() != inputs[2].sizeBytes()) {
      return fail(ErrorCode::invalidInput, "Pooling backward: the workspace is not that of the forward pass");
    }
    RunFunction function = std::visit([&](const auto& d) { return make(d, pass, *signature); }, desc);
    return KernelPtr(
        std::make_shared<FunctionKernel>(std::move(*signature), "reference", std::move(function)));
  }
};

}  // namespace

std::unique_ptr<Backend> makeReferenceBackend(const BackendOptions& options) {
  return std::make_unique<ReferenceBackend>(options);
}

}  // namespace pitwall
