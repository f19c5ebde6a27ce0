// Whether a text is a CSV file of rocprofv3, from its start.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isRocmCsv(std::string_view start);

}  // namespace pitwall::import
