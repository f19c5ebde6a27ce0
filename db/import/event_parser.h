// Takes the events of a Chrome Trace Event file apart, at the speed of comparing.
//
// Profilers write their events with the same few printf formats: between two values of an event stand always
// the same bytes (`, "pid": `, `,\n    "ts": `). The parser remembers, for every place in an event, what
// followed it before, and compares sixteen bytes at a time with that. Where the comparison holds, it knows
// the member's name and where its value begins without looking for quotes, colons and spaces, and takes the
// value by a scan for its end. Where none of the remembered continuations holds, JsonScanner reads the member
// as if nothing were remembered, repairs included, and the parser remembers what it saw. So the result never
// depends on what was remembered; only the speed does.
//
// A place is the member whose value was read last (or the start of the event, or the end of its arguments); a
// continuation leads to the place of the member that it names. What is remembered is bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/chrome_event.h"

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

  // All that is needed of the place that it leads to lies beside it.
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
