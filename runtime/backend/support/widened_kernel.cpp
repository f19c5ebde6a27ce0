#include "runtime/backend/support/widened_kernel.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators.h"
#include "runtime/short_float.h"

namespace pitwall {
namespace {

constexpr Bytes kAlignment = 256;  // of places in the workspace

Bytes rounded(Bytes bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

TensorSpec widened(const TensorSpec& spec) {
  if (!is16Bits(spec.dtype)) return spec;
  return {spec.shape, DType::float32, layoutOfType(spec.layout, DType::float32)};
}

// From an array to another of other type or layout, by one kernel or two with an array between them.
struct Conversion {
  KernelPtr first, second;  // second: or nullptr
  Bytes wide_at = 0, between_at = 0, workspace_at = 0;

  Status run(KernelArgs args, const void* from, void* to) const {
    auto* const memory = static_cast<char*>(args.context.workspace);
    void* const between = second != nullptr ? memory + between_at : to;
    args.context.workspace = memory + workspace_at;
    args.inputs = {&from, 1};
    args.outputs = {&between, 1};
    PITWALL_TRY(first->run(args));
    if (second == nullptr) return {};
    const void* const read = between;
    args.inputs = {&read, 1};
    args.outputs = {&to, 1};
    return second->run(args);
  }
};

// Places one after the other.
class Places {
 public:
  Bytes take(Bytes bytes) { return std::exchange(end_, end_ + rounded(bytes)); }
  Bytes end() const { return end_; }

 private:
  Bytes end_ = 0;
};

class WidenedKernel final : public Kernel {
 public:
  WidenedKernel(KernelPtr inner, bool reads_outputs) : inner_(std::move(inner)), reads_(reads_outputs) {
    inputs_ = inner_->inputs();
    outputs_ = inner_->outputs();
    implementation_ = inner_->implementation() + " in float32";
    into_.resize(inputs_.size());
    out_.resize(outputs_.size());
    before_.resize(outputs_.size());
  }

  Status prepare(KernelMaker& maker, const Signature& narrow) {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      PITWALL_TRY(narrowInput(maker, narrow.inputs[i].dtype, inputs_[i], into_[i]));
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (reads_) {
        TensorSpec same = outputs_[i];
        PITWALL_TRY(narrowInput(maker, narrow.outputs[i].dtype, same, before_[i]));
      }
      PITWALL_TRY(narrowOutput(maker, narrow.outputs[i].dtype, outputs_[i], out_[i]));
      if (before_[i]) before_[i]->wide_at = out_[i]->wide_at;
    }
    Bytes own = inner_->workspaceBytes();
    forEach([&own](const Conversion& c) {
      own = std::max(own, c.first->workspaceBytes());
      if (c.second != nullptr) own = std::max(own, c.second->workspaceBytes());
    });
    workspace_at_ = places_.take(own);
    workspace_bytes_ = places_.end();
    forEach([this](Conversion& c) { c.workspace_at = workspace_at_; });
    return {};
  }

  Status run(const KernelArgs& args) const override {
    PITWALL_CHECK(args.context.workspace != nullptr, "%s: a run without workspace", implementation_.c_str());
    auto* const memory = static_cast<char*>(args.context.workspace);
    std::vector<const void*> inputs(args.inputs.begin(), args.inputs.end());
    std::vector<void*> outputs(args.outputs.begin(), args.outputs.end());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!into_[i] || inputs[i] == nullptr) continue;  // nullptr: the operator does not read it
      inputs[i] = memory + into_[i]->wide_at;
      PITWALL_TRY(into_[i]->run(args, args.inputs[i], memory + into_[i]->wide_at));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!out_[i]) continue;
      outputs[i] = memory + out_[i]->wide_at;
      if (before_[i]) PITWALL_TRY(before_[i]->run(args, args.outputs[i], outputs[i]));
    }
    KernelArgs wide = args;
    wide.inputs = inputs;
    wide.outputs = outputs;
    wide.context.workspace = memory + workspace_at_;
    PITWALL_TRY(inner_->run(wide));
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (out_[i]) PITWALL_TRY(out_[i]->run(args, outputs[i], args.outputs[i]));
    return {};
  }
  bool reportsProblems() const override { return inner_->reportsProblems(); }
  Status explain(const GpuProblem& problem) const override { return inner_->explain(problem); }

 private:
  using Conversions = std::vector<std::optional<Conversion>>;

  template <class F>
  void forEach(F f) {
    for (Conversions* const list : {&into_, &before_, &out_})
      for (auto& conversion : *list)
        if (conversion) f(*conversion);
  }

  static bool isDirect(const TensorSpec& wide, const TensorSpec& narrow) {
    return wide.layout == nullptr || narrow.layout != nullptr;
  }

  // `spec`: the inner kernel's; it becomes what the caller gives.
  Status narrowInput(KernelMaker& maker, DType type, TensorSpec& spec, std::optional<Conversion>& how) {
    if (!is16Bits(type) || spec.dtype != DType::float32) return {};
    const TensorSpec wide = spec;
    spec = {wide.shape, type, layoutOfType(wide.layout, type)};
    const KernelPtr widening =
        PITWALL_TRY(maker.create(CastDesc{DType::float32}, Pass::forward, {&spec, 1}, nullptr));
    how = Conversion{.first = widening, .second = nullptr, .wide_at = places_.take(wide.sizeBytes())};
    if (isDirect(wide, spec)) return {};
    const TensorSpec rows{wide.shape, DType::float32, nullptr};
    how->between_at = places_.take(rows.sizeBytes());
    how->second = PITWALL_TRY(maker.create(ReorderDesc{wide.layout}, Pass::forward, {&rows, 1}, nullptr));
    return {};
  }

  Status narrowOutput(KernelMaker& maker, DType type, TensorSpec& spec, std::optional<Conversion>& how) {
    if (!is16Bits(type) || spec.dtype != DType::float32) return {};
    const TensorSpec wide = spec;
    spec = {wide.shape, type, layoutOfType(wide.layout, type)};
    how = Conversion{.first = nullptr, .second = nullptr, .wide_at = places_.take(wide.sizeBytes())};
    TensorSpec from = wide;
    if (!isDirect(wide, spec)) {
      from = {wide.shape, DType::float32, nullptr};
      how->between_at = places_.take(from.sizeBytes());
      how->first = PITWALL_TRY(maker.create(ReorderDesc{nullptr}, Pass::forward, {&wide, 1}, nullptr));
    }
    KernelPtr narrows = PITWALL_TRY(maker.create(CastDesc{type}, Pass::forward, {&from, 1}, nullptr));
    (how->first == nullptr ? how->first : how->second) = std::move(narrows);
    return {};
  }

  const KernelPtr inner_;
  const bool reads_;                 // the outputs
  Conversions into_, before_, out_;  // of inputs, of outputs that are read, and of outputs
  Places places_;
  Bytes workspace_at_ = 0;
};

