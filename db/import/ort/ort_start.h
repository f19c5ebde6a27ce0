// Whether a text is a profile of ONNX Runtime, from its start.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isOrtProfile(std::string_view start);

}  // namespace pitwall::import
