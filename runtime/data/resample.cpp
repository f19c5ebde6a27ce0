// Each axis alone: first all rows that a row of the result needs are mixed, which is done for whole rows at once, then
// the columns of the mixed row. Linear sampling, the usual one, uses integers.
#include "runtime/data/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pitwall::data {
namespace {

double support(Filter filter) {
  switch (filter) {
    case Filter::nearest: return 0.5;
    case Filter::cubic: return 2;
    case Filter::lanczos: return 4;
    case Filter::linear:
    case Filter::area: break;
  }
  return 1;
}

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return std::abs(x) < 1e-9 ? 1 : std::sin(angle) / angle;
}

// Of a pixel at distance `x`. Keys' kernel with a = -0.75, and Lanczos of 4, as OpenCV has them.
double kernel(Filter filter, double x) {
  x = std::abs(x);
  if (filter == Filter::cubic) {
    constexpr double a = -0.75;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }
  if (filter == Filter::lanczos) return x < 4 ? sinc(x) * sinc(x / 4) : 0;
  return std::max(0.0, 1 - x);
}

// The share of each pixel in [from, to).
void areaTaps(double from, double to, int count, int* index, float* weight) {
  const int first = static_cast<int>(std::floor(from));
  for (int t = 0; t < count; ++t) {
    const double overlap = std::min(to, first + t + 1.0) - std::max(from, static_cast<double>(first + t));
    index[t] = first + t;
    weight[t] = static_cast<float>(std::max(0.0, overlap) / (to - from));
  }
}

void kernelTaps(Filter filter, double centre, int count, int* index, float* weight) {
  const int first = count == 1 ? static_cast<int>(std::floor(centre))
                               : static_cast<int>(std::floor(centre - 0.5)) - count / 2 + 1;
  double sum = 0;
  for (int t = 0; t < count; ++t) {
    index[t] = first + t;
    const double share = count == 1 ? 1 : kernel(filter, first + t + 0.5 - centre);
    weight[t] = static_cast<float>(share);
    sum += share;
  }
  for (int t = 0; t < count; ++t) weight[t] = static_cast<float>(weight[t] / sum);
}

std::uint8_t toByte(float value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F)); }

// Of 256: the weight of the second of two pixels.
std::uint16_t fractionOf(float weight) { return static_cast<std::uint16_t>(weight * 256 + 0.5F); }

void mixRows(const std::uint8_t* a, const std::uint8_t* b, unsigned fraction, std::size_t count,
             std::uint16_t* to) {
  const auto second = static_cast<std::uint16_t>(fraction),
             first = static_cast<std::uint16_t>(256 - fraction);
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint16_t>(a[i] * first + b[i] * second);
}

// The weights of both pixels, of 256: the second's in the upper half, as vectors of 16-bit numbers have them.
std::uint32_t weightsOf(float second) {
  const std::uint32_t fraction = fractionOf(second);
  return fraction << 16U | (256 - fraction);
}

template <int kChannels>
void mixColumns(const std::uint16_t* row, const int* offsets, const std::uint32_t* weights, int width,
                std::uint8_t* to) {
  for (int x = 0; x < width; ++x, to += kChannels) {
    const std::uint16_t* const left = row + offsets[2 * x];
    const std::uint16_t* const right = row + offsets[2 * x + 1];
    const unsigned second = weights[x] >> 16U, first = weights[x] & 0xffffU;
    for (int c = 0; c < kChannels; ++c)
      to[c] = static_cast<std::uint8_t>((left[c] * first + right[c] * second + 0x8000U) >> 16U);
  }
}

