#include "db/import/chrome/event_parser.h"

#include <algorithm>
#include <cstring>

#include "db/import/input/scan.h"

namespace pitwall::import {
namespace {

using Field = JsonValue ChromeFields::*;

struct FieldName {
  std::string_view name;
  Field field;
};
constexpr FieldName kFields[] = {
    {"ph", &ChromeFields::phase},
    {"ts", &ChromeFields::time},
    {"id", &ChromeFields::id},
    {"bp", &ChromeFields::binding},
    {"cat", &ChromeFields::category},
    {"dur", &ChromeFields::duration},
    {"pid", &ChromeFields::process},
    {"tid", &ChromeFields::thread},
    {"name", &ChromeFields::name},
    {"Name", &ChromeFields::name},
    {"scope", &ChromeFields::scope},
    {"Value", &ChromeFields::value},
    {"NodeId", &ChromeFields::node},
    {"Dimension", &ChromeFields::dimension},
    {"Timestamp", &ChromeFields::timestamp},
};

Field fieldOf(std::string_view key) {
  for (const FieldName& entry : kFields) {
    if (entry.name == key) return entry.field;
  }
  return nullptr;
}

void readId2(std::string_view text, ChromeEvent& event) {
  JsonScanner scan(text);
  scan.take('{');
  JsonValue key;
  JsonValue value;
  while (scan.member(key, value) == JsonStatus::ok && key.type != JsonType::none) {
    if (key.text == "local") event.id_local = value;
    if (key.text == "global") event.id_global = value;
  }
}

// A string without escapes or a number of digits, the values that nearly all members have. Moves `at` behind
// it; false (and `at` unchanged) when the value is of another kind or its end is not found.
inline bool takePlain(const char*& at, const char* end, JsonValue& out) {
  const char* const from = at;
  if (*from == '"') {
    const char* const stop = findQuoteOrEscape(from + 1, end);
    if (stop == end || *stop != '"') return false;
    out.type = JsonType::string;
    out.text = {from + 1, static_cast<std::size_t>(stop - from - 1)};
    at = stop + 1;
    return true;
  }
  const char* const digits = *from == '-' ? from + 1 : from;
  if (digits == end || *digits < '0' || *digits > '9') return false;
  const char* const stop = skipDigits(digits, end);
  if (stop == end || !endsJsonWord(*stop)) return false;
  out.type = JsonType::number;
  out.text = {from, static_cast<std::size_t>(stop - from)};
  at = stop;
  return true;
}

}  // namespace

// The state of a parse.
struct EventParser::Step {
  JsonScanner scan;
  const char* at;
  std::uint16_t place = 0;
  bool in_args = false;
  bool done = false;
  const char* args_from = nullptr;
};

inline const EventParser::Continuation* EventParser::expected(std::uint16_t place, const char* at,
                                                              const char* end) const {
  if (place == kNowhere || end - at < static_cast<std::ptrdiff_t>(kLongestLiteral) + 1) return nullptr;
  const Place& from = places_[place];
  const Continuation* const last = from.continuations + from.count;
  for (const Continuation* next = from.continuations; next != last; ++next) {
    if (sameBytes(at, next->literal, next->length)) return next;
  }
  return nullptr;
}

std::uint16_t EventParser::placeOf(Role role, std::string_view key) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].role == role && places_[i].key == key) return static_cast<std::uint16_t>(i);
  }
  if (places_.size() == kMostPlaces || key.size() > kLongestLiteral) return kNowhere;
  Place fresh;
  fresh.role = role;
  fresh.key = std::string(key);
  if (role == Role::field) fresh.field = fieldOf(key);
  if (role == Role::argument) fresh.arg = argOf(key);
  places_.push_back(std::move(fresh));
  return static_cast<std::uint16_t>(places_.size() - 1);
}

void EventParser::remember(std::uint16_t from, std::uint16_t to, std::string_view literal,
                           std::string_view key) {
  if (from == kNowhere || to == kNowhere || literal.empty() || literal.size() > kLongestLiteral) return;
  Place& place = places_[from];
  for (std::size_t i = 0; i < place.count; ++i) {
    const Continuation& known = place.continuations[i];
    if (known.length == literal.size() && std::memcmp(known.literal, literal.data(), literal.size()) == 0)
      return;
  }
  std::size_t slot = place.count;
  if (slot == kContinuations) {
    slot = place.oldest;
    place.oldest = static_cast<std::uint8_t>((place.oldest + 1) % kContinuations);
  } else {
    ++place.count;
  }
  Continuation& next = place.continuations[slot];
  next = {};
  std::memcpy(next.literal, literal.data(), literal.size());
  next.length = static_cast<std::uint8_t>(literal.size());
  if (!key.empty()) next.key_offset = static_cast<std::uint8_t>(key.data() - literal.data());
  next.key_length = static_cast<std::uint8_t>(key.size());
  next.place = to;
  next.role = places_[to].role;
  next.arg = places_[to].arg;
  next.field = places_[to].field;
}

