// Secrets that their own shape gives away, whatever their name: tokens of known services, private keys, JSON web tokens,
// URLs with credentials or of webhooks. Linear in the length of the text.
#pragma once

#include <string_view>

#include "db/redact/text.h"

namespace pitwall::redact {

// The end of a token that begins at `at`, or `at` when there is none. `at` is the start of a word. Never
// looks further ahead than some hundred characters unless it finds a token.
std::size_t knownTokenEnd(std::string_view text, std::size_t at);

// The place after the '@' that ends the credentials of a URL whose "//" ends at `at`; `at` when it has none.
std::size_t credentialsEnd(std::string_view text, std::size_t at);

// The end of a URL whose "//" ends at `at`.
std::size_t urlEnd(std::string_view text, std::size_t at);

// The secret part of the URL [at, end): what follows the first webhook's address in it.
Span secretOfUrl(std::string_view text, std::size_t at, std::size_t end);

}  // namespace pitwall::redact
