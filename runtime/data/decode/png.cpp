// PNG by libpng's simplified interface, which reads any kind of PNG as 8 bits per channel.
#include <png.h>

#include <string>

#include "runtime/data/decode/decoder.h"

namespace pitwall::data {
namespace {

png_uint_32 formatOf(int channels) { return channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB; }

class PngDecoder : public Decoder {
 public:
  PngDecoder() = default;
  ~PngDecoder() override { png_image_free(&image_); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  Result<ImageSize> begin(std::span<const std::uint8_t> file) override {
    png_image_free(&image_);
    image_ = {};
    image_.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image_, file.data(), file.size()) == 0) return failed();
    if (image_.width > kMostPixels || image_.height > kMostPixels)
      return fail(ErrorCode::invalidInput, "damaged PNG: impossibly large");
    return ImageSize{static_cast<int>(image_.width), static_cast<int>(image_.height)};
  }

  // Always the whole image. What is transparent becomes black.
  Status read(const Wanted& wanted, Pixels& pixels) override {
    image_.format = formatOf(wanted.channels);
    pixels.whole = {static_cast<int>(image_.width), static_cast<int>(image_.height)};
    pixels.left = pixels.top = 0;
    pixels.width = pixels.whole.width;
    pixels.height = pixels.whole.height;
    pixels.channels = wanted.channels;
    pixels.reduce = 1;
    pixels.resize();
    const png_color black{0, 0, 0};
    if (png_image_finish_read(&image_, &black, pixels.bytes.data(), 0, nullptr) == 0) return failed();
    return {};
  }

 private:
  Failure failed() { return fail(ErrorCode::invalidInput, std::string("damaged PNG: ") + image_.message); }
  png_image image_{};
};

}  // namespace

std::unique_ptr<Decoder> makePngDecoder() { return std::make_unique<PngDecoder>(); }

Result<std::vector<std::uint8_t>> writePng(const Pixels& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(pixels.width);
  image.height = static_cast<png_uint_32>(pixels.height);
  image.format = formatOf(pixels.channels);
  std::vector<std::uint8_t> file(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t size = file.size();
  if (png_image_write_to_memory(&image, file.data(), &size, 0, pixels.bytes.data(), 0, nullptr) == 0)
    return fail(ErrorCode::invalidInput, std::string("cannot be written as PNG: ") + image.message);
  file.resize(size);
  return file;
}

}  // namespace pitwall::data
