#include "tests/runtime/gpu/short_backend.h"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "db/try.h"
#include "runtime/operators.h"
#include "runtime/short_float.h"

namespace pitwall::test {
namespace {

// Inputs that stay float32: numbers of channels, indices and labels, which 16 bits may not hold.
bool staysFloat32(const OperatorKindDesc& desc, Pass pass, std::size_t input) {
  const bool backward = pass == Pass::backward;
  if (desc.is<BatchNormDesc>()) return input != 0 && !(backward && input == 4);
  if (desc.is<TakeDesc>()) return input == 1;
  if (desc.is<EmbeddingDesc>()) return input == 0;
  if (desc.is<SoftmaxOutputDesc>()) return backward && input == 0;
  return desc.is<SoftmaxCrossEntropyDesc>() && input == 1;
}

bool isPlain(const OperatorKindDesc& desc) { return desc.is<ReorderDesc>() || desc.is<CastDesc>(); }

TensorSpec ofType(const TensorSpec& spec, DType type) {
  return {spec.shape, type, layoutOfType(spec.layout, type)};
}

// float32 outside, 16 bits inside, element by element in the order of memory.
class ShortKernel final : public Kernel {
 public:
  ShortKernel(KernelPtr kernel, const std::vector<bool>& is_short) : kernel_(std::move(kernel)) {
    for (std::size_t i = 0; i < kernel_->inputs().size(); ++i) {
      const TensorSpec& spec = kernel_->inputs()[i];
      inputs_.push_back(is_short[i] ? ofType(spec, DType::float32) : spec);
    }
    for (const TensorSpec& spec : kernel_->outputs())
      outputs_.push_back(is16Bits(spec.dtype) ? ofType(spec, DType::float32) : spec);
    workspace_bytes_ = kernel_->workspaceBytes();
    implementation_ = kernel_->implementation();
  }

  Status run(const KernelArgs& args) const override {
    std::vector<std::vector<std::uint16_t>> arrays;
    KernelArgs inside = args;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      inputs.push_back(rounded(args.inputs[i], kernel_->inputs()[i], arrays));
    for (std::size_t i = 0; i < outputs_.size(); ++i)  // updates read them
      outputs.push_back(rounded(args.outputs[i], kernel_->outputs()[i], arrays));
    inside.inputs = inputs;
    inside.outputs = outputs;
    PITWALL_TRY(kernel_->run(inside));
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs[i] != args.outputs[i]) widen(outputs[i], kernel_->outputs()[i], args.outputs[i]);
    return {};
  }

 private:
  // The memory itself where it is of another type.
  static void* rounded(const void* from, const TensorSpec& spec,
                       std::vector<std::vector<std::uint16_t>>& arrays) {
    if (!is16Bits(spec.dtype) || from == nullptr) return const_cast<void*>(from);
    const auto count = static_cast<std::size_t>(spec.shape.elements());
    arrays.emplace_back(count + 32);  // aligned as arrays are
    void* place = arrays.back().data();
    std::size_t space = arrays.back().size() * 2;
    std::align(64, count * 2, place, space);
    withElementType(spec.dtype, [&](auto element) {
      using E = decltype(element);
      for (std::size_t i = 0; i < count; ++i)
        static_cast<E*>(place)[i] = fromFloat<E>(static_cast<const float*>(from)[i]);
      return 0;
    });
    return place;
  }

  static void widen(const void* from, const TensorSpec& spec, void* to) {
    withElementType(spec.dtype, [&](auto element) {
      using E = decltype(element);
      for (std::int64_t i = 0; i < spec.shape.elements(); ++i)
        static_cast<float*>(to)[i] = toFloat(static_cast<const E*>(from)[i]);
      return 0;
    });
  }

  const KernelPtr kernel_;
};

class ShortBackend final : public Backend {
 public:
  ShortBackend(std::unique_ptr<Backend> backend, DType type) : backend_(std::move(backend)), type_(type) {}
  std::string_view name() const override { return backend_->name(); }
  CacheUsage cacheUsage() const override { return backend_->cacheUsage(); }
  Result<KernelPtr> prepare(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                            const TensorSpec* like) override {
    if (isPlain(desc)) return backend_->prepare(desc, pass, inputs, like);
    std::vector<TensorSpec> specs;
    std::vector<bool> is_short;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      is_short.push_back(inputs[i].dtype == DType::float32 && !staysFloat32(desc, pass, i));
      specs.push_back(is_short[i] ? ofType(inputs[i], type_) : inputs[i]);
    }
    const TensorSpec short_like = like != nullptr ? ofType(*like, type_) : TensorSpec{};
    KernelPtr kernel =
        PITWALL_TRY(backend_->prepare(desc, pass, specs, like != nullptr ? &short_like : nullptr));
    return KernelPtr(std::make_shared<ShortKernel>(std::move(kernel), is_short));
  }

 private:
  const std::unique_ptr<Backend> backend_;
  const DType type_;
};

}  // namespace

std::optional<DType> testedShortType() {
  const char* const name = std::getenv("PITWALL_TEST_DTYPE");
  if (name == nullptr) return {};
  return std::string_view(name) == "bfloat16" ? DType::bfloat16 : DType::float16;
}

float roundedToTestedType(float value) {
  const auto type = testedShortType();
  return withElementType(type.value_or(DType::float32),
                         [value](auto element) { return toFloat(fromFloat<decltype(element)>(value)); });
}

double toleranceOfTestedType() {
  const auto type = testedShortType();
  if (!type) return 0;
  return *type == DType::bfloat16 ? 0x1p-6 : 0x1p-9;
}

std::unique_ptr<Backend> makeShortBackend(std::unique_ptr<Backend> backend, DType type) {
  return std::make_unique<ShortBackend>(std::move(backend), type);
}

}  // namespace pitwall::test