// Whether the outputs of 16 bits are read too: weights and states. Those of an update in multi-precision are only written.
bool readsOutputs(const OperatorKindDesc& desc) {
  if (desc.is<SgdDesc>()) return !desc.as<SgdDesc>().multi_precision;
  if (desc.is<NagDesc>()) return !desc.as<NagDesc>().multi_precision;
  return desc.is<AdamDesc>() && !desc.as<AdamDesc>().multi_precision;
}

}  // namespace

Result<KernelPtr> makeWidened(KernelMaker& maker, const OperatorKindDesc& desc, Pass pass,
                              std::span<const TensorSpec> inputs, const TensorSpec* like) {
  const Signature narrow = PITWALL_TRY(inferSignature(desc, pass, inputs, like));
  std::vector<TensorSpec> wide;
  for (const TensorSpec& spec : inputs) wide.push_back(widened(spec));
  const TensorSpec wide_like = like != nullptr ? widened(*like) : TensorSpec{};
  KernelPtr inner = PITWALL_TRY(maker.create(desc, pass, wide, like != nullptr ? &wide_like : nullptr));
  if (inner == nullptr) return KernelPtr();
  auto kernel = std::make_shared<WidenedKernel>(std::move(inner), readsOutputs(desc));
  PITWALL_TRY(kernel->prepare(maker, narrow));
  return KernelPtr(std::move(kernel));
}

}  // namespace pitwall
