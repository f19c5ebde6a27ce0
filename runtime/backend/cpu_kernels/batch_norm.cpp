// BatchNorm in training, with a relu or without. A group of channels is read for its statistics and at once again for its result, which
// for most sizes is then in a cache. The gradient of a relu follows from the data, so that no array is kept for it. Compiled for
// three instruction sets; the processor's best is taken when a kernel is made.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"

#define PITWALL_INLINE inline __attribute__((always_inline))

namespace pitwall::cpu_kernels {
namespace {

constexpr std::int64_t kMostGroupChannels = 64;

// Channels that are computed together. Row n of group g begins at n * row_stride + g * group_stride; it has `pixels` times `lanes`
// elements, of channels side by side, or of one.
struct NormGroups {
  std::int64_t rows, groups, row_stride, group_stride, pixels, lanes, channels;

  std::int64_t firstChannel(std::int64_t group) const { return group * lanes; }
  // Without those that are padding.
  std::int64_t channelsOf(std::int64_t group) const { return std::min(lanes, channels - group * lanes); }
  std::int64_t perChannel() const { return rows * pixels; }
};

// A part of the rows of a group.
struct NormPart {
  std::int64_t group, begin, end;
};

// Of the channels of a group; where it has one channel, the same number for each.
//   forward:  y = (x - mean) scale + shift
//   backward: dx = scale (dy - through - (x - mean) by_normal), where the relu lets dy through
using GroupNumbers = std::array<float, kMostGroupChannels>;
struct NormConstants {
  GroupNumbers mean{}, scale{}, shift{}, through{}, by_normal{};
};
struct NormSums {
  std::array<double, kMostGroupChannels> first{}, second{};
};

struct NormArrays {
  const float *x, *dy;  // dy: of the gradient
  float* to;
  float floor;  // of y: 0 with a relu
};

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

// Channels last: a row is a pixel. The vectors of all channels at once, or those that the last group has.
template <int kWidth, class Compute>
PITWALL_INLINE void stripsOfPixels(const NormGroups& z, const NormPart& p, const Compute& compute) {
  const std::int64_t at = p.begin * z.row_stride + p.group * z.group_stride, rows = p.end - p.begin,
                     channels = z.channelsOf(p.group);
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

enum class NormStage { sumDifferences, normalise, sumSlopes, slope };
struct NormWork {
  NormStage stage;
  const NormGroups& z;
  NormPart part;
  const NormArrays& arrays;
  const NormConstants& own;
  NormSums& sums;
};

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

using NormFunction = void (*)(const NormWork&);
NormFunction bestNorm() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return runNormAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return runNormAvx2;
#endif
  return runNormAnywhere;
}

// --- The passes ---

std::optional<NormGroups> groupsOf(const TensorSpec& data) {
  const Shape& shape = data.shape;
  const std::int64_t batch = shape[0], channels = shape[1], pixels = shape.elements() / (batch * channels);
  const std::int64_t together = data.layout != nullptr ? data.layout->channelsTogether()
                                : pixels == 1          ? channels
                                                       : 1;
  if (together == channels && (pixels == 1 || channels > 1)) {
    const std::int64_t lanes = std::min(channels, kMostGroupChannels);
    return NormGroups{batch * pixels, (channels + lanes - 1) / lanes, channels, lanes, 1, lanes, channels};
  }
  if (together != 1 && together != 8 && together != 16) return std::nullopt;
  const std::int64_t groups = (channels + together - 1) / together, each = pixels * together;
  return NormGroups{batch, groups, groups * each, each, pixels, together, channels};
}

class TrainingNorm {
 public:
  TrainingNorm(const BatchNormDesc& desc, Pass pass, const NormGroups& groups, std::int64_t parallel_elements)
      : d_(desc), backward_(pass == Pass::backward), z_(groups), parallel_elements_(parallel_elements) {}

  Bytes workspaceBytes() const { return mostParts() * sumsOfPart() * static_cast<Bytes>(sizeof(double)); }

