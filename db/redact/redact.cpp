#include "db/redact.h"

#include <algorithm>

#include "db/redact/options.h"
#include "db/redact/shapes.h"
#include "db/redact/text.h"

namespace pitwall {
namespace {

using redact::isBlank;
using redact::isNameChar;
using redact::isWordChar;
using redact::OptionReader;
using redact::Span;

// The value that begins at `at`.
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

// The value of the secret name at `name_at`; `after` is the first character after the name. Empty when no value follows.
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

// What ends a word of a command line, also within JSON and quotes.
bool endsWord(char c) { return isBlank(c) || c == '"' || c == '\'' || c == '\\'; }

// Copies a text, with secrets replaced. Reads it once from the left.
class Redaction {
 public:
  explicit Redaction(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) {
      if (at_ >= url_secret_.begin && at_ < url_secret_.end) {
        replaceTo(url_secret_.end);
      } else if (text_.substr(at_).starts_with("://")) {
        url();
      } else if (!isBegin() || !(optionValue() || token() || namedValue())) {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  // Of a name or a token.
  bool isBegin() const { return at_ == 0 || !isNameChar(text_[at_ - 1]) || !isWordChar(text_[at_ - 1]); }

  void copyTo(std::size_t end) {
    out_ += text_.substr(at_, end - at_);
    at_ = end;
  }
  void replaceTo(std::size_t end) {
    out_ += kRedacted;
    at_ = end;
  }

  void replaceNext(Span value) {
    (void)options_.secretIn(text_.substr(value.begin, value.end - value.begin));  // it may be a program
    copyTo(value.begin);
    replaceTo(value.end);
  }

  void url() {
    copyTo(at_ + 3);
    if (at_ >= url_end_) {
      url_end_ = redact::urlEnd(text_, at_);
      url_secret_ = redact::secretOfUrl(text_, at_, url_end_);
    }
    if (const std::size_t end = redact::credentialsEnd(text_, at_); end != at_) {
      replaceTo(end);
      out_ += '@';
    }
  }

  // At the start of a word of a command line.
  bool optionValue() {
    if (at_ > 0 && !endsWord(text_[at_ - 1])) return false;
    if (at_ > 0 && text_[at_ - 1] == '\n') options_.endLine();
    std::size_t end = at_;
    while (end < text_.size() && !endsWord(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (std::ranges::none_of(word, isWordChar)) return false;
    const std::size_t begin = at_ + options_.secretIn(word);
    if (begin == end) return false;
    const char before = at_ > 0 ? text_[at_ - 1] : ' ';
    if (before == '"' || before == '\'') end = std::min(text_.find(before, end), text_.size());
    // A word may be both, -pSECRET and an option whose value follows.
    const Span value = isSecretName(word) ? valueAfter(text_, at_, end) : Span{};
    copyTo(begin);
    replaceTo(end);
    if (!value.empty()) replaceNext(value);
    return true;
  }

  bool token() {
    if (!isNameChar(text_[at_])) return false;
    const std::size_t end = redact::knownTokenEnd(text_, at_);
    if (end == at_) return false;
    replaceTo(end);
    return true;
  }

  bool namedValue() {
    if (!isNameChar(text_[at_]) || (at_ > 0 && isNameChar(text_[at_ - 1]))) return false;
    std::size_t name_end = at_;
    while (name_end < text_.size() && isNameChar(text_[name_end])) ++name_end;
    if (!isSecretName(text_.substr(at_, name_end - at_))) return false;
    const Span value = valueAfter(text_, at_, name_end);
    if (value.empty()) return false;
    replaceNext(value);
    return true;
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t url_end_ = 0;  // of the last URL that was searched
  Span url_secret_;
  OptionReader options_;
};

}  // namespace

std::string redactText(std::string_view text) { return Redaction(text).run(); }

std::string redactValue(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return isSecretName(name) ? std::string(kRedacted) : redactText(value);
}

std::vector<std::string> redactArguments(std::span<const std::string> arguments) {
  std::vector<std::string> result;
  OptionReader options;
  bool is_secret = false;
  for (const auto& argument : arguments) {
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    const std::size_t begin = options.secretIn(argument);
    if (is_secret && !is_option) {
      result.emplace_back(kRedacted);
      is_secret = false;
      continue;
    }
    is_secret = is_option && argument.find('=') == std::string::npos && isSecretName(argument);
    if (begin < argument.size()) {
      result.push_back(argument.substr(0, begin) + std::string(kRedacted));
      continue;
    }
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
