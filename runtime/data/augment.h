// The augmentation of images: what is drawn for an image, and applying it to what was decoded.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/data/random.h"
#include "runtime/data/resample.h"
#include "runtime/image_records.h"

namespace pitwall::data {

// For one image.
struct DrawnAugmentation {
  Box box;                       // of the image as stored: what becomes the result
  std::optional<Affine> affine;  // instead of the box: of the result's pixels into the image as stored
  Filter filter = Filter::linear;
  bool mirror = false;
  bool changes_colors = false;
  float brightness = 1, contrast = 1, saturation = 1;
  int order = 0;                                     // 0..5: of the three
  float hue = 0, hsl_saturation = 0, lightness = 0;  // added
  float principal[3] = {0, 0, 0};                    // added to red, green and blue
};

// Errors: invalidInput naming the parameter that is out of range.
Status checkAugmentation(const ImageAugmentation& options);

// The numbers drawn depend on the options, the random numbers and the size alone.
DrawnAugmentation drawAugmentation(const ImageAugmentation& options, ImageSize stored, ImageSize result,
                                   Random random);

// What of the image must be decoded for it.
Wanted wantedFor(const DrawnAugmentation& drawn, ImageSize stored, ImageSize result, int channels);

// Makes the result, whose width and height are set, of decoded pixels.
void applyGeometry(const DrawnAugmentation& drawn, int fill_value, const Pixels& decoded,
                   Resampler& resampler, Pixels& result);

// Brightness, contrast, saturation, hue, lightness and noise.
void changeColors(const DrawnAugmentation& drawn, Pixels& pixels);

}  // namespace pitwall::data
