#include "runtime/graph/named/window.h"

#include <fmt/format.h>

#include "db/try.h"

namespace pitwall::graph {

// A tuple with a value for each axis of the kernel; an empty one is filled.
Result<std::vector<std::int64_t>> perAxis(const AttributeReader& read, const char* name, std::size_t axes,
                                          std::int64_t standard) {
  std::vector<std::int64_t> values = read.tuple(name);
  if (values.empty()) values.assign(axes, standard);
  if (values.size() != axes)
    return wrong(fmt::format("{} has {} values, kernel has {}", name, values.size(), axes));
  return values;
}

Result<WindowAttributes> windowAttributes(const AttributeReader& read, bool dilated) {
  WindowAttributes window{read.tuple("kernel"), {}, {}, {}};
  const std::size_t axes = window.kernel.size();
  if (axes < 1 || axes > 3) return wrong(fmt::format("kernel has {} values, must have 1 to 3", axes));
  window.stride = PITWALL_TRY(perAxis(read, "stride", axes, 1));
  window.pad = PITWALL_TRY(perAxis(read, "pad", axes, 0));
  window.dilate.assign(axes, 1);
  if (dilated) window.dilate = PITWALL_TRY(perAxis(read, "dilate", axes, 1));
  return window;
}

Status checkImages(const std::optional<Shape>& shape, const WindowAttributes& window, const char* name) {
  if (!shape || shape->rank() == window.rank() + 2) return {};
  return wrong(fmt::format("{} has shape {}, must have {} axes for a kernel of {}", name, shapeText(*shape),
                           window.rank() + 2, window.rank()));
}

std::int64_t windowReach(const WindowAttributes& window, std::size_t i) {
  return window.dilate[i] * (window.kernel[i] - 1) + 1;
}

// The steps of a window over `data` elements; 0 while that is unknown.
Result<std::int64_t> windowSteps(const WindowAttributes& window, std::size_t i, std::int64_t data,
                                 bool full) {
  if (data == 0) return std::int64_t{0};
  const std::int64_t room = data + 2 * window.pad[i] - windowReach(window, i);
  if (room < 0)
    return wrong(fmt::format("a window of {} does not fit into {} elements with {} of padding on both sides",
                             windowReach(window, i), data, window.pad[i]));
  return (room + (full ? window.stride[i] - 1 : 0)) / window.stride[i] + 1;
}

Status checkLayout(const AttributeReader& read) {
  if (read.isNone("layout") || read.choice("layout").substr(0, 2) == "NC") return {};
  return fail(ErrorCode::unsupported,
              fmt::format("layout={}: channels must be axis 1, as in NCHW", read.choice("layout")));
}

std::array<std::int64_t, 2> twoAxes(const std::vector<std::int64_t>& values, std::int64_t leading) {
  if (values.size() == 1) return {leading, values[0]};
  return {values[0], values[1]};
}

}  // namespace pitwall::graph
