// The declaration of the command's arguments as data for man pages and completions.
#pragma once

#include <CLI/CLI.hpp>

#include "analyzer/manual.h"

namespace pitwall::cli {

// The command and those below it, with texts of manual_texts.h. Rules and settings are offered by name.
manual::Command describe(const CLI::App& app);

}  // namespace pitwall::cli
