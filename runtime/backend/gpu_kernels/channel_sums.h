// Sums of each channel of images, or of each column of a matrix, in two steps: of parts of the pixels, then of the parts. So many
// threads work also where there are few channels, and neighbouring threads read neighbouring numbers: with channels last each
// sums another channel, else a team sums neighbouring pixels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/backend/gpu_kernels/column_sums.h"
#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/launch.h"

namespace pitwall::gpu_kernels {

// Where the elements of a channel are. `pixels`: of one image.
struct ChannelPlace {
  std::int64_t channels, pixels;
  bool channels_last;
  PITWALL_DEVICE std::int64_t at(std::int64_t channel, std::int64_t i) const {
    if (channels_last) return i * channels + channel;
    return (quotientOf(i, pixels) * channels + channel) * pixels + remainderOf(i, pixels);
  }
  PITWALL_DEVICE std::int64_t channelOf(std::int64_t i) const {
    return channels_last ? remainderOf(i, channels) : remainderOf(quotientOf(i, pixels), channels);
  }
};

struct ChannelParts {
  ChannelPlace place;
  std::int64_t count;  // elements of a channel
  std::int64_t parts;

  ChannelParts(const ChannelPlace& channels_at, std::int64_t of_channel)
      : place(channels_at), count(of_channel), parts(partsFor(channels_at, of_channel)) {}

  // Of the sums of parts, for so many sums of each channel.
  Bytes sizeBytes(std::int64_t sums) const { return parts * place.channels * sums * 8; }

 private:
  // Enough threads to keep a large GPU busy, and so many elements for each that the second step is short.
  static std::int64_t partsFor(const ChannelPlace& p, std::int64_t count) {
    const std::int64_t wanted = p.channels_last ? 1 << 18 : 1 << 11, least = p.channels_last ? 16 : 2048;
    return std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(p.channels, 1), 1,
                                    std::max<std::int64_t>(count / least, 1));
  }
};

// A thread for each part of each channel.
template <int kSums, class Term>
struct PartSum {
  ChannelParts z;
  Term term;
  double* into;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t part = quotientOf(i, z.place.channels), channel = remainderOf(i, z.place.channels);
    double sums[kSums] = {};
    for (std::int64_t k = part; k < z.count; k += z.parts) term(z.place.at(channel, k), channel, sums);
    for (int s = 0; s < kSums; ++s) into[s * z.parts * z.place.channels + i] = sums[s];
  }
};

// A team for each.
template <int kSums, class Term>
struct TeamPartSum {
  ChannelParts z;
  Term term;
  double* into;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t i) const {
    const std::int64_t part = quotientOf(i, z.place.channels), channel = remainderOf(i, z.place.channels);
    const std::int64_t each = (z.count + z.parts - 1) / z.parts, first = part * each,
                       end = first + each < z.count ? first + each : z.count;
    for (int s = 0; s < kSums; ++s) {
      const double sum = team.sum(end > first ? end - first : 0, [=, this](std::int64_t k) {
        double sums[kSums] = {};
        term(z.place.at(channel, first + k), channel, sums);
        return sums[s];
      });
      if (team.isFirst()) into[s * z.parts * z.place.channels + i] = sum;
    }
  }
};

// term(i, channel, sums) adds element i to its channel's `kSums` sums.
template <int kSums, class L, class Term>
void sumParts(L& launch, const ChannelParts& z, const Term& term, double* into) {
  const std::int64_t n = z.parts * z.place.channels;
  if (z.place.channels_last)
    launch.each(n, PartSum<kSums, Term>{z, term, into});
  else
    launch.rows(n, z.count / z.parts, TeamPartSum<kSums, Term>{z, term, into});
}

template <class E>
struct ChannelValue {
  In<E> x;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t, double* sums) const {
    sums[0] += static_cast<double>(x[i]);
  }
};

template <class E>
struct StoreTotal {
  E* to;
  PITWALL_DEVICE void operator()(std::int64_t channel, const double (&sums)[1]) const {
    to[channel] = stored<E>(static_cast<float>(sums[0]));
  }
};

// The sum of each channel, such as the gradient of a bias. The workspace has z.sizeBytes(1).
template <class E, class L>
void sumChannels(L& launch, const ChannelParts& z, In<E> from, void* workspace, E* to) {
  auto* const parts = static_cast<double*>(workspace);
  sumParts<1>(launch, z, ChannelValue<E>{from}, parts);
  totalParts<1>(launch, z.place.channels, z.parts, parts, StoreTotal<E>{to});
}

}  // namespace pitwall::gpu_kernels
