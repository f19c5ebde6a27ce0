// JPEG by libjpeg-turbo. Only the rows and columns that are wanted are transformed, and reduced images are transformed
// at their size. The library reports errors by longjmp: functions between setjmp() and the library's calls have no
// objects with destructors.
#include <csetjmp>
#include <cstdio>
// After <cstdio>.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <string>

#include "runtime/data/decode/decoder.h"

namespace pitwall::data {
namespace {

// Images with more scans take long to decode for their size.
constexpr int kMostScans = 100;
// The columns at the edge of the wanted part depend on so many around them.
constexpr int kMargin = 8;

struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf place;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void jpegFailed(j_common_ptr codec) {
  auto* const errors = reinterpret_cast<JpegErrors*>(codec->err);
  codec->err->format_message(codec, errors->message);
  std::longjmp(errors->place, 1);
}

// Data that is missing is an error; other irregularities are not.
void jpegMessage(j_common_ptr codec, int level) {
  if (level >= 0) return;
  ++codec->err->num_warnings;
  const int code = codec->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER) jpegFailed(codec);
}

void ignoreOutput(j_common_ptr /*codec*/) {}

void checkScans(j_common_ptr codec) {
  if (!codec->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number <= kMostScans) return;
  auto* const errors = reinterpret_cast<JpegErrors*>(codec->err);
  std::snprintf(errors->message, sizeof errors->message, "it has more than %d scans", kMostScans);
  std::longjmp(errors->place, 1);
}

void setErrors(JpegErrors& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = jpegFailed;
  errors.base.emit_message = jpegMessage;
  errors.base.output_message = ignoreOutput;
}

class JpegDecoder : public Decoder {
 public:
  JpegDecoder() {
    setErrors(errors_);
    codec_.err = &errors_.base;
    if (setjmp(errors_.place) == 0) {
      jpeg_create_decompress(&codec_);
      created_ = true;
    }
    monitor_.progress_monitor = checkScans;
    codec_.progress = &monitor_;
  }
  ~JpegDecoder() override {
    if (created_) jpeg_destroy_decompress(&codec_);
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  Result<ImageSize> begin(std::span<const std::uint8_t> file) override {
    if (!created_ || !readHeader(file.data(), static_cast<unsigned long>(file.size()))) return failed();
    return ImageSize{static_cast<int>(codec_.image_width), static_cast<int>(codec_.image_height)};
  }

  Status read(const Wanted& wanted, Pixels& pixels) override {
    const bool inks = codec_.jpeg_color_space == JCS_CMYK || codec_.jpeg_color_space == JCS_YCCK;
    if (!start(wanted, inks)) return failed();
    const int right = (wanted.left + wanted.width + wanted.reduce - 1) / wanted.reduce;
    const int bottom = (wanted.top + wanted.height + wanted.reduce - 1) / wanted.reduce;
    pixels.whole = {static_cast<int>(codec_.output_width), static_cast<int>(codec_.output_height)};
    pixels.left = std::max(0, wanted.left / wanted.reduce - kMargin);
    pixels.top = std::max(0, wanted.top / wanted.reduce);
    pixels.width = std::min(pixels.whole.width, right + kMargin) - pixels.left;
    pixels.height = std::min(pixels.whole.height, bottom) - pixels.top;
    pixels.reduce = wanted.reduce;
    pixels.channels = codec_.output_components;
    if (!crop(pixels.left, pixels.width)) return failed();
    pixels.resize();
    if (!readRows(pixels.top, pixels.height, pixels.bytes.data(), pixels.rowBytes())) return failed();
    if (inks) mixInks(pixels, wanted.channels);
    return {};
  }

 private:
  Failure failed() {
    if (created_) jpeg_abort_decompress(&codec_);
    return fail(ErrorCode::invalidInput, std::string("damaged JPEG: ") + errors_.message);
  }

  bool readHeader(const std::uint8_t* bytes, unsigned long size) {
    if (setjmp(errors_.place) != 0) return false;
    jpeg_abort_decompress(&codec_);
    jpeg_mem_src(&codec_, bytes, size);
    jpeg_read_header(&codec_, TRUE);
    return true;
  }

  bool start(const Wanted& wanted, bool inks) {
    if (setjmp(errors_.place) != 0) return false;
    codec_.scale_num = 1;
    codec_.scale_denom = static_cast<unsigned>(wanted.reduce);
    codec_.out_color_space = inks ? JCS_CMYK : wanted.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&codec_);
    return true;
  }

