// Parses the events of a Chrome Trace Event file by comparing them with earlier ones.
//
// Profilers write their events with the same few printf formats: the bytes between two values of an event are
// always the same (`, "pid": `, `,\n    "ts": `). The parser remembers, for every place in an event, the
// bytes that followed it before, and compares sixteen bytes at a time with them. If they match, the member's
// name and the start of its value are known without searching for quotes, colons and spaces, and only the end
// of the value is searched for. If none of the remembered continuations matches, JsonScanner reads the
// member, repairs included, and the parser remembers the new continuation. The result never depends on what
// was remembered, only the speed does.
//
// A place is the member whose value was read last (or the start of the event, or the end of its arguments); a
// continuation leads to the place of the member that it names. The number of continuations is bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/chrome/chrome_event.h"

namespace pitwall::import {

class EventParser {
 public:
  // Parses the object that begins at the front of `text`, which starts with '{'.
  ParsedEvent parse(std::string_view text, ChromeEvent& event);

 private:
  enum class Role : std::uint8_t { start, field, args, argument, argsEnd, eventEnd, id2, ignored };

  static constexpr std::size_t kLongestLiteral = 64;
  static constexpr std::size_t kContinuations = 6;
  static constexpr std::size_t kMostPlaces = 200;
  static constexpr std::uint16_t kNowhere = 0xFFFF;

  // Data of the place that it leads to is stored beside it.
  struct alignas(32) Continuation {
    char literal[kLongestLiteral] = {};
    std::uint8_t length = 0;
    std::uint8_t key_offset = 0;
    std::uint8_t key_length = 0;
    Role role = Role::start;
    Arg arg = Arg::none;
    std::uint16_t place = 0;
    JsonValue ChromeFields::*field = nullptr;
  };
  struct Place {
    Continuation continuations[kContinuations];
    std::uint8_t count = 0;
    std::uint8_t oldest = 0;
    Role role = Role::start;
    Arg arg = Arg::none;
    JsonValue ChromeFields::*field = nullptr;
    std::string key;
  };
  struct Step;

  const Continuation* expected(std::uint16_t place, const char* at, const char* end) const;
  std::uint16_t placeOf(Role role, std::string_view key);
  void remember(std::uint16_t from, std::uint16_t to, std::string_view literal, std::string_view key);
  bool stepAsExpected(Step& step, const char* end, ChromeEvent& event);
  JsonStatus stepByScanning(Step& step, ChromeEvent& event);
  static void turn(Role role, const char* at, Step& step, ChromeEvent& event);

  std::vector<Place> places_;
};

}  // namespace pitwall::import