#if defined(__SSE2__)
// The same for three channels, a pixel at once: a fourth value is read and written with it, and the next pixel's
// overwrites that. Products are of signed numbers, so 32768 is subtracted from the values, and its product added.
template <>
void mixColumns<3>(const std::uint16_t* row, const int* offsets, const std::uint32_t* weights, int width,
                   std::uint8_t* to) {
  const __m128i shift = _mm_set1_epi16(INT16_MIN), back = _mm_set1_epi32((32768 << 8) + 0x8000);
  const auto pixel = [&](int x) {
    const __m128i left = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + offsets[2 * x]));
    const __m128i right = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + offsets[2 * x + 1]));
    const __m128i values = _mm_xor_si128(_mm_unpacklo_epi16(left, right), shift);
    const __m128i both = _mm_set1_epi32(static_cast<int>(weights[x]));
    const __m128i sums = _mm_srli_epi32(_mm_add_epi32(_mm_madd_epi16(values, both), back), 16);
    return _mm_cvtsi128_si32(_mm_packus_epi16(_mm_packs_epi32(sums, sums), sums));
  };
  for (int x = 0; x + 1 < width; ++x, to += 3) {
    const int bytes = pixel(x);
    std::memcpy(to, &bytes, 4);
  }
  const int last = pixel(width - 1);
  std::memcpy(to, &last, 3);
}
#endif

}  // namespace

int reachOf(Filter filter, double scale) {
  const double reach = filter == Filter::area ? std::max(1.0, scale) : support(filter);
  return static_cast<int>(std::ceil(reach)) + 1;
}

void makeTaps(Filter filter, double start, double length, int pixels, int extent, int first, int decoded,
              Taps& taps) {
  const double scale = length / pixels;
  const bool area = filter == Filter::area && scale > 1;
  taps.count =
      area ? static_cast<int>(std::ceil(scale)) + 1 : std::max(1, static_cast<int>(2 * support(filter)));
  const auto size = static_cast<std::size_t>(taps.count) * static_cast<std::size_t>(pixels);
  taps.index.resize(size);
  taps.weight.resize(size);
  for (int i = 0; i < pixels; ++i) {
    int* const index = taps.index.data() + static_cast<std::ptrdiff_t>(i) * taps.count;
    float* const weight = taps.weight.data() + static_cast<std::ptrdiff_t>(i) * taps.count;
    if (area)
      areaTaps(start + i * scale, start + (i + 1) * scale, taps.count, index, weight);
    else
      kernelTaps(filter, start + (i + 0.5) * scale, taps.count, index, weight);
    for (int t = 0; t < taps.count; ++t)
      index[t] = std::clamp(std::clamp(index[t], 0, extent - 1) - first, 0, decoded - 1);
  }
}

void Resampler::run(const Pixels& from, const Box& box, Filter filter, Pixels& to) {
  to.channels = from.channels;
  to.left = to.top = 0;
  to.reduce = 1;
  to.whole = {to.width, to.height};
  to.resize();
  const bool same = box.width == to.width && box.height == to.height && box.left == std::floor(box.left) &&
                    box.top == std::floor(box.top);
  if (same) filter = Filter::nearest;
  makeTaps(filter, box.left, box.width, to.width, from.whole.width, from.left, from.width, columns_);
  makeTaps(filter, box.top, box.height, to.height, from.whole.height, from.top, from.height, rows_);
  const bool inside = box.left >= from.left && box.left + box.width <= from.left + from.width;
  if (same && inside) {
    for (int y = 0; y < to.height; ++y)
      std::memcpy(to.row(y),
                  from.row(rows_.index[static_cast<std::size_t>(y)]) +
                      static_cast<std::ptrdiff_t>(columns_.index[0]) * from.channels,
                  to.rowBytes());
  } else if (filter == Filter::linear && columns_.count == 2 && rows_.count == 2) {
    linear(from, to);
  } else {
    general(from, to);
  }
}

