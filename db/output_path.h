// The name of a file to be written, as every command checks it.
#pragma once

#include <string>

#include "db/result.h"

namespace pitwall {

// `path` as an absolute one with its links resolved, so that replacing the file leaves a link a link and a later change of the
// working directory has no effect; nothing is written. Errors: invalidInput when it is empty, or names anything but a regular file
// or what does not exist yet: a device, pipe, socket or folder is neither replaced nor written to.
Result<std::string> outputPath(const std::string& path);

}  // namespace pitwall
