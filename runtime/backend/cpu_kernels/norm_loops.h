// The loops of a BatchNorm in training over the elements of its arrays. Compiled for three instruction sets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace pitwall::cpu_kernels {

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

enum class NormStage { sumDifferences, normalise, sumSlopes, slope };
struct NormWork {
  NormStage stage;
  const NormGroups& z;
  NormPart part;
  const NormArrays& arrays;
  const NormConstants& own;
  NormSums& sums;
};

// Adds to the sums of the work, or writes `to` of its arrays.
using NormFunction = void (*)(const NormWork&);
// For each instruction set that the processor has, the best first.
std::vector<NormFunction> normFunctions();

}  // namespace pitwall::cpu_kernels
