// A window that slides over the axes after batch and channels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/graph/named/parts.h"

namespace pitwall::graph {

inline constexpr std::int64_t kLargestWindow = 1 << 20;
inline constexpr const char* kLayouts = "NCW|NCHW|NCDHW|NWC|NHWC|NDHWC";

struct WindowAttributes {
  std::vector<std::int64_t> kernel, stride, pad, dilate;
  int rank() const { return static_cast<int>(kernel.size()); }
};

// Of kernel, stride, pad and, where the operator has it, dilate.
Result<WindowAttributes> windowAttributes(const AttributeReader& read, bool dilated);

// A tuple with a value for each axis of the kernel; an empty one is filled.
Result<std::vector<std::int64_t>> perAxis(const AttributeReader& read, const char* name, std::size_t axes,
                                          std::int64_t standard);

// Channels must be axis 1.
Status checkLayout(const AttributeReader& read);
// Batch, channels, and one axis for each of the window's.
Status checkImages(const std::optional<Shape>& shape, const WindowAttributes& window, const char* name);

// The elements that a window covers.
std::int64_t windowReach(const WindowAttributes& window, std::size_t i);
// Its steps over `data` elements; 0 while that is unknown. `full`: also one that ends outside.
Result<std::int64_t> windowSteps(const WindowAttributes& window, std::size_t i, std::int64_t data, bool full);

// The last two numbers of a Desc's window; of one axis, `leading` and its value.
std::array<std::int64_t, 2> twoAxes(const std::vector<std::int64_t>& values, std::int64_t leading);

}  // namespace pitwall::graph
