#include "runtime/backend/cpu_kernels/norm_loops.h"

#include <cstring>

#define PITWALL_INLINE inline __attribute__((always_inline))

namespace pitwall::cpu_kernels {
namespace {

// Vectors that follow each other at a distance, kAdjacent of them beside each other.
struct NormStrip {
  std::int64_t offset, count, stride;
  std::size_t lane;  // of the group
};

template <int kWidth>
struct NormVectorOf {
  using Type __attribute__((vector_size(kWidth * sizeof(float)))) = float;
};
template <>
struct NormVectorOf<1> {
  using Type = float;
};
template <int kWidth>
using NormVector = typename NormVectorOf<kWidth>::Type;

template <int kWidth>
struct NormLanes {
  static constexpr int kLanes = kWidth;
  using Vector = NormVector<kWidth>;
  static PITWALL_INLINE void load(const float* from, Vector& to) { std::memcpy(&to, from, sizeof to); }
  static PITWALL_INLINE void store(const Vector& from, float* to) { std::memcpy(to, &from, sizeof from); }
  static PITWALL_INLINE void addTo(double* sums, const Vector& v) {
    float each[kWidth];
    store(v, each);
    for (int i = 0; i < kWidth; ++i) sums[i] += static_cast<double>(each[i]);
  }
};

// --- What is computed of a strip ---

// Two sums over the elements, in floats over so many of them, then in doubles.
constexpr std::int64_t kSummedInFloats = 256;

template <class Lanes, int kAdjacent, class Add>
PITWALL_INLINE void sumStrip(const NormStrip& s, NormSums& sums, Add add) {
  typename Lanes::Vector first[kAdjacent], second[kAdjacent];
  for (std::int64_t i = 0; i < s.count;) {
    for (int k = 0; k < kAdjacent; ++k) first[k] = second[k] = typename Lanes::Vector{};
    const std::int64_t end = std::min(s.count, i + kSummedInFloats);
    for (; i < end; ++i)
      for (int k = 0; k < kAdjacent; ++k)
        add(k, s.offset + i * s.stride + k * Lanes::kLanes, first[k], second[k]);
    for (int k = 0; k < kAdjacent; ++k) {
      const std::size_t lane = s.lane + static_cast<std::size_t>(k * Lanes::kLanes);
      Lanes::addTo(&sums.first[lane], first[k]);
      Lanes::addTo(&sums.second[lane], second[k]);
    }
  }
}

template <class Lanes, int kAdjacent>
struct StripNumbers {
  typename Lanes::Vector of[kAdjacent];
  PITWALL_INLINE StripNumbers(const GroupNumbers& numbers, const NormStrip& s) {
    for (int k = 0; k < kAdjacent; ++k)
      Lanes::load(&numbers[s.lane + static_cast<std::size_t>(k * Lanes::kLanes)], of[k]);
  }
};

// Sums of the differences to one element of the channel (in `mean`), and of their squares: the variance then does not vanish beside a
// large mean.
struct SumDifferences {
  const NormArrays& a;
  const NormConstants& own;
  NormSums& sums;
  template <class Lanes, int kAdjacent>
  PITWALL_INLINE void strip(const NormStrip& s) const {
    const StripNumbers<Lanes, kAdjacent> first(own.mean, s);
    using V = typename Lanes::Vector;
    sumStrip<Lanes, kAdjacent>(s, sums, [&](int k, std::int64_t at, V& sum, V& squares) {
      V x;
      Lanes::load(a.x + at, x);
      x -= first.of[k];
      sum += x;
      squares += x * x;
    });
  }
};

struct Normalise {
  const NormArrays& a;
  const NormConstants& own;
  template <class Lanes, int kAdjacent>
  PITWALL_INLINE void strip(const NormStrip& s) const {
    const StripNumbers<Lanes, kAdjacent> mean(own.mean, s), scale(own.scale, s), shift(own.shift, s);
    const typename Lanes::Vector floor = typename Lanes::Vector{} + a.floor;
    for (std::int64_t i = 0; i < s.count; ++i) {
      for (int k = 0; k < kAdjacent; ++k) {
        const std::int64_t at = s.offset + i * s.stride + k * Lanes::kLanes;
        typename Lanes::Vector x;
        Lanes::load(a.x + at, x);
        x = (x - mean.of[k]) * scale.of[k] + shift.of[k];
        x = x < floor ? floor : x;
        Lanes::store(x, a.to + at);
      }
    }
  }
};

// Of the gradient that the relu lets through: its sum, and that of its product with the centred data.
struct SumSlopes {
  const NormArrays& a;
  const NormConstants& own;
  NormSums& sums;
  template <class Lanes, int kAdjacent>
  PITWALL_INLINE void strip(const NormStrip& s) const {
    const StripNumbers<Lanes, kAdjacent> mean(own.mean, s), scale(own.scale, s), shift(own.shift, s);
    using V = typename Lanes::Vector;
    const V floor = V{} + a.floor, none{};
    sumStrip<Lanes, kAdjacent>(s, sums, [&](int k, std::int64_t at, V& sum, V& products) {
      V x, dy;
      Lanes::load(a.x + at, x);
      Lanes::load(a.dy + at, dy);
      x -= mean.of[k];
      dy = x * scale.of[k] + shift.of[k] > floor ? dy : none;
      sum += dy;
      products += dy * x;
    });
  }
};

struct Slope {
  const NormArrays& a;
  const NormConstants& own;
  template <class Lanes, int kAdjacent>
  PITWALL_INLINE void strip(const NormStrip& s) const {
    const StripNumbers<Lanes, kAdjacent> mean(own.mean, s), scale(own.scale, s), shift(own.shift, s),
        through(own.through, s), by_normal(own.by_normal, s);
    using V = typename Lanes::Vector;
    const V floor = V{} + a.floor, none{};
    for (std::int64_t i = 0; i < s.count; ++i) {
      for (int k = 0; k < kAdjacent; ++k) {
        const std::int64_t at = s.offset + i * s.stride + k * Lanes::kLanes;
        V x, dy;
        Lanes::load(a.x + at, x);
        Lanes::load(a.dy + at, dy);
        x -= mean.of[k];
        dy = x * scale.of[k] + shift.of[k] > floor ? dy : none;
        dy = scale.of[k] * (dy - through.of[k] - x * by_normal.of[k]);
        Lanes::store(dy, a.to + at);
      }
    }
  }
};

// --- The strips of a part ---

// Row by row: vectors of one channel, and what is left of the row.
template <int kWidth, class Compute>
PITWALL_INLINE void stripsOfOneChannel(const NormGroups& z, const NormPart& p, const Compute& compute) {
  const std::int64_t vectors = z.pixels / kWidth, done = vectors * kWidth;
  for (std::int64_t n = p.begin; n < p.end; ++n) {
    const std::int64_t at = n * z.row_stride + p.group * z.group_stride;
    compute.template strip<NormLanes<kWidth>, 1>({at, vectors, kWidth, 0});
    compute.template strip<NormLanes<1>, 1>({at + done, z.pixels - done, 1, 0});
  }
}

// Channels in blocks: all pixels of a row.
template <int kWidth, int kAdjacent, class Compute>
PITWALL_INLINE void stripsOfBlocks(const NormGroups& z, const NormPart& p, const Compute& compute) {
  for (std::int64_t n = p.begin; n < p.end; ++n)
    compute.template strip<NormLanes<kWidth>, kAdjacent>(
        {n * z.row_stride + p.group * z.group_stride, z.pixels, z.lanes, 0});
}

// A row is a pixel, as where channels are last. The vectors of all channels at once, or those that the last group has in memory.
template <int kWidth, class Compute>
PITWALL_INLINE void stripsOfPixels(const NormGroups& z, const NormPart& p, const Compute& compute) {
  const std::int64_t at = p.begin * z.row_stride + p.group * z.group_stride, rows = p.end - p.begin,
                     channels = std::min(z.lanes, z.row_stride - p.group * z.lanes);
  constexpr int kAll = static_cast<int>(kMostGroupChannels) / kWidth;
  if (channels == kMostGroupChannels)
    return compute.template strip<NormLanes<kWidth>, kAll>({at, rows, z.row_stride, 0});
  std::int64_t c = 0;
  for (; c + kWidth <= channels; c += kWidth)
    compute.template strip<NormLanes<kWidth>, 1>({at + c, rows, z.row_stride, static_cast<std::size_t>(c)});
  for (; c < channels; ++c)
    compute.template strip<NormLanes<1>, 1>({at + c, rows, z.row_stride, static_cast<std::size_t>(c)});
}

template <int kWidth, class Compute>
PITWALL_INLINE void stripsOf(const NormGroups& z, const NormPart& p, const Compute& compute) {
  constexpr int kOf8 = std::min(kWidth, 8);
  if (z.lanes == 1) return stripsOfOneChannel<kWidth>(z, p, compute);
  if (z.pixels == 1) return stripsOfPixels<kWidth>(z, p, compute);
  if (z.lanes == 16) return stripsOfBlocks<kWidth, 16 / kWidth>(z, p, compute);
  stripsOfBlocks<kOf8, 8 / kOf8>(z, p, compute);
}

template <int kWidth>
PITWALL_INLINE void runNorm(const NormWork& w) {
  switch (w.stage) {
    case NormStage::sumDifferences:
      return stripsOf<kWidth>(w.z, w.part, SumDifferences{w.arrays, w.own, w.sums});
    case NormStage::normalise: return stripsOf<kWidth>(w.z, w.part, Normalise{w.arrays, w.own});
    case NormStage::sumSlopes: return stripsOf<kWidth>(w.z, w.part, SumSlopes{w.arrays, w.own, w.sums});
    case NormStage::slope: return stripsOf<kWidth>(w.z, w.part, Slope{w.arrays, w.own});
  }
}

void runNormAnywhere(const NormWork& work) { runNorm<4>(work); }
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void runNormAvx2(const NormWork& work) { runNorm<8>(work); }
__attribute__((target("avx512f,avx512dq,avx2,fma"))) void runNormAvx512(const NormWork& work) {
  runNorm<16>(work);
}
#endif

}  // namespace

std::vector<NormFunction> normFunctions() {
  std::vector<NormFunction> functions;
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    functions.push_back(runNormAvx512);
  if (has_avx2) functions.push_back(runNormAvx2);
#endif
  functions.push_back(runNormAnywhere);
  return functions;
}

}  // namespace pitwall::cpu_kernels

#undef PITWALL_INLINE
