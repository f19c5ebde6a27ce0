// The one rule for secrets: what must not reach a trace file that is going to be mailed around. Used by the
// recorder for environment and command lines and by importers for what other tools have stored.
//
// A value is a secret when its name says so (HF_TOKEN, aws_secret_access_key, --password, apiKey) or when it
// looks like one whatever its name (a URL with credentials, a private key, tokens of well-known services, a
// JSON web token). Rather too much than too little: a value that was hidden needlessly costs a glance, a
// leaked token a night. Settings of the catalogue (db/settings.h) are never secrets by their name.
//
// Pure functions of text; linear in its length; thread-safe. Standard library only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall {

// What stands in the place of a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

// Whether a variable, option or key of this name holds a secret. Words are told apart by anything that is no
// letter or digit and by changes of case: "MY_API_KEY", "--auth-token", "clientSecret"; but not
// "TOKENIZERS_PARALLELISM", "KEYBOARD", "PWD".
bool isSecretName(std::string_view name);

// `value` as it may be stored: all of it replaced when the name says secret, else as redactText().
std::string redactValue(std::string_view name, std::string_view value);

// Free text (a command line, a line of a log, JSON): replaces credentials in URLs, tokens of known shapes,
// and the values of NAME=VALUE, "name": "value", "Authorization: Bearer VALUE" and --name VALUE with secret
// names.
std::string redactText(std::string_view text);

// The arguments of a command, one by one: as redactText(), and the argument after an option with a secret
// name is replaced whatever it contains ("--password", "correct horse").
std::vector<std::string> redactArguments(std::span<const std::string> arguments);

}  // namespace pitwall
