#include "db/import/input/json.h"

#include <cstddef>

#include "db/import/input/scan.h"

namespace pitwall::import {

void JsonScanner::skipSpace() {
  while (at_ != end_ && isJsonSpace(*at_)) ++at_;
}

char JsonScanner::peek() {
  skipSpace();
  return at_ == end_ ? '\0' : *at_;
}

bool JsonScanner::take(char c) {
  if (peek() != c || at_ == end_) return false;
  ++at_;
  return true;
}

JsonStatus JsonScanner::string(JsonValue& out) {
  const char* const from = at_ + 1;
  const char* search = from;
  for (;;) {
    search = findQuoteOrEscape(search, end_);
    if (search == end_) return JsonStatus::needMore;
    if (*search == '"') break;
    if (end_ - search < 2) return JsonStatus::needMore;
    search += 2;
  }
  out.type = JsonType::string;
  out.text = {from, static_cast<std::size_t>(search - from)};
  at_ = search + 1;
  return JsonStatus::ok;
}

// Skips an object or array. Bounded depth, no recursion.
JsonStatus JsonScanner::nested(JsonValue& out) {
  const char* const from = at_;
  int depth = 0;
  std::uint64_t in_string = 0;  // all bits set when the previous block ends within a string
  while (end_ - at_ >= 64) {
    NestingBits bits = nestingBits(at_);
    if (bits.escapes != 0) break;  // byte by byte
    const std::uint64_t strings = parityUpTo(bits.quotes) ^ in_string;
    std::uint64_t brackets = (bits.opens | bits.closes) & ~strings;
    for (; brackets != 0; brackets &= brackets - 1) {
      const int bit = __builtin_ctzll(brackets);
      if ((bits.opens >> bit & 1) != 0) {
        if (++depth > kDeepestJson) return damagedAt(at_ + bit + 1, "nested deeper than 256 levels");
      } else if (--depth == 0) {
        return nestedUpTo(at_ + bit + 1, from, out);
      }
    }
    in_string = (strings >> 63) != 0 ? ~std::uint64_t{0} : 0;
    at_ += 64;
  }
  if (in_string != 0) {  // to the end of the string that the blocks end in
    --at_;
    if (const JsonStatus status = string(out); status != JsonStatus::ok) return status;
  }
  while (at_ != end_) {
    const char c = *at_;
    if (c == '"') {
      if (const JsonStatus status = string(out); status != JsonStatus::ok) return status;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') {
      if (++depth > kDeepestJson) return damagedBy("nested deeper than 256 levels");
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return nestedUpTo(at_, from, out);
    }
  }
  return JsonStatus::needMore;
}

JsonStatus JsonScanner::word(JsonValue& out) {
  const char* from = at_;
  while (at_ != end_ && !endsJsonWord(*at_)) ++at_;
  if (at_ == end_) return JsonStatus::needMore;
  out.text = {from, static_cast<std::size_t>(at_ - from)};
  if (out.text.empty()) return damagedBy("a value is missing");
  const char first = out.text.front();
  if ((first >= '0' && first <= '9') || first == '-') {
    out.type = JsonType::number;
    if (out.text == "-Infinity" || out.text == "-NaN" || out.text == "-inf" || out.text == "-nan") {
      out.type = JsonType::null;
      repaired("words in place of a number (NaN, Infinity, N/A): taken as no value");
    }
    return JsonStatus::ok;
  }
  if (out.text == "true" || out.text == "false") {
    out.type = JsonType::boolean;
    return JsonStatus::ok;
  }
  out.type = JsonType::null;
  if (out.text == "null") return JsonStatus::ok;
  if (out.text.size() > 16 || !((first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z'))) {
    return damagedBy("neither a value nor a word");
  }
  repaired("words in place of a number (NaN, Infinity, N/A): taken as no value");
  return JsonStatus::ok;
}

JsonStatus JsonScanner::value(JsonValue& out) {
  skipSpace();
  if (at_ == end_) return JsonStatus::needMore;
  if (*at_ == '"') return string(out);
  if (*at_ == '{' || *at_ == '[') return nested(out);
  return word(out);
}

JsonStatus JsonScanner::member(JsonValue& key, JsonValue& value) {
  const JsonStatus status = name(key);
  return status == JsonStatus::ok && key.type != JsonType::none ? this->value(value) : status;
}

JsonStatus JsonScanner::name(JsonValue& key) {
  key = {};
  bool comma = false;
  while (take(',')) {
    if (comma) repaired("commas too many");
    comma = true;
  }
  skipSpace();
  if (at_ == end_) return JsonStatus::needMore;
  if (*at_ == '}') {
    ++at_;
    if (comma) repaired("commas too many");
    return JsonStatus::ok;
  }
  if (*at_ != '"') return damagedBy("a member's name is missing");
  // A member right after a value without a comma between them.
  if (!comma && at_ != begin_) {
    const char* before = at_;
    while (before != begin_ && isJsonSpace(before[-1])) --before;
    if (before != begin_ && before[-1] != '{') repaired("commas too few");
  }
  if (const JsonStatus status = string(key); status != JsonStatus::ok) return status;
  skipSpace();
  if (at_ == end_) return JsonStatus::needMore;
  if (*at_ != ':') return damagedBy("no ':' after a member's name");
  ++at_;
  skipSpace();
  return at_ == end_ ? JsonStatus::needMore : JsonStatus::ok;
}

JsonStatus JsonScanner::element(JsonValue& value) {
  value = {};
  while (take(',')) {
  }
  skipSpace();
  if (at_ == end_) return JsonStatus::needMore;
  if (*at_ == ']') {
    ++at_;
    return JsonStatus::ok;
  }
  return this->value(value);
}

namespace {

void appendCodePoint(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// The four hex digits at `at`, or -1.
std::int32_t hex4(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return -1;
  std::int32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char c = raw[i];
    int digit = -1;
    if (c >= '0' && c <= '9') digit = c - '0';
    if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

// Parses "uXXXX" (or a surrogate pair) at `at`; returns the characters used, 0 when it is invalid.
std::size_t unicodeEscape(std::string_view raw, std::size_t at, std::string& out) {
  const std::int32_t high = hex4(raw, at + 1);
  if (high < 0) return 0;
  if (high >= 0xD800 && high < 0xDC00 && at + 6 < raw.size() && raw[at + 5] == '\\' && raw[at + 6] == 'u') {
    const std::int32_t low = hex4(raw, at + 7);
    if (low >= 0xDC00 && low < 0xE000) {
      appendCodePoint(0x10000U + (static_cast<std::uint32_t>(high - 0xD800) << 10) +
                          static_cast<std::uint32_t>(low - 0xDC00),
                      out);
      return 11;
    }
  }
  appendCodePoint(static_cast<std::uint32_t>(high), out);
  return 5;
}

}  // namespace

std::string compact(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string && isJsonSpace(c)) continue;
    out += c;
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < text.size()) out += text[++i];
  }
  return out;
}

std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out += raw[i];
      continue;
    }
    const char c = raw[++i];
    switch (c) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'u': {
        const std::size_t taken = unicodeEscape(raw, i, out);
        if (taken == 0) out += "\\u";
        if (taken > 0) i += taken - 1;
        break;
      }
      default: out += c; break;  // \" \\ \/ and escapes that do not exist
    }
  }
  return out;
}

}  // namespace pitwall::import
