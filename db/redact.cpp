#include "db/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace pitwall {
namespace {

bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordChar(char c) { return isLetter(c) || isDigit(c); }
bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Words that make a name secret by themselves.
constexpr std::string_view kSecretWords[] = {
    "apikey", "auth", "authorization", "bearer",  "cookie", "cookies",    "credential", "credentials", "jwt",
    "key",    "keys", "oauth",         "pass",    "passwd", "passphrase", "password",   "passwords",   "pat",
    "pw",     "pwd",  "secret",        "secrets", "sig",    "signature",  "token",      "tokens",
};
// Endings that make a word secret: "hftoken", "mypassword", "awssecret".
constexpr std::string_view kSecretEndings[] = {"token",  "password",  "passwd",    "secret",
                                               "apikey", "secretkey", "accesskey", "privatekey"};
// Whole names that contain such a word and are not secret; only in this case of letters.
constexpr std::string_view kHarmlessNames[] = {"PWD", "OLDPWD", "SSH_AUTH_SOCK"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool isSecretWord(std::string_view word) {
  const std::string low = lower(word);
  if (std::ranges::find(kSecretWords, low) != std::end(kSecretWords)) return true;
  return std::ranges::any_of(kSecretEndings, [&low](std::string_view end) { return low.ends_with(end); });
}

// The end of the word that begins at `from`: at a change from lower to upper case, or at a character that is
// not a letter or digit. "APIKey" stays one word, and its ending decides.
std::size_t wordEnd(std::string_view name, std::size_t from) {
  std::size_t end = from + 1;
  while (end < name.size() && isWordChar(name[end]) && !(isUpper(name[end]) && isLower(name[end - 1]))) ++end;
  return end;
}

// --- Shapes of secrets -----------------------------------------------------------------------------

// Tokens with a prefix that their service defines; at least `rest` letters, digits, '-' or '_' follow.
struct TokenShape {
  std::string_view prefix;
  std::size_t rest;
};
constexpr TokenShape kTokenShapes[] = {
    {"ghp_", 20},   {"gho_", 20},  {"ghu_", 20},  {"ghs_", 20},     {"ghr_", 20},     {"github_pat_", 20},
    {"glpat-", 16}, {"hf_", 20},   {"sk-", 20},   {"sk_live_", 16}, {"rk_live_", 16}, {"xoxb-", 10},
    {"xoxp-", 10},  {"xoxa-", 10}, {"xoxr-", 10}, {"xoxs-", 10},    {"AKIA", 16},     {"ASIA", 16},
    {"AIza", 30},   {"ya29.", 20}, {"npm_", 30},  {"pypi-", 30},    {"dop_v1_", 30},  {"nvapi-", 20},
};

bool isTokenChar(char c) { return isWordChar(c) || c == '-' || c == '_'; }

// The end of the run of token characters from `from`, searched for at most `limit` characters.
std::size_t tokenRun(std::string_view text, std::size_t from, std::size_t limit = std::string_view::npos) {
  std::size_t end = from;
  while (end < text.size() && end - from < limit && isTokenChar(text[end])) ++end;
  return end;
}

// A JSON web token: parts of base64url joined by dots, the first of which is short.
std::size_t webTokenEnd(std::string_view text, std::size_t at) {
  const std::size_t head = tokenRun(text, at, 512);
  if (head - at < 10 || head >= text.size() || text[head] != '.') return at;
  if (tokenRun(text, head + 1, 10) - head - 1 < 10) return at;
  std::size_t end = tokenRun(text, head + 1);
  while (end < text.size() && text[end] == '.') end = tokenRun(text, end + 1);
  return end;
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

// The end of a token that begins at `at`, or `at` when there is none. `at` is the start of a word. Never
// looks further ahead than some hundred characters unless it finds a token, so that a text is read once.
std::size_t knownTokenEnd(std::string_view text, std::size_t at) {
  const std::string_view here = text.substr(at);
  for (const auto& shape : kTokenShapes) {
    if (!here.starts_with(shape.prefix)) continue;
    const std::size_t from = at + shape.prefix.size();
    if (tokenRun(text, from, shape.rest) - from == shape.rest) return tokenRun(text, from);
  }
  if (here.starts_with("eyJ")) return webTokenEnd(text, at);
  if (here.starts_with("-----BEGIN ")) return privateKeyEnd(text, at);
  return at;
}

// The place after the '@' that ends the credentials of a URL whose "//" ends at `at`; `at` when it has none.
std::size_t credentialsEnd(std::string_view text, std::size_t at) {
  std::size_t last = at;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (isBlank(c) || c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '<' || c == '>')
      break;
    if (c == '@') last = i + 1;  // a password may itself contain one
  }
  return last;
}

// --- Names and their values in free text ------------------------------------------------------------

bool isNameChar(char c) { return isWordChar(c) || c == '_' || c == '-' || c == '.'; }

// The position of the value of a secret name: [begin, end). `after` is the first character after the name,
// which begins at `name_at`. Empty when no value follows.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Span quotedOrWord(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {at, at};
  std::size_t escape = text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '"' ? 1 : 0;
  const char quote = text[at + escape];
  if (quote == '"' || quote == '\'') {
    std::size_t end = at + escape + 1;
    while (end < text.size() && text[end] != quote) {
      if (text[end] == '\\' && escape == 0 && end + 1 < text.size()) ++end;
      ++end;
    }
    end = std::min(end, text.size());
    if (escape != 0 && end > at + 2 && text[end - 1] == '\\') --end;
    return {at + escape + 1, end};
  }
  std::size_t end = at;
  while (end < text.size() && !isBlank(text[end]) &&
         std::string_view("&;,\"'}])").find(text[end]) == std::string_view::npos)
    ++end;
  return {at, end};
}

Span valueAfter(std::string_view text, std::size_t name_at, std::size_t after) {
  std::size_t at = after;
  if (at < text.size() && text[at] == '\\') ++at;
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;  // the quote that closes a key
  std::size_t blanks = at;
  while (blanks < text.size() && (text[blanks] == ' ' || text[blanks] == '\t')) ++blanks;
  if (blanks < text.size() && (text[blanks] == '=' || text[blanks] == ':')) {
    at = blanks + 1;
    if (text[blanks] == ':' && at < text.size() && text[at] == '/') return {};  // "token://..."
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    for (const std::string_view scheme : {"Bearer ", "Basic ", "Token ", "bearer ", "basic ", "token "}) {
      if (text.substr(at).starts_with(scheme)) at += scheme.size();
    }
    return quotedOrWord(text, at);
  }
  const bool is_option = text[name_at] == '-';
  if (is_option && blanks > at && blanks < text.size() && text[blanks] != '-')
    return quotedOrWord(text, blanks);
  return {};
}

}  // namespace

