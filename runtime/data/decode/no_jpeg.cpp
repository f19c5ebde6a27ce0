// Without libjpeg-turbo.
#include "runtime/data/decode/decoder.h"

namespace pitwall::data {

std::unique_ptr<Decoder> makeJpegDecoder() { return nullptr; }

Result<std::vector<std::uint8_t>> writeJpeg(const Pixels&, int) {
  return fail(ErrorCode::unsupported,
              "this build cannot write JPEG: install libjpeg62-turbo-dev, then configure and build again");
}

}  // namespace pitwall::data
