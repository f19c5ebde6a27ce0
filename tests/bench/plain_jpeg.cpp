#include "tests/bench/plain_jpeg.h"

#include <cstdio>
// After <cstdio>.
#include <jpeglib.h>

#include <vector>

namespace pitwall::bench {

bool decodePlainly(std::span<const std::uint8_t> file) {
  static std::vector<std::uint8_t> pixels;
  jpeg_decompress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);  // ends the program at an error
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&codec, TRUE);
  codec.out_color_space = JCS_RGB;
  jpeg_start_decompress(&codec);
  const std::size_t row = static_cast<std::size_t>(codec.output_width) * 3;
  pixels.resize(row * codec.output_height);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW line = pixels.data() + row * codec.output_scanline;
    jpeg_read_scanlines(&codec, &line, 1);
  }
  jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
  return errors.num_warnings == 0;
}

}  // namespace pitwall::bench