bool isSecretName(std::string_view name) {
  while (!name.empty() && !isWordChar(name.front())) name.remove_prefix(1);
  if (std::ranges::find(kHarmlessNames, name) != std::end(kHarmlessNames)) return false;
  for (std::size_t at = 0; at < name.size();) {
    if (!isWordChar(name[at])) {
      ++at;
      continue;
    }
    const std::size_t end = wordEnd(name, at);
    if (isSecretWord(name.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

std::string redactText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  const auto replaceTo = [&](std::size_t end) {
    out += kRedacted;
    at = end;
  };
  while (at < text.size()) {
    const bool begins = at == 0 || !isNameChar(text[at - 1]);
    if (text.substr(at).starts_with("://")) {
      out += "://";
      at += 3;
      if (const std::size_t end = credentialsEnd(text, at); end != at) {
        replaceTo(end);
        out += '@';
      }
      continue;
    }
    if (!begins || !isNameChar(text[at])) {
      out += text[at++];
      continue;
    }
    if (const std::size_t end = knownTokenEnd(text, at); end != at) {
      replaceTo(end);
      continue;
    }
    std::size_t name_end = at;
    while (name_end < text.size() && isNameChar(text[name_end])) ++name_end;
    const std::string_view name = text.substr(at, name_end - at);
    const Span value = isSecretName(name) ? valueAfter(text, at, name_end) : Span{};
    if (value.end > value.begin) {
      out += text.substr(at, value.begin - at);
      replaceTo(value.end);
    } else {
      out += text[at++];  // a token may begin later in this word
      while (at < name_end && isNameChar(text[at])) {
        const std::size_t token = isWordChar(text[at - 1]) ? at : knownTokenEnd(text, at);
        if (token != at) {
          replaceTo(token);
          break;
        }
        out += text[at++];
      }
    }
  }
  return out;
}

std::string redactValue(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return isSecretName(name) ? std::string(kRedacted) : redactText(value);
}

std::vector<std::string> redactArguments(std::span<const std::string> arguments) {
  std::vector<std::string> result;
  bool is_secret = false;
  for (const auto& argument : arguments) {
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    if (is_secret && !is_option) {
      result.emplace_back(kRedacted);
      is_secret = false;
      continue;
    }
    is_secret = is_option && argument.find('=') == std::string::npos && isSecretName(argument);
    const std::size_t equals = argument.find('=');
    const bool named = equals != std::string::npos && argument.find_first_of(" \t\n?&:/") > equals;
    result.push_back(named ? argument.substr(0, equals + 1) +
                                 redactValue(std::string_view(argument).substr(0, equals),
                                             std::string_view(argument).substr(equals + 1))
                           : redactText(argument));
  }
  return result;
}

}  // namespace pitwall
