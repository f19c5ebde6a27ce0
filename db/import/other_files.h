// What is said of files that other tools write and that are not read here: what it is, and the way to what can
// be read.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::import {

// `path`: the input's name, only for messages and where a format has no known start. Empty when it is none of
// them.
std::string otherFile(std::string_view start, std::string_view path);

}  // namespace pitwall::import
