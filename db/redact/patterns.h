// The table of what makes a text a secret. db/redact.h applies it; a test and a fuzz target hide every example.
// Standard library only; constant data.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace pitwall {

enum class SecretKind {
  word,        // a word of a name: HF_TOKEN has "token"
  ending,      // the end of a word of a name: "hftoken"
  lastWord,    // the last word of an upper-case name of several words: COMET_API
  token,       // the start of a token that a service defines, with at least `rest` token characters after it
  url,         // within a URL; all that follows it in the URL is secret
  userOption,  // an option with the value USER:SECRET
  programOption,  // "PROGRAM OPTION": the option's value, attached or the next argument
  shortOption,    // an option of any program with a secret attached, where it looks like one: -pS3cret
};

struct SecretPattern {
  SecretKind kind;
  std::string_view text;     // lower case for word, ending and lastWord
  std::string_view example;  // '%' stands for the secret
  std::size_t rest = 0;
};

std::span<const SecretPattern> secretPatterns();

}  // namespace pitwall
