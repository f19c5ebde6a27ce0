// Writes decoded pixels as planes, one for each channel, as networks take them.
#pragma once

#include <array>

#include "runtime/data/decode/decoder.h"

namespace pitwall::data {

// value = (pixel - mean) * factor, by channel.
struct ChannelScale {
  std::array<float, 3> mean = {0, 0, 0}, factor = {1, 1, 1};
};

// `to` has channels x height x width elements. Mirrored: left and right.
void storePlanes(const Pixels& pixels, bool mirror, const ChannelScale& scale, float* to);
void storePlanes(const Pixels& pixels, bool mirror, std::uint8_t* to);

}  // namespace pitwall::data
