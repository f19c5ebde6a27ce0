// Checks of arguments.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pitwall::cli {

// Of an option that names a file to write, where an empty name would mean the default.
inline const CLI::Validator kNamesAFile(
    [](const std::string& name) {
      return name.empty() ? std::string("an empty name; is a variable of the shell unset?") : std::string();
    },
    "");

}  // namespace pitwall::cli
