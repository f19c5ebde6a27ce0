// Without libpng.
#include "runtime/data/decode/decoder.h"

namespace pitwall::data {

std::unique_ptr<Decoder> makePngDecoder() { return nullptr; }

Result<std::vector<std::uint8_t>> writePng(const Pixels&) {
  return fail(ErrorCode::unsupported,
              "this build cannot write PNG: install libpng-dev, then configure and build again");
}

}  // namespace pitwall::data
