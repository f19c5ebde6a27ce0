// Names of outputs, made of an input's, where none is given.
#pragma once

#include <string>

namespace pitwall::cli {

// The last part of the input's path, with its extension. A folder given as "." or "job/" has its name, too.
std::string inputName(const std::string& input);

// The input's path with `extension` in place of the one it has; a folder's has none, and gets it behind its name.
std::string pathBeside(const std::string& input, const std::string& extension);

}  // namespace pitwall::cli