  Status run(const KernelArgs& a) const {
    const NormArrays arrays{input(a, 0), backward_ ? input(a, 4) : nullptr, output(a, 0),
                            d_.relu ? 0 : -std::numeric_limits<float>::infinity()};
    const std::int64_t parts = partsFor(a.context.threads), rows = (z_.rows + parts - 1) / parts;
    const auto part = [&](std::int64_t unit) {
      const std::int64_t at = unit / z_.groups * rows;
      return NormPart{unit % z_.groups, std::min(z_.rows, at), std::min(z_.rows, at + rows)};
    };
    const auto over = [&](std::int64_t units, auto body) {
      parallelFor(units, Split::ofRows(parallel_elements_, z_.perChannel() * z_.lanes, a),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t unit = begin; unit < end; ++unit) body(unit);
                  });
    };
    if (parts == 1) {
      over(z_.groups, [&](std::int64_t unit) {
        sum(a, arrays, part(unit), 0);
        finish(a, unit, 1);
        map(a, arrays, part(unit));
      });
      return {};
    }
    over(z_.groups * parts, [&](std::int64_t unit) { sum(a, arrays, part(unit), unit / z_.groups); });
    for (std::int64_t group = 0; group < z_.groups; ++group) finish(a, group, parts);
    over(z_.groups * parts, [&](std::int64_t unit) { map(a, arrays, part(unit)); });
    return {};
  }

 private:
  bool sumsUp() const { return backward_ || !d_.use_global_stats; }
  std::int64_t sumsOfPart() const { return z_.groups * z_.lanes * 2; }
  std::int64_t mostParts() const { return std::clamp<std::int64_t>(256 / z_.groups, 1, z_.rows); }

  // One where the groups alone keep all threads busy.
  std::int64_t partsFor(int threads) const {
    if (threads <= 1 || z_.groups % threads == 0 || z_.groups >= 4 * threads) return 1;
    return std::clamp<std::int64_t>((4 * threads + z_.groups - 1) / z_.groups, 1, mostParts());
  }

  // Two numbers for each channel of the group.
  double* sumsAt(const KernelArgs& a, std::int64_t group, std::int64_t part) const {
    return static_cast<double*>(a.context.workspace) + part * sumsOfPart() + group * z_.lanes * 2;
  }

  void sum(const KernelArgs& a, const NormArrays& arrays, const NormPart& part, std::int64_t number) const {
    if (!sumsUp()) return;
    NormSums sums;
    const NormConstants own =
        backward_ ? constants(a, part.group, nullptr) : firstElements(arrays, part.group);
    best_({backward_ ? NormStage::sumSlopes : NormStage::sumDifferences, z_, part, arrays, own, sums});
    double* const to = sumsAt(a, part.group, number);
    std::fill_n(to, z_.lanes * 2, 0.0);
    const std::size_t lanes = static_cast<std::size_t>(z_.lanes);
    for (std::size_t lane = 0; lane < sums.first.size(); ++lane) {
      const std::size_t channel = lanes == 1 ? 0 : lane;  // the lanes of one channel together
      if (channel >= lanes) break;
      to[2 * channel] += sums.first[lane];
      to[2 * channel + 1] += sums.second[lane];
    }
  }

  NormConstants firstElements(const NormArrays& arrays, std::int64_t group) const {
    NormConstants own;
    eachLane(group, [&](std::size_t lane, std::int64_t c) {
      own.mean[lane] = arrays.x[group * z_.group_stride + c - z_.firstChannel(group)];
    });
    return own;
  }

  // Adds up the parts, in the place of the first, and writes what has an element for each channel.
  void finish(const KernelArgs& a, std::int64_t group, std::int64_t parts) const {
    const std::int64_t first = z_.firstChannel(group);
    for (std::int64_t i = 0; i < z_.channelsOf(group); ++i) {
      double* const sums = sumsAt(a, group, 0) + 2 * i;
      for (std::int64_t part = 1; part < parts && sumsUp(); ++part) {
        sums[0] += sumsAt(a, group, part)[2 * i];
        sums[1] += sumsAt(a, group, part)[2 * i + 1];
      }
      const std::int64_t c = first + i;
      if (backward_) {
        sums[1] /= std::sqrt(static_cast<double>(input(a, 3)[c]) + static_cast<double>(d_.epsilon));
        output(a, 1)[c] = d_.fix_gamma ? 0 : static_cast<float>(sums[1]);
        output(a, 2)[c] = static_cast<float>(sums[0]);
      } else if (d_.use_global_stats) {
        output(a, 1)[c] = output(a, 3)[c];
        output(a, 2)[c] = output(a, 4)[c];
      } else {
        const double count = static_cast<double>(z_.perChannel()), centre = sums[0] / count;
        const float at_first = input(a, 0)[group * z_.group_stride + i];
        blend(a, c, static_cast<double>(at_first) + centre, std::max(0.0, sums[1] / count - centre * centre));
      }
    }
  }

