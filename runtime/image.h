// Single images: decoding, resizing, encoding. Training from record files needs runtime/image_records.h alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "db/result.h"

namespace pitwall::data {

// Rows of interleaved channels: 1 grey, 3 red, green, blue.
struct Image {
  int width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> pixels;
};

// Decodes JPEG, PNG or WebP, as far as this build has their libraries. What is transparent becomes black. With
// `least_side`, a JPEG may come out at a half, a quarter or an eighth of its size, its shorter side still that long.
// Errors: invalidInput for damaged data; unsupported for other formats, formats without library, and more than 100
// million pixels.
Result<Image> decodeImage(std::span<const std::uint8_t> file, int channels = 3, int least_side = 0);

// The part of `width` x `height` pixels from (left, top) on. Precondition: it is within the image.
Image cropImage(const Image& image, int left, int top, int width, int height);

// Precondition: width and height are at least 1. `inter_method` as in ImageAugmentation, 0 to 4 and 9.
Image resizeImage(const Image& image, int width, int height, int inter_method = 1);

// Errors: unsupported without the library; invalidInput for a quality outside 1 to 100, and for an image that the
// format cannot store.
Result<std::vector<std::uint8_t>> encodeJpeg(const Image& image, int quality = 95);
Result<std::vector<std::uint8_t>> encodePng(const Image& image);

}  // namespace pitwall::data
