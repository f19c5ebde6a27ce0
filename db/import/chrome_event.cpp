#include "db/import/chrome_event.h"

#include "db/import/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostArgs = 4096;

std::optional<std::int64_t> microseconds(const JsonValue& value) {
  if (!value.isNumberOrString()) return std::nullopt;
  return parseScaled(value.text, 1000);
}

JsonStatus parseArgs(std::string_view text, ChromeEvent& event, JsonScanner& outer) {
  JsonScanner scan(text);
  scan.take('{');
  JsonValue key;
  JsonValue value;
  for (;;) {
    if (scan.member(key, value) != JsonStatus::ok) return JsonStatus::damaged;
    if (key.type == JsonType::none) break;
    if (event.args.size() < kMostArgs) event.args.emplace_back(key.text, value);
  }
  if (scan.repairs() > 0) outer.adoptRepairs(scan);
  return JsonStatus::ok;
}

void parseId2(std::string_view text, ChromeEvent& event) {
  JsonScanner scan(text);
  scan.take('{');
  JsonValue key;
  JsonValue value;
  while (scan.member(key, value) == JsonStatus::ok && key.type != JsonType::none) {
    if (key.text == "local") event.id_local = value;
    if (key.text == "global") event.id_global = value;
  }
}

JsonValue* fieldOf(std::string_view key, ChromeEvent& event) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return &event.phase;
      if (key == "ts") return &event.time;
      if (key == "id") return &event.id;
      if (key == "bp") return &event.binding;
      break;
    case 3:
      if (key == "cat") return &event.category;
      if (key == "dur") return &event.duration;
      if (key == "pid") return &event.process;
      if (key == "tid") return &event.thread;
      break;
    case 4:
      if (key == "name" || key == "Name") return &event.name;
      break;
    case 5:
      if (key == "scope") return &event.scope;
      if (key == "Value") return &event.value;
      break;
    case 6:
      if (key == "NodeId") return &event.node;
      break;
    case 9:
      if (key == "Dimension") return &event.dimension;
      if (key == "Timestamp") return &event.timestamp;
      break;
    default: break;
  }
  return nullptr;
}

}  // namespace

void ChromeEvent::clear() {
  auto kept = std::move(args);
  kept.clear();
  *this = {};
  args = std::move(kept);
}

JsonValue ChromeEvent::arg(std::string_view key) const {
  for (const auto& [its_name, its_value] : args) {
    if (its_name == key) return its_value;
  }
  return {};
}

std::optional<std::int64_t> ChromeEvent::argInteger(std::string_view key) const {
  const JsonValue found = arg(key);
  if (!found.isNumberOrString()) return std::nullopt;
  return parseInteger(found.text);
}

std::optional<std::int64_t> ChromeEvent::timeNs() const { return microseconds(time); }
std::optional<std::int64_t> ChromeEvent::durationNs() const { return microseconds(duration); }

ParsedEvent parseEvent(std::string_view text, ChromeEvent& event) {
  event.clear();
  JsonScanner scan(text);
  ParsedEvent out;
  scan.take('{');
  JsonValue key;
  JsonValue value;
  for (;;) {
    out.status = scan.member(key, value);
    out.taken = scan.position();
    if (out.status != JsonStatus::ok || key.type == JsonType::none) break;
    if (value.type == JsonType::object && key.text == "args") {
      if (parseArgs(value.text, event, scan) != JsonStatus::ok) {
        out.status = JsonStatus::damaged;
        out.error = "the arguments are not JSON";
        return out;
      }
    } else if (value.type == JsonType::object && key.text == "id2") {
      parseId2(value.text, event);
    } else if (JsonValue* field = fieldOf(key.text, event)) {
      *field = value;
    }
  }
  out.error = scan.error();
  out.repairs = scan.repairs();
  out.repair_kind = scan.repairKind();
  return out;
}

}  // namespace pitwall::import
