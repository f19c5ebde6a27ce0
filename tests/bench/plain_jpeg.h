// What libjpeg-turbo alone takes.
#pragma once

#include <cstdint>
#include <span>

namespace pitwall::bench {

// Decodes the whole image into memory that is reused. False for a damaged one.
bool decodePlainly(std::span<const std::uint8_t> file);

}  // namespace pitwall::bench
