#include "analyzer/analysis/window.h"

#include <algorithm>
#include <utility>

namespace pitwall::analysis {

Window windowOf(const Devices& devices, std::span<const Iteration> iterations) {
  Window window;
  for (const auto& device : devices.all) window.spans.push_back({device.begin_ns, device.end_ns});
  if (window.spans.empty()) {
    const bool any_steady = std::any_of(iterations.begin(), iterations.end(),
                                        [](const Iteration& i) { return i.role == IterationRole::steady; });
    for (const auto& i : iterations) {
      if (!any_steady || i.role == IterationRole::steady) window.spans.push_back({i.start_ns, i.end_ns});
    }
  }
  window.spans = united(std::move(window.spans));
  window.length_ns = covered(window.spans);
  for (const auto& i : iterations) {
    const auto after = std::upper_bound(window.spans.begin(), window.spans.end(), i.start_ns,
                                        [](TimeNs at, const Interval& span) { return at < span.start_ns; });
    window.iterations += after != window.spans.begin() && i.start_ns < std::prev(after)->end_ns;
  }
  window.iterations = std::max<std::int64_t>(1, window.iterations);
  return window;
}

TimeNs coveredWithin(const Window& window, std::span<const Interval> disjoint) {
  return covered(intersect(window.spans, disjoint));
}

}  // namespace pitwall::analysis
