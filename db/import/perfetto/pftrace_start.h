// Whether bytes are the start of a Perfetto trace.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isPftrace(std::string_view start);

}  // namespace pitwall::import
