#include <fmt/format.h>

#include <string_view>

#include "db/try.h"
#include "runtime/data/decode/decoder.h"

namespace pitwall::data {

ImageReader::ImageReader() : jpeg_(makeJpegDecoder()), png_(makePngDecoder()), webp_(makeWebpDecoder()) {}

Result<ImageSize> ImageReader::begin(std::span<const std::uint8_t> file) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()), file.size());
  const char* package = nullptr;
  current_ = nullptr;
  // ITU T.81 section B.1.1.3; PNG specification section 5.2; RFC 9649 section 2.4.
  if (start.starts_with("\xff\xd8\xff")) {
    current_ = jpeg_.get();
    package = "JPEG: install libjpeg62-turbo-dev";
  } else if (start.starts_with("\x89PNG\r\n\x1a\n")) {
    current_ = png_.get();
    package = "PNG: install libpng-dev";
  } else if (start.starts_with("RIFF") && start.size() >= 12 && start.substr(8, 4) == "WEBP") {
    current_ = webp_.get();
    package = "WebP: install libwebp-dev";
  } else {
    return fail(ErrorCode::unsupported, file.empty() ? "there is no image" : "neither JPEG nor PNG nor WebP");
  }
  if (current_ == nullptr)
    return fail(ErrorCode::unsupported,
                fmt::format("this build cannot read {}, then configure and build again", package));
  const ImageSize size = PITWALL_TRY(current_->begin(file));
  if (size.width < 1 || size.height < 1 || std::int64_t{size.width} * size.height > kMostPixels)
    return fail(ErrorCode::unsupported,
                fmt::format("{} x {} pixels: 1 to {} are supported", size.width, size.height, kMostPixels));
  return size;
}

}  // namespace pitwall::data