  // Moves the edges outwards to where the library can begin.
  bool crop(int& left, int& width) {
    if (setjmp(errors_.place) != 0) return false;
    if (left == 0 && width == static_cast<int>(codec_.output_width)) return true;
    auto from = static_cast<JDIMENSION>(left), columns = static_cast<JDIMENSION>(width);
    jpeg_crop_scanline(&codec_, &from, &columns);
    left = static_cast<int>(from);
    width = static_cast<int>(columns);
    return true;
  }

  bool readRows(int top, int rows, std::uint8_t* to, std::size_t row_bytes) {
    if (setjmp(errors_.place) != 0) return false;
    if (top > 0) jpeg_skip_scanlines(&codec_, static_cast<JDIMENSION>(top));
    const JDIMENSION end = static_cast<JDIMENSION>(top + rows);
    while (codec_.output_scanline < end) {
      JSAMPROW lines[8];
      const JDIMENSION count = std::min<JDIMENSION>(8, end - codec_.output_scanline);
      const std::size_t done = codec_.output_scanline - static_cast<JDIMENSION>(top);
      for (JDIMENSION i = 0; i < count; ++i) lines[i] = to + (done + i) * row_bytes;
      jpeg_read_scanlines(&codec_, lines, count);
    }
    jpeg_abort_decompress(&codec_);  // without what is below
    return true;
  }

  // Cyan, magenta, yellow and black, stored inverted as Adobe's programs do.
  void mixInks(Pixels& pixels, int channels) const {
    const bool inverted = codec_.saw_Adobe_marker != FALSE;
    const std::size_t count = pixels.bytes.size() / 4;
    const auto wide = static_cast<std::size_t>(channels);
    for (std::size_t i = 0; i < count; ++i) {
      int rgb[3];
      for (std::size_t c = 0; c < 3; ++c) {
        const int ink = pixels.bytes[4 * i + c], black = pixels.bytes[4 * i + 3];
        rgb[c] = inverted ? ink * black / 255 : (255 - ink) * (255 - black) / 255;
      }
      if (channels == 1) rgb[0] = greyOf(rgb[0], rgb[1], rgb[2]);
      for (std::size_t c = 0; c < wide; ++c) pixels.bytes[wide * i + c] = static_cast<std::uint8_t>(rgb[c]);
    }
    pixels.channels = channels;
    pixels.resize();
  }

  JpegErrors errors_{};
  jpeg_decompress_struct codec_{};
  jpeg_progress_mgr monitor_{};
  bool created_ = false;
};

// Writes into memory of the library, which the caller frees.
bool compress(JpegErrors& errors, jpeg_compress_struct& codec, const Pixels& pixels, int quality,
              unsigned char*& bytes, unsigned long& size) {
  if (setjmp(errors.place) != 0) return false;
  jpeg_create_compress(&codec);
  jpeg_mem_dest(&codec, &bytes, &size);
  codec.image_width = static_cast<JDIMENSION>(pixels.width);
  codec.image_height = static_cast<JDIMENSION>(pixels.height);
  codec.input_components = pixels.channels;
  codec.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    auto* line = const_cast<JSAMPROW>(pixels.row(static_cast<int>(codec.next_scanline)));
    jpeg_write_scanlines(&codec, &line, 1);
  }
  jpeg_finish_compress(&codec);
  return true;
}

}  // namespace

std::unique_ptr<Decoder> makeJpegDecoder() { return std::make_unique<JpegDecoder>(); }

Result<std::vector<std::uint8_t>> writeJpeg(const Pixels& pixels, int quality) {
  if (quality < 1 || quality > 100)
    return fail(ErrorCode::invalidInput, "quality " + std::to_string(quality) + ": 1 to 100 are allowed");
  JpegErrors errors{};
  setErrors(errors);
  jpeg_compress_struct codec{};
  codec.err = &errors.base;
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const bool done = compress(errors, codec, pixels, quality, bytes, size);
  jpeg_destroy_compress(&codec);
  std::vector<std::uint8_t> file;
  if (done) file.assign(bytes, bytes + size);
  std::free(bytes);
  if (!done)
    return fail(ErrorCode::invalidInput, std::string("cannot be written as JPEG: ") + errors.message);
  return file;
}

}  // namespace pitwall::data