void Resampler::linear(const Pixels& from, Pixels& to) {
  const auto width = static_cast<std::size_t>(to.width);
  offsets_.resize(2 * width);
  weights_.resize(width);
  for (std::size_t i = 0; i < 2 * width; ++i) offsets_[i] = columns_.index[i] * from.channels;
  for (std::size_t i = 0; i < width; ++i) weights_[i] = weightsOf(columns_.weight[2 * i + 1]);
  row_.resize(from.rowBytes() + 1);  // mixColumns() reads one more
  // Only the columns that are needed.
  const auto [least, most] = std::minmax_element(offsets_.begin(), offsets_.end());
  const auto begin = static_cast<std::size_t>(*least), end = static_cast<std::size_t>(*most + from.channels);
  for (int y = 0; y < to.height; ++y) {
    const auto at = 2 * static_cast<std::size_t>(y);
    mixRows(from.row(rows_.index[at]) + begin, from.row(rows_.index[at + 1]) + begin,
            fractionOf(rows_.weight[at + 1]), end - begin, row_.data() + begin);
    if (from.channels == 3)
      mixColumns<3>(row_.data(), offsets_.data(), weights_.data(), to.width, to.row(y));
    else
      mixColumns<1>(row_.data(), offsets_.data(), weights_.data(), to.width, to.row(y));
  }
}

void Resampler::general(const Pixels& from, Pixels& to) {
  const auto channels = static_cast<std::size_t>(from.channels);
  const auto columns = static_cast<std::size_t>(columns_.count), rows = static_cast<std::size_t>(rows_.count);
  sums_.resize(from.rowBytes());
  for (int y = 0; y < to.height; ++y) {
    std::fill(sums_.begin(), sums_.end(), 0.0F);
    for (std::size_t t = 0; t < rows; ++t) {
      const std::size_t at = static_cast<std::size_t>(y) * rows + t;
      const float weight = rows_.weight[at];
      const std::uint8_t* const row = from.row(rows_.index[at]);
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += weight * static_cast<float>(row[i]);
    }
    std::uint8_t* const result = to.row(y);
    for (std::size_t x = 0; x < static_cast<std::size_t>(to.width); ++x) {
      for (std::size_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (std::size_t t = x * columns; t < (x + 1) * columns; ++t)
          sum += columns_.weight[t] * sums_[static_cast<std::size_t>(columns_.index[t]) * channels + c];
        result[x * channels + c] = toByte(sum);
      }
    }
  }
}

void warp(const Pixels& from, const Affine& affine, int fill, Pixels& to) {
  to.channels = from.channels;
  to.left = to.top = 0;
  to.reduce = 1;
  to.whole = {to.width, to.height};
  to.resize();
  const auto sample = [&](int x, int y, int c) {
    if (x < 0 || y < 0 || x >= from.width || y >= from.height) return static_cast<float>(fill);
    return static_cast<float>(from.row(y)[x * from.channels + c]);
  };
  for (int y = 0; y < to.height; ++y) {
    std::uint8_t* result = to.row(y);
    for (int x = 0; x < to.width; ++x) {
      const double u = affine.xx * (x + 0.5) + affine.xy * (y + 0.5) + affine.x0 - 0.5 - from.left;
      const double v = affine.yx * (x + 0.5) + affine.yy * (y + 0.5) + affine.y0 - 0.5 - from.top;
      // Far outside, also where a cast to int would overflow.
      const int left = static_cast<int>(std::floor(std::clamp(u, -2.0, from.width + 1.0)));
      const int top = static_cast<int>(std::floor(std::clamp(v, -2.0, from.height + 1.0)));
      const auto right_share = static_cast<float>(std::clamp(u - left, 0.0, 1.0));
      const auto lower_share = static_cast<float>(std::clamp(v - top, 0.0, 1.0));
      for (int c = 0; c < from.channels; ++c) {
        const float upper = sample(left, top, c) * (1 - right_share) + sample(left + 1, top, c) * right_share;
        const float lower =
            sample(left, top + 1, c) * (1 - right_share) + sample(left + 1, top + 1, c) * right_share;
        *result++ = toByte(upper * (1 - lower_share) + lower * lower_share);
      }
    }
  }
}

}  // namespace pitwall::data
