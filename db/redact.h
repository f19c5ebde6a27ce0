// Redaction of secrets, which must not reach a trace file that users share. Used by the recorder for
// environment and command lines and by importers for data that other tools have stored.
//
// A value is a secret when its name says so (HF_TOKEN, aws_secret_access_key, --password, apiKey) or when it
// has the shape of one whatever its name (a URL with credentials, a private key, tokens of well-known
// services, a JSON web token). In doubt a value is redacted: a false positive costs less than a leaked
// secret. Settings of the catalogue (db/settings.h) are never secrets by their name.
//
// Pure functions of text; linear in its length; thread-safe. Standard library only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall {

// The text that replaces a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

// Whether a variable, option or key of this name holds a secret. Words are separated by any character that is
// not a letter or digit and by changes of case: "MY_API_KEY", "--auth-token", "clientSecret"; but not
// "TOKENIZERS_PARALLELISM", "KEYBOARD", "PWD".
bool isSecretName(std::string_view name);

// `value` as it may be stored: replaced as a whole when the name is secret, else as redactText().
std::string redactValue(std::string_view name, std::string_view value);

// Free text (a command line, a line of a log, JSON): replaces credentials in URLs, tokens of known shapes,
// and the values of NAME=VALUE, "name": "value", "Authorization: Bearer VALUE" and --name VALUE with secret
// names.
std::string redactText(std::string_view text);

// The arguments of a command, one by one: as redactText(), and the argument after an option with a secret
// name is replaced whatever it contains ("--password", "correct horse").
std::vector<std::string> redactArguments(std::span<const std::string> arguments);

}  // namespace pitwall
