#include "analyzer/compare/batch_shapes.h"

#include <charconv>
#include <cmath>

namespace pitwall::comparing {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// A number of the text, or one other character.
struct Token {
  std::string_view text;
  double number = -1;
};

Token nextToken(std::string_view& rest) {
  std::size_t end = 0;
  while (end < rest.size() && isDigit(rest[end])) ++end;
  Token token{rest.substr(0, end == 0 ? 1 : end)};
  if (end > 0) {
    double value = 0;
    std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    token.number = value;
  }
  rest.remove_prefix(token.text.size());
  return token;
}

// Sees the tokens in pairs until `see` returns false; false when the texts differ in more than numbers.
template <typename See>
bool eachPair(std::string_view a, std::string_view b, const See& see) {
  while (!a.empty() && !b.empty()) {
    const Token left = nextToken(a), right = nextToken(b);
    const bool numbers = left.number >= 0 && right.number >= 0;
    if (!numbers && left.text != right.text) return false;
    if (!see(left, right)) return false;
  }
  return a.empty() && b.empty();
}

}  // namespace

std::string sameButForBatch(std::string_view a, std::string_view b, BatchRatio batches) {
  if (!batches.isKnown()) return {};
  std::string text;
  bool differs = false;
  const bool same = eachPair(a, b, [&](const Token& left, const Token& right) {
    if (left.text == right.text) {
      text += left.text;
      return true;
    }
    // Both sides are integers; batches may be means of iterations, so that they are nearly integers.
    const double as_a = left.number * batches.b, as_b = right.number * batches.a;
    if (std::fabs(as_a - as_b) > 0.01 * std::fabs(as_a)) return false;
    text += 'N';
    differs = true;
    return true;
  });
  return same && differs ? text : std::string();
}

BatchRatio ratioThatDiffers(std::string_view a, std::string_view b) {
  BatchRatio ratio;
  const bool same = eachPair(a, b, [&](const Token& left, const Token& right) {
    if (left.text != right.text && !ratio.isKnown()) ratio = {left.number, right.number};
    return true;
  });
  return same ? ratio : BatchRatio{};
}

}  // namespace pitwall::comparing
