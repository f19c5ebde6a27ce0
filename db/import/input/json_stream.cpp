#include "db/import/input/json_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/import/input/scan.h"
#include "db/try.h"

namespace pitwall::import {

void JsonStream::damaged(std::string_view why) {
  if (damage_.empty()) damage_ = fmt::format("{} at {}", why, place());
}

bool JsonStream::more() {
  if (!ok() || window_.atEnd()) return false;
  status_ = window_.more(2 * longest_ + (std::size_t{1} << 20));
  return status_.has_value() && !window_.atEnd();
}

char JsonStream::peek() {
  drop();
  while (ok()) {
    const std::string_view view = window_.view();
    const auto at = std::find_if(view.begin(), view.end(), [](char c) { return !isJsonSpace(c); });
    window_.take(static_cast<std::size_t>(at - view.begin()));
    if (at != view.end()) return *at;
    if (!more()) return '\0';
  }
  return '\0';
}

JsonValue JsonStream::value() {
  if (peek() == '\0') {
    if (ok()) damaged("the file ends before a value");
    return {};
  }
  while (ok()) {
    JsonScanner scan(window_.view());
    JsonValue out;
    const JsonStatus status = scan.value(out);
    if (status == JsonStatus::ok) {
      take(scan.position());
      return out;
    }
    if (status == JsonStatus::damaged) {
      damaged(scan.error());
    } else if (window_.view().size() > longest_) {
      damaged(fmt::format("a value is longer than {} bytes", longest_));
    } else if (!more() && ok()) {
      damaged("the file ends within a value");
    }
  }
  return {};
}

// Brackets within strings do not count.
void JsonStream::skip() {
  const char first = peek();
  if (first != '{' && first != '[' && first != '"') {
    value();
    return;
  }
  std::int64_t depth = 0;
  bool in_string = false, escaped = false;
  while (ok()) {
    const std::string_view view = window_.view();
    for (std::size_t i = 0; i < view.size(); ++i) {
      const char c = view[i];
      if (in_string) {
        in_string = escaped || c != '"';
        escaped = !escaped && c == '\\';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        --depth;
      }
      if (depth <= 0 && !in_string) return take(i + 1);
    }
    window_.take(view.size());
    if (!more() && ok()) damaged("the file ends within a value");
  }
}

bool JsonStream::enter(char bracket) {
  if (peek() != bracket) return false;
  take(1);
  return true;
}

bool JsonStream::element() {
  while (peek() == ',') take(1);
  const char c = peek();
  if (c == '\0' && ok()) damaged("the file ends within an array or object");
  if (!ok()) return false;
  if (c != ']' && c != '}') return true;
  take(1);
  return false;
}

bool JsonStream::member(std::string& name) {
  if (!element()) return false;
  const JsonValue key = value();
  if (!ok()) return false;
  if (key.type != JsonType::string) {
    damaged("a member's name is missing");
    return false;
  }
  name = unescape(key.text.substr(0, 256));
  if (peek() != ':') {
    if (ok()) damaged("no ':' after a member's name");
    return false;
  }
  take(1);
  return peek() != '\0';
}

Status JsonStream::finish(Tally& tally) {
  drop();
  PITWALL_TRY(std::move(status_));
  const std::string& compressed = window_.source().damage();
  if (!compressed.empty()) tally.damaged(compressed);
  if (!damage_.empty()) tally.damaged(damage_);
  return {};
}

}  // namespace pitwall::import
