// A scanner for JSON as profilers write it. Works on a piece of text that may end anywhere.
//
// Beyond the standard it accepts, and counts as repaired: bare words in place of a value (NaN, N/A,
// Infinity), a comma too many or too few between members. It returns strings without decoding them and never
// allocates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pitwall::import {

enum class JsonStatus : std::uint8_t {
  ok,
  needMore,  // the piece ends inside the value
  damaged,   // not JSON, even with the repairs above; JsonScanner::error() gives the reason
};

enum class JsonType : std::uint8_t { none, string, number, boolean, null, object, array };

struct JsonValue {
  JsonType type = JsonType::none;
  std::string_view text;  // of a string: between the quotes, escapes as they are; else the whole value

  bool isNumberOrString() const { return type == JsonType::number || type == JsonType::string; }
};

inline constexpr int kDeepestJson = 256;

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  void skipSpace();
  // The next character that is not white space, without consuming it; 0 at the end.
  char peek();
  bool take(char c);  // if it is next
  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }

  // A value of any type; objects and arrays are skipped and returned as text.
  JsonStatus value(JsonValue& out);
  // Inside an object, after its '{': the next member, or ok with key.type none at its '}' (consumed).
  JsonStatus member(JsonValue& key, JsonValue& value);
  // The same up to the start of the value.
  JsonStatus name(JsonValue& key);
  // Inside an array, after its '[': the next element, or ok with type none at its ']' (consumed).
  JsonStatus element(JsonValue& value);

  // For a caller that reads ahead by itself: gets and sets the scan position.
  const char* at() const { return at_; }
  void moveTo(const char* at) { at_ = at; }

  const char* error() const { return error_; }
  int repairs() const { return repairs_; }
  const char* repairKind() const { return repair_kind_; }

 private:
  JsonStatus string(JsonValue& out);
  JsonStatus nested(JsonValue& out);
  JsonStatus word(JsonValue& out);
  JsonStatus damagedBy(const char* why) {
    error_ = why;
    return JsonStatus::damaged;
  }
  JsonStatus damagedAt(const char* at, const char* why) {
    at_ = at;
    return damagedBy(why);
  }
  JsonStatus nestedUpTo(const char* end, const char* from, JsonValue& out) {
    at_ = end;
    out.type = *from == '{' ? JsonType::object : JsonType::array;
    out.text = {from, static_cast<std::size_t>(end - from)};
    return JsonStatus::ok;
  }
  void repaired(const char* what) {
    ++repairs_;
    repair_kind_ = what;
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
  const char* error_ = "";
  const char* repair_kind_ = "";
  int repairs_ = 0;
};

// JSON text without the white space between tokens.
std::string compact(std::string_view text);

// The decoded characters of a JSON string; invalid escapes stay unchanged.
std::string unescape(std::string_view raw);

}  // namespace pitwall::import
