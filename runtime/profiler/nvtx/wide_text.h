// Converts the wide texts of NVTX's W functions.
#pragma once

#include <string>

namespace pitwall::nvtx {

// As UTF-8; "" for nullptr.
std::string utf8(const wchar_t* text);

}  // namespace pitwall::nvtx
