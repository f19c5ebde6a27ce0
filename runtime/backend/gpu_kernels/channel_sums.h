// Sums of each channel of arrays with channels last: a matrix of rows x channels. A thread sums one channel over a part of the rows,
// so that neighbouring threads read neighbouring numbers; the sums of the parts are then added by the caller.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/backend/gpu_kernels/launch.h"

namespace pitwall::gpu_kernels {

struct ChannelParts {
  std::int64_t rows, channels, parts;

  ChannelParts(std::int64_t all_rows, std::int64_t all_channels)
      : rows(all_rows),
        channels(all_channels),
        // Enough threads to keep a large GPU busy, and enough rows for each that the second step is short.
        parts(std::clamp<std::int64_t>(kThreads / std::max<std::int64_t>(all_channels, 1), 1,
                                       std::max<std::int64_t>(all_rows / kRows, 1))) {}

  // Of the sums of parts, for so many sums of each channel.
  Bytes sizeBytes(std::int64_t sums) const { return parts * channels * sums * 8; }

  // The sum of all parts; in each thread of the team.
  template <class Team>
  PITWALL_DEVICE double total(Team& team, const double* of_parts, int which, std::int64_t channel) const {
    const double* const from = of_parts + which * parts * channels + channel;
    return team.sum(parts, [=, this](std::int64_t part) { return from[part * channels]; });
  }

 private:
  static constexpr std::int64_t kThreads = 1 << 18, kRows = 16;
};

template <int kSums, class Term>
struct PartSum {
  ChannelParts z;
  Term term;
  double* into;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t part = quotientOf(i, z.channels), channel = remainderOf(i, z.channels);
    double sums[kSums] = {};
    for (std::int64_t row = part; row < z.rows; row += z.parts)
      term(row * z.channels + channel, channel, sums);
    for (int k = 0; k < kSums; ++k) into[k * z.parts * z.channels + i] = sums[k];
  }
};

// term(i, channel, sums) adds element i to its channel's `kSums` sums.
template <int kSums, class L, class Term>
void sumParts(L& launch, const ChannelParts& z, const Term& term, double* into) {
  launch.each(z.parts * z.channels, PartSum<kSums, Term>{z, term, into});
}

}  // namespace pitwall::gpu_kernels
