#include "runtime/data/store_planes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pitwall::data {
namespace {

// Pixels from `begin` on of one row. All channels of a pixel at once: the image is read once. `line` is the row of the
// first plane.
template <int kChannels, class Value, class ValueOf>
void storeRow(const std::uint8_t* row, int begin, int width, bool mirror, std::ptrdiff_t plane, Value* line,
              ValueOf valueOf) {
  for (std::ptrdiff_t x = begin; x < width; ++x) {
    const std::ptrdiff_t at = mirror ? width - 1 - x : x;
    for (int c = 0; c < kChannels; ++c) line[c * plane + at] = valueOf(c, row[x * kChannels + c]);
  }
}

#if defined(__SSE2__)
// Four pixels at once, as long as four bytes follow them in the row: returns where it ended.
int storeColors(const std::uint8_t* row, int width, bool mirror, std::ptrdiff_t plane,
                const ChannelScale& scale, float* line) {
  const __m128 mean = _mm_setr_ps(scale.mean[0], scale.mean[1], scale.mean[2], 0);
  const __m128 factor = _mm_setr_ps(scale.factor[0], scale.factor[1], scale.factor[2], 0);
  const __m128i zero = _mm_setzero_si128();
  const auto values = [&](__m128i bytes) {
    const __m128i numbers = _mm_unpacklo_epi16(_mm_unpacklo_epi8(bytes, zero), zero);
    return _mm_mul_ps(_mm_sub_ps(_mm_cvtepi32_ps(numbers), mean), factor);
  };
  int x = 0;
  for (; x + 6 <= width; x += 4) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 3 * x));
    __m128 a = values(bytes), b = values(_mm_srli_si128(bytes, 3)), c = values(_mm_srli_si128(bytes, 6)),
           d = values(_mm_srli_si128(bytes, 9));
    if (mirror)
      _MM_TRANSPOSE4_PS(d, c, b, a);
    else
      _MM_TRANSPOSE4_PS(a, b, c, d);
    float* const to = line + (mirror ? width - 4 - x : x);
    _mm_storeu_ps(to, mirror ? d : a);
    _mm_storeu_ps(to + plane, mirror ? c : b);
    _mm_storeu_ps(to + 2 * plane, mirror ? b : c);
  }
  return x;
}
#else
int storeColors(const std::uint8_t*, int, bool, std::ptrdiff_t, const ChannelScale&, float*) { return 0; }
#endif

template <class Value, class ValueOf>
void storeRows(const Pixels& pixels, bool mirror, Value* to, ValueOf valueOf) {
  const std::ptrdiff_t plane = std::ptrdiff_t{pixels.width} * pixels.height;
  for (int y = 0; y < pixels.height; ++y, to += pixels.width) {
    if (pixels.channels == 3)
      storeRow<3>(pixels.row(y), 0, pixels.width, mirror, plane, to, valueOf);
    else
      storeRow<1>(pixels.row(y), 0, pixels.width, mirror, plane, to, valueOf);
  }
}

}  // namespace

void storePlanes(const Pixels& pixels, bool mirror, const ChannelScale& scale, float* to) {
  const auto valueOf = [&scale](int c, std::uint8_t value) {
    const auto channel = static_cast<std::size_t>(c);
    return (static_cast<float>(value) - scale.mean[channel]) * scale.factor[channel];
  };
  if (pixels.channels != 3) return storeRows(pixels, mirror, to, valueOf);
  const std::ptrdiff_t plane = std::ptrdiff_t{pixels.width} * pixels.height;
  for (int y = 0; y < pixels.height; ++y, to += pixels.width) {
    const int done = storeColors(pixels.row(y), pixels.width, mirror, plane, scale, to);
    storeRow<3>(pixels.row(y), done, pixels.width, mirror, plane, to, valueOf);
  }
}

void storePlanes(const Pixels& pixels, bool mirror, std::uint8_t* to) {
  storeRows(pixels, mirror, to, [](int, std::uint8_t value) { return value; });
}

}  // namespace pitwall::data
