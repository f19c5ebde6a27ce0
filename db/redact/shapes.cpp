#include "db/redact/shapes.h"

#include <algorithm>
#include <cstddef>

#include "db/redact/patterns.h"

namespace pitwall::redact {
namespace {

bool isTokenChar(char c) { return isWordChar(c) || c == '-' || c == '_'; }

// The end of the run of token characters from `from`, searched for at most `limit` characters.
std::size_t tokenRun(std::string_view text, std::size_t from, std::size_t limit = std::string_view::npos) {
  std::size_t end = from;
  while (end < text.size() && end - from < limit && isTokenChar(text[end])) ++end;
  return end;
}

// Runs of token characters joined by dots.
std::size_t dottedRun(std::string_view text, std::size_t from) {
  std::size_t end = tokenRun(text, from);
  while (end + 1 < text.size() && text[end] == '.' && isTokenChar(text[end + 1]))
    end = tokenRun(text, end + 1);
  return end;
}

// A JSON web token: parts of base64url joined by dots, the first of which is short.
std::size_t webTokenEnd(std::string_view text, std::size_t at) {
  const std::size_t head = tokenRun(text, at, 512);
  if (head - at < 10 || head >= text.size() || text[head] != '.') return at;
  if (tokenRun(text, head + 1, 10) - head - 1 < 10) return at;
  return dottedRun(text, at);
}

std::size_t privateKeyEnd(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";
  const std::string_view title = text.substr(at + kBegin.size(), 80);
  const std::size_t title_end = title.find(kDashes);
  if (title_end == title.npos || title.substr(0, title_end).find("PRIVATE KEY") == title.npos) return at;
  const std::size_t closing = text.find(kEnd, at + kBegin.size());
  if (closing == text.npos) return text.size();
  const std::size_t end = text.find(kDashes, closing + kEnd.size());
  return end == text.npos ? text.size() : end + kDashes.size();
}

bool endsUrl(char c) { return isBlank(c) || c == '"' || c == '\'' || c == '<' || c == '>'; }

}  // namespace

std::size_t knownTokenEnd(std::string_view text, std::size_t at) {
  const std::string_view here = text.substr(at);
  for (const SecretPattern& pattern : secretPatterns()) {
    if (pattern.kind != SecretKind::token || !here.starts_with(pattern.text)) continue;
    const std::size_t from = at + pattern.text.size();
    if (tokenRun(text, from, pattern.rest) - from == pattern.rest) return dottedRun(text, from);
  }
  if (here.starts_with("eyJ")) return webTokenEnd(text, at);
  if (here.starts_with("-----BEGIN ")) return privateKeyEnd(text, at);
  return at;
}

std::size_t credentialsEnd(std::string_view text, std::size_t at) {
  std::size_t last = at;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (endsUrl(c) || c == '/' || c == '?' || c == '#') break;
    if (c == '@') last = i + 1;  // a password may itself contain one
  }
  return last;
}

std::size_t urlEnd(std::string_view text, std::size_t at) {
  while (at < text.size() && !endsUrl(text[at])) ++at;
  return at;
}

Span secretOfUrl(std::string_view text, std::size_t at, std::size_t end) {
  const std::string_view address = text.substr(at, end - at);
  Span first{end, end};
  for (const SecretPattern& pattern : secretPatterns()) {
    if (pattern.kind != SecretKind::url) continue;
    const std::size_t found = address.find(pattern.text);
    if (found != address.npos) first.begin = std::min(first.begin, at + found + pattern.text.size());
  }
  return first;
}

}  // namespace pitwall::redact
