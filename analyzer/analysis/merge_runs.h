// Puts a list in order that is made of runs which are in order already: the events of one track after those
// of another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pitwall::analysis {

// `bounds` holds where each run begins, and the list's size. Linear in the list times the logarithm of the
// runs; neighbours that follow each other already cost nothing. Equal elements keep their order.
template <typename T, typename Less>
void mergeRuns(std::vector<T>& list, std::vector<std::size_t> bounds, Less less) {
  const auto at = [&list](std::size_t index) { return list.begin() + static_cast<std::ptrdiff_t>(index); };
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());  // of runs that are empty
  while (bounds.size() > 2) {
    std::vector<std::size_t> merged{bounds.front()};
    for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
      const bool pair = i + 2 < bounds.size();
      if (pair && less(list[bounds[i + 1]], list[bounds[i + 1] - 1]))
        std::inplace_merge(at(bounds[i]), at(bounds[i + 1]), at(bounds[i + 2]), less);
      merged.push_back(pair ? bounds[i + 2] : bounds[i + 1]);
    }
    bounds = std::move(merged);
  }
}

}  // namespace pitwall::analysis
