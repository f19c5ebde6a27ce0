// Decoders of image files. Each is for one thread and keeps its memory for the next image.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "db/result.h"

namespace pitwall::data {

struct ImageSize {
  int width = 0, height = 0;
};

// Larger images are refused: their pixels alone would take gigabytes.
inline constexpr std::int64_t kMostPixels = 100'000'000;

// What is needed of an image, in its pixels.
struct Wanted {
  int left = 0, top = 0, width = 0, height = 0;  // within the image
  int reduce = 1;    // 1, 2, 4, 8: as if each side had been divided by it; a decoder may ignore it
  int channels = 3;  // 1: grey, 3: red, green, blue
};

// Rows of interleaved channels: the wanted part, and what a decoder gives around it.
struct Pixels {
  std::vector<std::uint8_t> bytes;
  int left = 0, top = 0;  // of the first pixel, in pixels of the reduced image
  int width = 0, height = 0;
  int channels = 3;
  int reduce = 1;
  ImageSize whole;  // the reduced image

  std::size_t rowBytes() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  }
  const std::uint8_t* row(int y) const { return bytes.data() + static_cast<std::size_t>(y) * rowBytes(); }
  std::uint8_t* row(int y) { return bytes.data() + static_cast<std::size_t>(y) * rowBytes(); }
  void resize() { bytes.resize(rowBytes() * static_cast<std::size_t>(height)); }
};

// How bright a colour is, by ITU-R BT.601.
inline std::uint8_t greyOf(int red, int green, int blue) {
  return static_cast<std::uint8_t>((299 * red + 587 * green + 114 * blue) / 1000);
}

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Reads the header; `file` stays valid until the image is read. Errors: invalidInput, unsupported.
  virtual Result<ImageSize> begin(std::span<const std::uint8_t> file) = 0;
  // After begin(), once. Errors: invalidInput for damaged data.
  virtual Status read(const Wanted& wanted, Pixels& pixels) = 0;
};

// Null where this build has none.
std::unique_ptr<Decoder> makeJpegDecoder();
std::unique_ptr<Decoder> makePngDecoder();
std::unique_ptr<Decoder> makeWebpDecoder();

// Errors: unsupported where this build cannot; invalidInput for a quality outside 1 to 100.
Result<std::vector<std::uint8_t>> writeJpeg(const Pixels& pixels, int quality);
Result<std::vector<std::uint8_t>> writePng(const Pixels& pixels);

// Decodes images of any format that this build knows.
class ImageReader {
 public:
  ImageReader();
  // The same as those of a Decoder. Errors of begin(): also unsupported, naming the format or the package to install.
  Result<ImageSize> begin(std::span<const std::uint8_t> file);
  Status read(const Wanted& wanted, Pixels& pixels) { return current_->read(wanted, pixels); }

 private:
  std::unique_ptr<Decoder> jpeg_, png_, webp_;
  Decoder* current_ = nullptr;
};

}  // namespace pitwall::data
