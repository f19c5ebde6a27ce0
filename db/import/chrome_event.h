// One event of a Chrome Trace Event file, taken apart but not yet interpreted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "db/import/json.h"

namespace pitwall::import {

// Views into the piece of text that was parsed; reused from event to event.
struct ChromeEvent {
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
  std::vector<std::pair<std::string_view, JsonValue>> args;
  // Samples of SageMaker's system metrics are objects of their own kind.
  JsonValue dimension;
  JsonValue node;
  JsonValue value;
  JsonValue timestamp;  // s since 1970

  char ph() const { return phase.text.size() == 1 ? phase.text[0] : '\0'; }
  // The argument of this name, or a value of type none.
  JsonValue arg(std::string_view key) const;
  std::optional<std::int64_t> argInteger(std::string_view key) const;
  // The time in ns; none when it is missing or not a number.
  std::optional<std::int64_t> timeNs() const;
  std::optional<std::int64_t> durationNs() const;
  void clear();
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
