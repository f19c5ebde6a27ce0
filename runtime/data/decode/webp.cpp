// WebP by libwebp; of an animation only what is a still image is read.
#include <webp/decode.h>

#include "runtime/data/decode/decoder.h"

namespace pitwall::data {
namespace {

class WebpDecoder : public Decoder {
 public:
  Result<ImageSize> begin(std::span<const std::uint8_t> file) override {
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK)
      return fail(ErrorCode::invalidInput, "damaged WebP: its header cannot be read");
    if (features.has_animation != 0)
      return fail(ErrorCode::unsupported, "WebP: animations are not supported");
    file_ = file;
    size_ = {features.width, features.height};
    return size_;
  }

  // Always the whole image.
  Status read(const Wanted& wanted, Pixels& pixels) override {
    pixels.whole = size_;
    pixels.left = pixels.top = 0;
    pixels.width = size_.width;
    pixels.height = size_.height;
    pixels.reduce = 1;
    pixels.channels = 3;
    pixels.resize();
    if (WebPDecodeRGBInto(file_.data(), file_.size(), pixels.bytes.data(), pixels.bytes.size(),
                          static_cast<int>(pixels.rowBytes())) == nullptr)
      return fail(ErrorCode::invalidInput, "damaged WebP: its pixels cannot be read");
    if (wanted.channels == 1) toGrey(pixels);
    return {};
  }

 private:
  static void toGrey(Pixels& pixels) {
    const std::size_t count = pixels.bytes.size() / 3;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* const rgb = pixels.bytes.data() + 3 * i;
      pixels.bytes[i] = greyOf(rgb[0], rgb[1], rgb[2]);
    }
    pixels.channels = 1;
    pixels.resize();
  }

  std::span<const std::uint8_t> file_;
  ImageSize size_;
};

}  // namespace

std::unique_ptr<Decoder> makeWebpDecoder() { return std::make_unique<WebpDecoder>(); }

}  // namespace pitwall::data
