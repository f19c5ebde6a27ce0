// The options of pitwall-gui: the parser, --help, the man page and the completions of shells use this one table.
#pragma once

#include "analyzer/manual.h"

namespace pitwall::gui {

// Without --help and --version, which the parser adds itself.
const manual::Command& viewerManual();

}  // namespace pitwall::gui
