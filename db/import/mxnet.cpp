#include "db/import/mxnet.h"

#include <fmt/format.h>

#include "db/import/text.h"

namespace pitwall::import {
namespace {

bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool isDeviceName(std::string_view name) {
  const bool device = startsWith(name, "cpu/") || startsWith(name, "gpu/");
  return device && parseInteger(name.substr(4)).has_value();
}

bool isOperator(std::string_view category) { return category == "operator" || category == "Custom Operator"; }

}  // namespace

void MxNet::notice(const ChromeEvent& event, std::string_view metadata_name) {
  if (isDeviceName(metadata_name)) {
    seen_ = true;
    devices_[std::string(event.process.text)] = std::string(metadata_name);
  }
  const std::string_view category = event.category.text;
  if (category == "MXNET_C_API" || category == "Device Storage") seen_ = true;
}

bool MxNet::isTwin(const ChromeEvent& event) const {
  return seen_ && (event.ph() == 'b' || event.ph() == 'e') && isOperator(event.category.text);
}

TrackRef MxNet::threadOf(const ChromeEvent& event) {
  const TrackRef track = builder_.thread(process(), event.thread.text);
  if (isOperator(event.category.text)) {
    const auto device = devices_.find(std::string(event.process.text));
    if (device != devices_.end()) {
      builder_.nameThread(track, fmt::format("{} worker {}", device->second, event.thread.text));
    }
  }
  return track;
}

EventKind MxNet::kindOf(std::string_view category, std::string_view name) {
  if (isOperator(category)) return EventKind::operatorRun;
  if (category != "MXNET_C_API") return EventKind::scope;
  return startsWith(name, "MXNDArrayWait") ? EventKind::wait : EventKind::api;
}

OperatorId MxNet::factsOf(std::string_view name) {
  OperatorFacts facts;
  facts.name = std::string(name);
  if (startsWith(name, "_backward_")) facts.phase = Phase::backward;
  if (name.size() > 7 && name.substr(name.size() - 7) == "_update") facts.phase = Phase::update;
  return builder_.facts(facts);
}

TrackRef MxNet::counter(const ChromeEvent& event, std::string_view name) {
  if (event.category.text == "Device Storage") {
    constexpr std::string_view kMemory = "Memory: ";
    const std::string_view device = startsWith(name, kMemory) ? name.substr(kMemory.size()) : name;
    return builder_.counter(process(), fmt::format("memory live: {}", device), "bytes");
  }
  return builder_.counter(process(), name, "");
}

}  // namespace pitwall::import
