// The wide text that NVTX's W functions take.
#pragma once

#include <string>

namespace pitwall::nvtx {

// As UTF-8; "" for nullptr.
std::string utf8(const wchar_t* text);

}  // namespace pitwall::nvtx
