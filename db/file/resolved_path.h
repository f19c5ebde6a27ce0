#pragma once

#include <string>

namespace pitwall {

// The absolute path with links resolved, so that replacing the file leaves a link a link and a later change of the working
// directory has no effect. `path` itself where that fails, and for a device, pipe, socket or folder, whose links may not be paths
// (/dev/stdout).
std::string resolvedPath(const std::string& path);

}  // namespace pitwall
