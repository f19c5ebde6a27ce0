#include "db/import/chrome/json_start.h"

#include <fmt/format.h>

#include "db/import/input/json.h"

namespace pitwall::import {
namespace {

// Of the first object of the text: one event of many, or the whole document.
JsonStart objectStart(std::string_view text) {
  JsonScanner scan(text);
  scan.take('{');
  bool event = false;
  JsonValue key;
  JsonValue value;
  for (;;) {
    const JsonStatus status = scan.member(key, value);
    if (key.text == "traceEvents") return {true, {}};
    if (status != JsonStatus::ok) break;
    if (key.type == JsonType::none) {
      if (event) return {true, {}};
      return {false, "a JSON object without traceEvents; only Chrome Trace Event JSON is read"};
    }
    if (key.text == "ph" || key.text == "Dimension") event = true;
    if (key.text == "schemaVersion" || key.text == "deviceProperties" || key.text == "displayTimeUnit" ||
        key.text == "distributedInfo") {
      return {true, {}};
    }
  }
  if (event || text.find("\"traceEvents\"") != std::string_view::npos) return {true, {}};
  if (scan.position() < text.size()) {
    return {false, fmt::format("begins like JSON but is damaged at byte {}: {}", scan.position(),
                               *scan.error() != '\0' ? scan.error() : "a value does not end")};
  }
  return {true, {}};  // a very long first value: the reader decides
}

// An array of objects: events have a phase. Only where whole objects can be seen is it known that they are none.
JsonStart arrayStart(std::string_view text) {
  const std::size_t brace = text.find('{');
  JsonScanner scan(text.substr(brace));
  JsonValue first;
  const bool whole = scan.value(first) == JsonStatus::ok;
  const bool event =
      text.find("\"ph\"") != std::string_view::npos || text.find("\"Dimension\"") != std::string_view::npos;
  if (!whole || event || first.text == "{}") return {true, {}};
  return {false, "a JSON array of objects without \"ph\"; only Chrome Trace Event JSON is read"};
}

}  // namespace

JsonStart jsonStart(std::string_view text) {
  if (text.starts_with('{')) return objectStart(text);
  if (!text.starts_with('[') && !text.starts_with(',')) return {};
  const char next = JsonScanner(text.substr(1)).peek();
  if (next == '{' && text.starts_with('[')) return arrayStart(text);
  return {next == '{' || next == ']' || next == '\0', {}};
}

}  // namespace pitwall::import
