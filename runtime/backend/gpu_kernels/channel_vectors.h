// Images with channels last, a thread for some neighbouring channels of many pixels: it reads 16 bytes at once, and what it needs of the
// channels only once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/backend/gpu_kernels/channel_sums.h"

namespace pitwall::gpu_kernels {

// Neighbouring elements.
template <class E>
struct alignas(16) Vector {
  static constexpr int kCount = static_cast<int>(16 / sizeof(E));
  E x[kCount];
  PITWALL_DEVICE float operator[](int i) const { return loaded(x[i]); }
};

// As many numbers of channels.
template <class E>
struct OfChannels {
  float x[Vector<E>::kCount];
  PITWALL_DEVICE float operator[](int i) const { return x[i]; }
};

// Which thread computes what.
struct ChannelVectors {
  std::int64_t groups;   // of channels
  std::int64_t count;    // vectors
  std::int64_t threads;  // a multiple of the groups: a thread has the same channels in all its vectors

  // Empty where the channels of a pixel are no whole vectors.
  template <class E>
  static bool fits(const ChannelPlace& p) {
    return p.channels_last && p.channels % Vector<E>::kCount == 0;
  }
  // At most so many threads, with at least so many vectors for each.
  template <class E>
  static ChannelVectors make(const ChannelPlace& p, std::int64_t of_channel, std::int64_t most,
                             std::int64_t least) {
    ChannelVectors z{p.channels / Vector<E>::kCount, 0, 0};
    z.count = z.groups * of_channel;
    const std::int64_t wanted = std::min(most, z.count / least);
    z.threads = std::max<std::int64_t>(wanted / z.groups, 1) * z.groups;
    return z;
  }
  PITWALL_DEVICE std::int64_t firstChannel(std::int64_t thread, int in_vector) const {
    return remainderOf(thread, groups) * in_vector;
  }

  // Vectors that a thread reads before it computes with the first: several reads are under way.
  static constexpr int kTogether = 4;
};

template <class E>
PITWALL_DEVICE Vector<E> vectorAt(const E* array, std::int64_t i) {
  return reinterpret_cast<const Vector<E>*>(array)[i];
}
template <class E>
PITWALL_DEVICE void storeVector(E* array, std::int64_t i, const Vector<E>& v) {
  reinterpret_cast<Vector<E>*>(array)[i] = v;
}

// The sums of parts of each channel, as PartSum writes them, of vectors of channels. A Term has
//   Own of(channel)                     what it needs of its channels
//   Read read(i)                        vector i of the arrays
//   add(own, read, sums)                adds it to sums[s][channel]
template <class E, int kSumsOfEach, class Term>
struct VectorPartSums {
  static constexpr int kSums = kSumsOfEach, kWidth = Vector<E>::kCount;
  using Few = float;
  std::int64_t groups, channels, parts;  // groups: vectors of a pixel
  Term term;
  double* into;

  PITWALL_DEVICE auto of(std::int64_t group) const { return term.of(group * kWidth); }
  PITWALL_DEVICE auto read(std::int64_t pixel, std::int64_t group) const {
    return term.read(pixel * groups + group);
  }
  template <class Own, class Read>
  PITWALL_DEVICE void add(const Own& own, const Read& read, float (&sums)[kSums][kWidth]) const {
    term.add(own, read, sums);
  }
  PITWALL_DEVICE void done(std::int64_t part, std::int64_t channel, const double (&sums)[kSums]) const {
    for (int s = 0; s < kSums; ++s) into[(s * parts + part) * channels + channel] = sums[s];
  }
};

// An array of the same vectors of others. A Map has Own of(channel), Read read(i), and Vector<E> result(own, read).
template <class E, class Map>
struct VectorMap {
  ChannelVectors z;
  Map map;
  E* to;
  PITWALL_DEVICE void operator()(std::int64_t t) const {
    constexpr int kTogether = ChannelVectors::kTogether;
    const auto own = map.of(z.firstChannel(t, Vector<E>::kCount));
    std::int64_t i = t;
    for (; i + (kTogether - 1) * z.threads < z.count; i += kTogether * z.threads) {
      decltype(map.read(t)) read[kTogether];
      for (int k = 0; k < kTogether; ++k) read[k] = map.read(i + k * z.threads);
      for (int k = 0; k < kTogether; ++k) storeVector(to, i + k * z.threads, map.result(own, read[k]));
    }
    for (; i < z.count; i += z.threads) storeVector(to, i, map.result(own, map.read(i)));
  }
};

}  // namespace pitwall::gpu_kernels
