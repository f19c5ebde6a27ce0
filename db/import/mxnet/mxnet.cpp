#include "db/import/mxnet/mxnet.h"

#include <fmt/format.h>

#include "db/import/build/bulk_name.h"
#include "db/import/input/text.h"
#include "db/import/pitwall/operator_args.h"

namespace pitwall::import {
namespace {

constexpr std::string_view kGradient = "_backward_";
constexpr std::string_view kBulk = "ImperativeBulk";  // a sequence of operators, without their names

bool isDeviceName(std::string_view name) {
  const bool device = name.starts_with("cpu/") || name.starts_with("gpu/");
  return device && parseInteger(name.substr(4)).has_value();
}

}  // namespace

MxNetRole mxNetRoleOf(std::string_view category) {
  if (category == "operator" || category == "Custom Operator") return MxNetRole::operation;
  if (category == "MXNET_C_API") return MxNetRole::call;
  return category == "Device Storage" ? MxNetRole::storage : MxNetRole::none;
}

void MxNet::addProcess(const ChromeEvent& event, std::string_view metadata_name) {
  if (!isDeviceName(metadata_name)) return;
  seen_ = true;
  if (devices_.size() < 4096) devices_[std::string(event.process.text)] = std::string(metadata_name);
}

TrackRef MxNet::threadOf(MxNetRole role, const ChromeEvent& event) {
  const bool operation = role == MxNetRole::operation;
  const TextKey key{0, event.thread.text, operation ? event.process.text : std::string_view()};
  if (const TrackRef* known = threads_.find(key)) return *known;
  const TrackRef track = builder_.tracks().thread(process(), event.thread.text);
  if (operation) {
    const auto device = devices_.find(std::string(event.process.text));
    if (device == devices_.end()) return track;  // its name may come yet
    builder_.tracks().nameThread(track, fmt::format("{} worker {}", device->second, event.thread.text));
  }
  return threads_.put(key, track);
}

EventKind MxNet::kindOf(MxNetRole role, std::string_view name) {
  if (role == MxNetRole::operation) return EventKind::operatorRun;
  if (role != MxNetRole::call) return EventKind::scope;
  return name.starts_with("MXNDArrayWait") ? EventKind::wait : EventKind::api;
}

// Within these calls the engine runs operators in bulk.
void MxNet::noticeCall(MxNetRole role, std::string_view name) {
  if (role != MxNetRole::call) return;
  if (name.starts_with("MXAutogradBackward") || name.starts_with("MXAutogradComputeGradient"))
    builder_.phases().runsBulks(Phases::BulkOf::backward);
  if (name.starts_with("MXInvokeCachedOp") || name.starts_with("MXEngineSetBulkSize"))
    builder_.phases().runsBulks(Phases::BulkOf::others);
}

OperatorFacts MxNet::describe(std::string_view operation) {
  OperatorFacts facts;
  facts.name = std::string(operation);
  bool backward = false, update = false;
  eachOfBulk(operation, [&](std::string_view one) {
    backward |= one.starts_with(kGradient);
    update |= one.ends_with("_update") || one.find("_update_phase") != std::string_view::npos;
  });
  if (backward) facts.phase = Phase::backward;
  if (update) facts.phase = Phase::update;
  return facts;
}

OperatorId MxNet::factsOf(StringId id, std::string_view name, const ChromeEvent& event) {
  const TextKey key{id.value, event.args_text};
  if (const OperatorId* known = operators_.find(key)) return *known;
  OperatorFacts facts = operatorArgs(event);
  const OperatorFacts by_name = describe(name);
  facts.name = by_name.name;
  if (textArg(event, "phase").empty()) {  // written by MXNet's own profiler, which gives no phase
    facts.phase = by_name.phase;
    builder_.phases().infer();
    eachOfBulk(name, [&](std::string_view one) {
      if (one.starts_with(kGradient)) builder_.phases().gradient(one.substr(kGradient.size()));
    });
  }
  const OperatorId operation = operators_.put(key, builder_.names().facts(facts));
  if (name == kBulk) builder_.phases().bulk(operation);
  return operation;
}

TrackRef MxNet::counter(MxNetRole role, const ChromeEvent& event, std::string_view name) {
  const TextKey key{static_cast<std::uint64_t>(role), event.category.text, name};
  if (const TrackRef* known = counters_.find(key)) return *known;
  if (role != MxNetRole::storage) return counters_.put(key, builder_.tracks().counter(process(), name, ""));
  constexpr std::string_view kMemory = "Memory: ";
  const std::string_view device = name.starts_with(kMemory) ? name.substr(kMemory.size()) : name;
  return counters_.put(key,
                       builder_.tracks().counter(process(), fmt::format("memory live: {}", device), "bytes"));
}

}  // namespace pitwall::import
