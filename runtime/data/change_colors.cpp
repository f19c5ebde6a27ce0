// Changes of colors, on the pixels of the result, in floats and rounded once.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/data/augment.h"

namespace pitwall::data {
namespace {

constexpr float kGrey[3] = {0.299F, 0.587F, 0.114F};  // of red, green and blue; ITU-R BT.601

float greyOf(const float* rgb) { return kGrey[0] * rgb[0] + kGrey[1] * rgb[1] + kGrey[2] * rgb[2]; }

void scaleAll(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

// Away from the mean brightness of the image.
void stretchContrast(std::vector<float>& values, std::size_t channels, float factor) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); i += channels)
    sum += channels == 3 ? greyOf(&values[i]) : values[i];
  const auto mean = static_cast<float>(sum / static_cast<double>(values.size() / channels));
  for (float& value : values) value = mean + (value - mean) * factor;
}

void saturate(std::vector<float>& values, float factor) {
  for (std::size_t i = 0; i + 3 <= values.size(); i += 3) {
    const float grey = greyOf(&values[i]);
    for (std::size_t c = 0; c < 3; ++c) values[i + c] = grey + (values[i + c] - grey) * factor;
  }
}

float ofHue(float low, float high, float sector) {
  sector -= 6 * std::floor(sector / 6);
  if (sector < 1) return low + (high - low) * sector;
  if (sector < 3) return high;
  return sector < 4 ? low + (high - low) * (4 - sector) : low;
}

// Hue, saturation and lightness, each 0..1, and back. Hue is in half degrees, the others in 1/255.
void shiftHsl(float* rgb, float hue, float saturation, float lightness) {
  float share[3];
  for (int c = 0; c < 3; ++c) share[c] = std::clamp(rgb[c] / 255, 0.0F, 1.0F);
  const float most = std::max({share[0], share[1], share[2]}),
              least = std::min({share[0], share[1], share[2]});
  const float range = most - least;
  float light = (most + least) / 2, chroma = 0, sector = 0;
  if (range > 1e-6F) {
    chroma = range / std::max(1e-6F, 1 - std::abs(2 * light - 1));
    if (most == share[0])
      sector = (share[1] - share[2]) / range;
    else if (most == share[1])
      sector = (share[2] - share[0]) / range + 2;
    else
      sector = (share[0] - share[1]) / range + 4;
  }
  sector += hue / 30;
  chroma = std::clamp(chroma + saturation / 255, 0.0F, 1.0F);
  light = std::clamp(light + lightness / 255, 0.0F, 1.0F);
  const float half = chroma * (1 - std::abs(2 * light - 1)) / 2;
  const float low = light - half, high = light + half;
  rgb[0] = 255 * ofHue(low, high, sector + 2);
  rgb[1] = 255 * ofHue(low, high, sector);
  rgb[2] = 255 * ofHue(low, high, sector - 2);
}

}  // namespace

void changeColors(const DrawnAugmentation& drawn, Pixels& pixels) {
  const auto channels = static_cast<std::size_t>(pixels.channels);
  std::vector<float> values(pixels.bytes.begin(), pixels.bytes.end());
  constexpr std::array<std::array<int, 3>, 6> kOrders = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const int step : kOrders[static_cast<std::size_t>(drawn.order)]) {
    if (step == 0 && drawn.brightness != 1) scaleAll(values, drawn.brightness);
    if (step == 1 && drawn.contrast != 1) stretchContrast(values, channels, drawn.contrast);
    if (step == 2 && drawn.saturation != 1 && channels == 3) saturate(values, drawn.saturation);
  }
  const bool shifts = drawn.hue != 0 || drawn.hsl_saturation != 0 || drawn.lightness != 0;
  for (std::size_t i = 0; i + channels <= values.size(); i += channels) {
    if (shifts && channels == 3) shiftHsl(&values[i], drawn.hue, drawn.hsl_saturation, drawn.lightness);
    for (std::size_t c = 0; c < channels; ++c) values[i + c] += drawn.principal[c];
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    pixels.bytes[i] = static_cast<std::uint8_t>(std::clamp(values[i] + 0.5F, 0.0F, 255.0F));
}

}  // namespace pitwall::data
