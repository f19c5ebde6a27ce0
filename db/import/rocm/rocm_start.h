// Whether a text is a CSV or JSON file of rocprofv3, from its start.
#pragma once

#include <string_view>

namespace pitwall::import {

bool isRocmCsv(std::string_view start);
bool isRocmJson(std::string_view start);

}  // namespace pitwall::import