// Handles the braces of the arguments and of the event; `at` is behind the brace.
inline void EventParser::turn(Role role, const char* at, Step& step, ChromeEvent& event) {
  if (role == Role::args) step.args_from = at - 1;
  if (role == Role::argsEnd)
    event.args_text = {step.args_from, static_cast<std::size_t>(at - step.args_from)};
  step.in_args = role == Role::args;
  step.done = role == Role::eventEnd;
}

// Parses one member by comparison; false when no remembered continuation matches.
inline bool EventParser::stepAsExpected(Step& step, const char* end, ChromeEvent& event) {
  const Continuation* const next = expected(step.place, step.at, end);
  if (next == nullptr) return false;
  const char* at = step.at + next->length;
  JsonValue elsewhere;
  JsonValue* value = &elsewhere;
  switch (next->role) {
    case Role::args:
    case Role::argsEnd:
    case Role::eventEnd:
      turn(next->role, at, step, event);
      step.at = at;
      step.place = next->place;
      return true;
    case Role::field: value = &(event.*next->field); break;
    case Role::argument:
      value = &event.addArg(next->arg, {step.at + next->key_offset, next->key_length});
      break;
    case Role::id2:
      if (*at != '{') return false;
      break;
    case Role::start:
    case Role::ignored: break;
  }
  if (!takePlain(at, end, *value)) {
    step.scan.moveTo(at);
    if (step.scan.value(*value) != JsonStatus::ok) return false;  // the slow path reports why
    at = step.scan.at();
  }
  if (next->role == Role::id2) readId2(value->text, event);
  step.at = at;
  step.place = next->place;
  return true;
}

JsonStatus EventParser::stepByScanning(Step& step, ChromeEvent& event) {
  const char* const from = step.at;
  const int repairs = step.scan.repairs();
  JsonValue key;
  step.scan.moveTo(from);
  JsonStatus status = step.scan.name(key);
  step.at = step.scan.at();
  if (status != JsonStatus::ok) return status;
  Role role = Role::ignored;
  if (key.type == JsonType::none) {
    role = step.in_args ? Role::argsEnd : Role::eventEnd;
  } else if (step.in_args) {
    role = Role::argument;
  } else if (key.text == "args" && *step.at == '{') {
    role = Role::args;
    ++step.at;
  } else if (key.text == "id2" && *step.at == '{') {
    role = Role::id2;
  } else if (fieldOf(key.text) != nullptr) {
    role = Role::field;
  }
  // A value that is not the expected object is not used and must not be remembered as a continuation.
  const bool wrong = role == Role::ignored && (key.text == "args" || key.text == "id2");
  const std::uint16_t to = wrong ? kNowhere : placeOf(role, key.text);
  // The literal ends where the value begins: what precedes it is implied by the place.
  if (step.scan.repairs() == repairs) {
    remember(step.place, to, {from, static_cast<std::size_t>(step.at - from)}, key.text);
  }
  step.place = to;
  if (role == Role::args || role == Role::argsEnd || role == Role::eventEnd) {
    turn(role, step.at, step, event);
    return JsonStatus::ok;
  }
  JsonValue value;
  step.scan.moveTo(step.at);
  status = step.scan.value(value);
  step.at = step.scan.at();
  if (status != JsonStatus::ok) return status;
  if (role == Role::field) event.*fieldOf(key.text) = value;
  if (role == Role::argument) event.addArg(argOf(key.text), key.text) = value;
  if (role == Role::id2) readId2(value.text, event);
  return JsonStatus::ok;
}

ParsedEvent EventParser::parse(std::string_view text, ChromeEvent& event) {
  event.clear();
  if (places_.empty()) {
    places_.reserve(32);
    placeOf(Role::start, {});
  }
  const char* const end = text.data() + text.size();
  Step step{JsonScanner(text), text.data()};
  if (!text.empty() && text.front() == '{') ++step.at;
  ParsedEvent out;
  while (!step.done) {
    if (stepAsExpected(step, end, event)) continue;
    out.status = stepByScanning(step, event);
    if (out.status != JsonStatus::ok) break;
  }
  out.taken = static_cast<std::size_t>(step.at - text.data());
  out.error = step.scan.error();
  out.repairs = step.scan.repairs();
  out.repair_kind = step.scan.repairKind();
  return out;
}

}  // namespace pitwall::import
