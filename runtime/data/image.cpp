#include "runtime/image.h"

#include <algorithm>
#include <utility>

#include "db/try.h"
#include "runtime/data/decode/decoder.h"
#include "runtime/data/resample.h"

namespace pitwall::data {
namespace {

Pixels pixelsOf(const Image& image) {
  Pixels pixels;
  pixels.width = image.width;
  pixels.height = image.height;
  pixels.channels = image.channels;
  pixels.whole = {image.width, image.height};
  pixels.bytes = image.pixels;
  return pixels;
}

Image imageOf(Pixels pixels) {
  return {pixels.width, pixels.height, pixels.channels, std::move(pixels.bytes)};
}

}  // namespace

Result<Image> decodeImage(std::span<const std::uint8_t> file, int channels, int least_side) {
  ImageReader reader;
  const ImageSize size = PITWALL_TRY(reader.begin(file));
  Wanted wanted{0, 0, size.width, size.height, 1, channels};
  const int shorter = std::min(size.width, size.height);
  while (least_side > 0 && wanted.reduce < 8 && shorter / (2 * wanted.reduce) >= least_side)
    wanted.reduce *= 2;
  Pixels pixels;
  PITWALL_TRY(reader.read(wanted, pixels));
  return imageOf(std::move(pixels));
}

Image cropImage(const Image& image, int left, int top, int width, int height) {
  Image part{width, height, image.channels, {}};
  const auto row = static_cast<std::ptrdiff_t>(image.width) * image.channels;
  for (int y = 0; y < height; ++y) {
    const auto from =
        image.pixels.begin() + (top + y) * row + static_cast<std::ptrdiff_t>(left) * image.channels;
    part.pixels.insert(part.pixels.end(), from, from + static_cast<std::ptrdiff_t>(width) * image.channels);
  }
  return part;
}

Image resizeImage(const Image& image, int width, int height, int inter_method) {
  Pixels to;
  to.width = width;
  to.height = height;
  Resampler().run(pixelsOf(image),
                  {0, 0, static_cast<double>(image.width), static_cast<double>(image.height)},
                  filterOf(inter_method, width < image.width), to);
  return imageOf(std::move(to));
}

Result<std::vector<std::uint8_t>> encodeJpeg(const Image& image, int quality) {
  return writeJpeg(pixelsOf(image), quality);
}

Result<std::vector<std::uint8_t>> encodePng(const Image& image) { return writePng(pixelsOf(image)); }

}  // namespace pitwall::data
