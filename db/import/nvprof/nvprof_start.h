// Whether a text is what nvprof --csv prints, from its start.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isNvprofCsv(std::string_view start);

}  // namespace pitwall::import
