// Calls a kernel on arrays: looks up or prepares the kernel, reorders inputs as it requires, creates the
// outputs, pushes.
//
// Everything that depends only on shapes and layouts (the kernel, the operator facts with their texts) is
// prepared once per CallSite and found by comparing the inputs, so that a push in the steady state builds no
// string.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/event.h"
#include "runtime/array/array.h"
#include "runtime/backend.h"
#include "runtime/call_site.h"

namespace pitwall {

// A kernel with the facts of its operator; immutable, shared with pushed operators.
struct Prepared {
  // The inputs that it was prepared for.
  DeviceKind device_kind = DeviceKind::cpu;
  const char* name = "";
  Pass pass = Pass::forward;
  Phase phase = Phase::none;
  OperatorKindDesc desc;
  std::vector<TensorSpec> at_hand;
  LayoutPtr like_layout;

  KernelPtr kernel;
  OperatorId facts;
};
using PreparedPtr = std::shared_ptr<const Prepared>;

struct CallSiteState {
  static constexpr std::size_t kMaxPrepared = 64;
  std::string layer;
  std::vector<PreparedPtr> prepared;
  Value ones;  // head gradient of a loss
};
using SitePtr = std::shared_ptr<CallSiteState>;

// Computes the number of operations of a prepared kernel; called once per Prepared.
using FlopFunction = Flop (*)(const Prepared&);

// One operation per element of the first array.
inline Flop onePerElement(const Prepared& prepared) { return prepared.at_hand[0].shape.elements(); }

// One kernel call. Arrays are listed as the operator's Desc lists them (runtime/operators/NAME.h).
struct Call {
  const char* name = "";  // a literal: its address identifies the operator
  const OperatorKindDesc& desc;
  Pass pass = Pass::forward;
  Phase phase = Phase::forward;
  std::span<const Value* const> inputs = {};
  // Empty values are created; others are overwritten (their layout may change), or from `updates_from` on
  // read and written.
  std::span<Value> outputs = {};
  unsigned keeps = 0;  // bit i: input i is a weight; it may keep the kernel's layout permanently
  std::size_t updates_from = SIZE_MAX;
  const Value* like = nullptr;  // the spec that the backend needs for some backward passes
  FlopFunction flop = nullptr;
  MemoryTag tag = MemoryTag::activations;  // of created outputs
  std::uint64_t seed = 0;
  float rate = 0;
  float rescale = 1;
};

// The operator runs on the device of its arrays. Errors: those of Session::backend and Backend::prepare,
// prefixed with layer and operator name; invalidInput naming the devices when they differ.
Status invoke(const SitePtr& site, const Call& call);

// The same contents in another layout: `value` itself when it has it already.
Result<Value> withLayout(const SitePtr& site, const Value& value, const LayoutPtr& layout, Phase phase);

// Gives `value` the layout in place. Precondition: not viewed, or the layout is row-major.
Status convertLayout(const SitePtr& site, const Value& value, const LayoutPtr& layout, Phase phase);

// Fills with one number; errors are reported later.
void fillConstant(const Value& value, float number, const char* name, Phase phase);

// Pass of an operator's own computation: forward when gradients or statistics must be kept.
inline Pass forwardPass(bool recording) { return recording ? Pass::forward : Pass::inference; }

// Errors: invalidInput "conv1: Convolution: <name> is an empty handle" for the first array without contents.
struct NamedArray {
  const char* name;
  const NDArray& array;
};
Status requireArrays(const CallSite& site, const char* name, std::initializer_list<NamedArray> arrays);

}  // namespace pitwall
