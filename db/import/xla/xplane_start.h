// Whether bytes are the start of a file xplane.pb.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isXplane(std::string_view start);

}  // namespace pitwall::import
