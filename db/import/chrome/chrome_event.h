// One event of a Chrome Trace Event file, parsed but not yet interpreted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "db/import/input/json.h"
#include "db/import/input/scan.h"

namespace pitwall::import {

// The arguments that readers use by name.
enum class Arg : std::uint8_t {
  bandwidth,
  block,
  blocksPerSm,
  bytes,
  collective,
  correlation,
  device,
  deviceId,
  deviceType,
  dtype,
  externalId,
  forwardThread,
  grid,
  groupRanks,
  groupSize,
  inElements,
  inputDims,
  inputTypes,
  name,
  occupancy,
  outElements,
  processGroup,
  registers,
  sequenceNumber,
  sharedMemory,
  startSinceEpoch,
  stream,
  syncKind,
  totalAllocated,
  totalReserved,
  waitOnStream,
  warpsPerSm,
  none,  // any other
};
Arg argOf(std::string_view name);

struct ChromeArg {
  std::string_view name;
  JsonValue value;
};

// The members of an event except arguments: views into the parsed text.
struct ChromeFields {
  JsonValue name;
  JsonValue category;
  JsonValue phase;
  JsonValue time;      // us
  JsonValue duration;  // us
  JsonValue id;
  JsonValue id_local;
  JsonValue id_global;
  JsonValue scope;  // "scope" of an id
  JsonValue binding;
  JsonValue process;
  JsonValue thread;
  // Samples of SageMaker's system metrics have their own members.
  JsonValue dimension;
  JsonValue node;
  JsonValue value;
  JsonValue timestamp;  // s since 1970
  // The arguments as one piece of text, with their braces; empty when the event has none.
  std::string_view args_text;
};

// Reused from event to event.
class ChromeEvent : public ChromeFields {
 public:
  char ph() const { return phase.text.size() == 1 ? phase.text[0] : '\0'; }
  std::span<const ChromeArg> args() const { return {args_.data(), arg_count_}; }
  // The argument of this name, or a value of type none.
  JsonValue arg(std::string_view key) const;
  JsonValue arg(Arg key) const {
    const auto at = static_cast<unsigned>(key);
    return (known_args_ >> at & 1) != 0 ? args_[arg_places_[at]].value : JsonValue{};
  }
  bool has(Arg key) const { return (known_args_ >> static_cast<unsigned>(key) & 1) != 0; }
  std::optional<std::int64_t> argInteger(Arg key) const;
  std::optional<double> argReal(Arg key) const;
  // The time in ns; none when it is missing or not a number.
  std::optional<std::int64_t> timeNs() const;
  std::optional<std::int64_t> durationNs() const;

  void clear() {
    makeZero(static_cast<ChromeFields&>(*this));
    arg_count_ = 0;
    known_args_ = 0;
  }
  // A new argument, whose value the caller sets at once.
  JsonValue& addArg(Arg known, std::string_view its_name) {
    if (arg_count_ == args_.size()) growArgs();
    ChromeArg& fresh = args_[arg_count_];
    fresh.name = its_name;
    const auto at = static_cast<unsigned>(known);
    if (known != Arg::none && (known_args_ >> at & 1) == 0) {  // the first of a name is used
      known_args_ |= std::uint64_t{1} << at;
      arg_places_[at] = static_cast<std::uint16_t>(arg_count_);
    }
    ++arg_count_;
    return fresh.value;
  }

 private:
  static constexpr std::size_t kMostArgs = 4096;
  void growArgs();
  std::vector<ChromeArg> args_;  // the first arg_count_ are valid
  std::size_t arg_count_ = 0;
  std::uint64_t known_args_ = 0;
  std::uint16_t arg_places_[static_cast<unsigned>(Arg::none)] = {};
};

// Parses the object that begins at the front of `text`. `taken` is its length.
struct ParsedEvent {
  JsonStatus status = JsonStatus::ok;
  std::size_t taken = 0;  // ok: length of the object; damaged: where in the text the scan stopped
  const char* error = "";
  int repairs = 0;
  const char* repair_kind = "";
};
ParsedEvent parseEvent(std::string_view text, ChromeEvent& event);

}  // namespace pitwall::import
