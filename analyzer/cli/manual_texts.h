// What the help and the man page of each command say besides its arguments.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/manual.h"

namespace pitwall::cli {

// `command` as it is called: "pitwall record". Empty texts when there are none.
const manual::Text& manualTextOf(std::string_view command);

// The end of --help: usage, notes, lists, exit codes and examples. The man page has variables and files too.
std::string helpFooter(const manual::Text& text);

}  // namespace pitwall::cli
