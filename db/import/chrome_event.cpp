#include "db/import/chrome_event.h"

#include <array>

#include "db/import/event_parser.h"
#include "db/import/text.h"

namespace pitwall::import {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Arg::none)> kArgNames = {
    "memory bandwidth (GB/s)",
    "block",
    "blocks per SM",
    "bytes",
    "Collective name",
    "correlation",
    "device",
    "Device Id",
    "Device Type",
    "dtype",
    "External id",
    "grid",
    "Process Group Ranks",
    "Group size",
    "In msg nelems",
    "Input Dims",
    "Input type",
    "name",
    "est. achieved occupancy %",
    "Out msg nelems",
    "Process Group Name",
    "registers per thread",
    "shared memory",
    "start_time_since_epoch_in_micros",
    "stream",
    "cuda_sync_kind",
    "Total Allocated",
    "Total Reserved",
    "wait_on_stream",
    "warps per SM",
};
static_assert(!kArgNames.back().empty() && kArgNames.size() <= 64);

std::optional<std::int64_t> microseconds(const JsonValue& value) {
  if (!value.isNumberOrString()) return std::nullopt;
  return parseScaled(value.text, 1000);
}

}  // namespace

Arg argOf(std::string_view name) {
  for (std::size_t i = 0; i < kArgNames.size(); ++i) {
    if (kArgNames[i] == name) return static_cast<Arg>(i);
  }
  return Arg::none;
}

void ChromeEvent::clear() {
  for (JsonValue* field : {&name, &category, &phase, &time, &duration, &id, &id_local, &id_global, &scope,
                           &binding, &process, &thread, &dimension, &node, &value, &timestamp}) {
    *field = {};
  }
  args_text = {};
  arg_count_ = 0;
  known_args_ = 0;
}

void ChromeEvent::addArg(Arg known, std::string_view its_name, const JsonValue& its_value) {
  if (arg_count_ == args_.size()) {
    if (arg_count_ == kMostArgs) return;
    args_.resize(arg_count_ == 0 ? 32 : arg_count_ * 2);
  }
  args_[arg_count_] = {its_name, its_value};
  const auto at = static_cast<unsigned>(known);
  if (known != Arg::none && (known_args_ >> at & 1) == 0) {  // the first of a name counts
    known_args_ |= std::uint64_t{1} << at;
    arg_places_[at] = static_cast<std::uint16_t>(arg_count_);
  }
  ++arg_count_;
}

JsonValue ChromeEvent::arg(std::string_view key) const {
  for (const ChromeArg& found : args()) {
    if (found.name == key) return found.value;
  }
  return {};
}

std::optional<std::int64_t> ChromeEvent::argInteger(Arg key) const {
  const JsonValue found = arg(key);
  if (!found.isNumberOrString()) return std::nullopt;
  return parseInteger(found.text);
}

std::optional<double> ChromeEvent::argReal(Arg key) const {
  const JsonValue found = arg(key);
  if (!found.isNumberOrString()) return std::nullopt;
  return parseReal(found.text);
}

std::optional<std::int64_t> ChromeEvent::timeNs() const { return microseconds(time); }
std::optional<std::int64_t> ChromeEvent::durationNs() const { return microseconds(duration); }

ParsedEvent parseEvent(std::string_view text, ChromeEvent& event) { return EventParser().parse(text, event); }

}  // namespace pitwall::import
