#include "runtime/profiler/nvtx/wide_text.h"

#include <cstdint>

namespace pitwall::nvtx {

namespace {

void append(std::string& text, std::uint32_t c) {
  const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = '?';
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6U), put(0x80 | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12U), put(0x80 | (c >> 6U & 0x3FU)), put(0x80 | (c & 0x3FU));
  } else {
    put(0xF0 | c >> 18U), put(0x80 | (c >> 12U & 0x3FU)), put(0x80 | (c >> 6U & 0x3FU));
    put(0x80 | (c & 0x3FU));
  }
}

}  // namespace

std::string utf8(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != L'\0'; ++text) append(out, static_cast<std::uint32_t>(*text));
  return out;
}

}  // namespace pitwall::nvtx
