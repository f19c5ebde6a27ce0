#include "db/export/json_text.h"

#include <cmath>
#include <cstddef>

#include "db/export/append_text.h"
#include "db/utf8.h"

namespace pitwall::exporting {

namespace {

constexpr std::int64_t kExact = std::int64_t{1} << 53;
constexpr int kDeepest = 64;

void append(fmt::memory_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

// A recursive-descent check of one JSON text; it stops at the first mistake.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}
  bool object() { return members() && at_ == text_.size(); }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) { return peek() == c && ++at_ > 0; }
  void blanks() {
    while (peek() == ' ') ++at_;
  }

  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return false;
      if (text_[at_] == '\\') {
        ++at_;
        if (peek() == 'u') {
          for (int i = 0; i < 4; ++i) {
            ++at_;
            if (std::string_view("0123456789abcdefABCDEF").find(peek()) == std::string_view::npos ||
                peek() == '\0')
              return false;
          }
        } else if (peek() == '\0' || std::string_view("\"\\/bfnrt").find(peek()) == std::string_view::npos) {
          return false;
        }
        ++at_;
        continue;
      }
      const std::size_t length = utf8Length(text_.substr(at_));
      if (length == 0) return false;
      at_ += length;
    }
    return take('"');
  }

  bool digits() {
    const std::size_t from = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > from;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return true;
  }

  bool word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool value() {
    switch (peek()) {
      case '{': return members();
      case '[': return elements();
      case '"': return string();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }

  template <class Item>
  bool list(char open, char close, Item item) {
    if (++depth_ > kDeepest || !take(open)) return false;
    blanks();
    if (!take(close)) {
      do {
        blanks();
        if (!item()) return false;
        blanks();
      } while (take(','));
      if (!take(close)) return false;
    }
    --depth_;
    return true;
  }
  bool elements() {
    return list('[', ']', [this] { return value(); });
  }
  bool members() {
    return list('{', '}', [this] {
      if (!string()) return false;
      blanks();
      if (!take(':')) return false;
      blanks();
      return value();
    });
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

void appendInteger(fmt::memory_buffer& out, std::int64_t value) {
  const bool exact = value < kExact && value > -kExact;
  if (!exact) out.push_back('"');
  appendText(out, "{}", value);
  if (!exact) out.push_back('"');
}

void appendInteger(fmt::memory_buffer& out, std::uint64_t value) {
  const bool exact = value < static_cast<std::uint64_t>(kExact);
  if (!exact) out.push_back('"');
  appendText(out, "{}", value);
  if (!exact) out.push_back('"');
}

void appendReal(fmt::memory_buffer& out, double value) {
  if (std::isfinite(value)) {
    appendText(out, "{}", value);
  } else {
    append(out, std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  }
}

void appendMicroseconds(fmt::memory_buffer& out, std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  if (negative) out.push_back('-');
  appendText(out, "{}", size / 1000);
  if (size % 1000 != 0) appendText(out, ".{:03}", size % 1000);
}

bool isJsonObject(std::string_view text) { return Checker(text).object(); }

}  // namespace pitwall::exporting
