// An image with about the detail of a photograph, made and not stored.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/image.h"

namespace pitwall::test {

// The same for the same seed. As a JPEG of quality 95, 500 x 375 pixels take some 85 KB.
inline data::Image madePhotograph(int width, int height, std::uint32_t seed) {
  data::Image image{width, height, 3, {}};
  image.pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  std::uint32_t state = seed * 2654435761U + 1;
  const auto noise = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<int>(state >> 24U) - 128;
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int shape = ((x / 37 + y / 29 + static_cast<int>(seed)) % 5) * 40 + noise() / 12;
      for (int c = 0; c < 3; ++c)
        image.pixels.push_back(
            static_cast<std::uint8_t>(std::clamp(shape + 20 * c + noise() / 40 + (x + y) / 12, 0, 255)));
    }
  }
  return image;
}

}  // namespace pitwall::test