  // r = momentum * r + (1 - momentum) * batch
  void blend(const KernelArgs& a, std::int64_t c, double mean, double variance) const {
    const double m = static_cast<double>(d_.momentum);
    const auto toward = [m](float& running, double batch) {
      running = static_cast<float>(m * static_cast<double>(running) + (1 - m) * batch);
    };
    output(a, 1)[c] = static_cast<float>(mean);
    output(a, 2)[c] = static_cast<float>(variance);
    toward(output(a, 3)[c], mean);
    toward(output(a, 4)[c], variance);
  }

  void map(const KernelArgs& a, const NormArrays& arrays, const NormPart& part) const {
    NormSums none;
    best_({backward_ ? NormStage::slope : NormStage::normalise, z_, part, arrays,
           constants(a, part.group, sumsAt(a, part.group, 0)), none});
  }

  // Calls visit(lane, channel); padding has no channel, and its numbers stay 0.
  template <class Visit>
  void eachLane(std::int64_t group, Visit visit) const {
    const std::int64_t lanes = z_.lanes == 1 ? kMostGroupChannels : z_.channelsOf(group);
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      visit(static_cast<std::size_t>(lane), z_.firstChannel(group) + (z_.lanes == 1 ? 0 : lane));
  }

  // `sums`: finished; null before, when `through` and `by_normal` are not known.
  NormConstants constants(const KernelArgs& a, std::int64_t group, const double* sums) const {
    NormConstants own;
    const float* mean = backward_ ? input(a, 2) : output(a, 1);
    const float* variance = backward_ ? input(a, 3) : output(a, 2);
    const float* beta = !backward_ ? input(a, 2) : d_.relu ? input(a, 5) : nullptr;
    const double share = 1 / static_cast<double>(z_.perChannel());
    eachLane(group, [&](std::size_t lane, std::int64_t c) {
      const double inverse =
          1 / std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(d_.epsilon));
      own.mean[lane] = mean[c];
      own.scale[lane] =
          static_cast<float>((d_.fix_gamma ? 1 : static_cast<double>(input(a, 1)[c])) * inverse);
      own.shift[lane] = beta != nullptr ? beta[c] : 0;
      // Mean and variance depend on the data, unless they are the running ones.
      if (!backward_ || d_.use_global_stats || sums == nullptr) return;
      const std::int64_t i = 2 * (c - z_.firstChannel(group));
      own.through[lane] = static_cast<float>(sums[i] * share);
      own.by_normal[lane] = static_cast<float>(sums[i + 1] * share * inverse);
    });
    return own;
  }

  const BatchNormDesc d_;
  const bool backward_;
  const NormGroups z_;
  const std::int64_t parallel_elements_;
  const NormFunction best_ = bestNorm();
};

}  // namespace

RunFunction make(const BatchNormDesc& desc, const Request& r, Signature& s) {
  const TensorSpec& data = r.inputs[0];
  if (r.pass == Pass::inference || data.dtype != DType::float32) return nullptr;
  auto groups = groupsOf(data);
  const LayoutPtr layout = groups ? data.layout : nullptr;
  if (!groups) groups = groupsOf(s.inputs[0]);  // row-major
  s.inputs[0].layout = s.outputs[0].layout = layout;
  if (r.pass == Pass::backward) s.inputs[4].layout = layout;
  const TrainingNorm norm(desc, r.pass, *groups, r.options.parallel_elements);
  s.workspace_bytes = norm.workspaceBytes();
  return [norm](const KernelArgs& a) { return norm.run(a); };
}

}  // namespace pitwall::cpu_kernels

#undef PITWALL_INLINE
