// Without libwebp.
#include "runtime/data/decode/decoder.h"

namespace pitwall::data {

std::unique_ptr<Decoder> makeWebpDecoder() { return nullptr; }

}  // namespace pitwall::data
