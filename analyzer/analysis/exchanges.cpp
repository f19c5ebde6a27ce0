#include "analyzer/analysis/exchanges.h"

#include <algorithm>
#include <vector>

#include "analyzer/analysis/samples.h"

namespace pitwall::analysis {
namespace {

// Of the ends, against the first rank.
TimeNs clockOffset(const NumberedExchanges& first, const NumberedExchanges& other) {
  Samples differences;
  for (const auto& [which, exchange] : first)
    if (const auto found = other.find(which); found != other.end())
      differences.add(found->second->time.end_ns - exchange->time.end_ns);
  return differences.empty() ? 0 : static_cast<TimeNs>(differences.quantile(0.5));
}

}  // namespace

void compareExchanges(std::span<const NumberedExchanges> ranks) {
  if (ranks.size() < 2) return;
  std::vector<TimeNs> offsets;
  for (const NumberedExchanges& rank : ranks) offsets.push_back(clockOffset(ranks[0], rank));
  for (const auto& [which, unused] : ranks[0]) {
    std::vector<Exchange*> same;
    TimeNs first = INT64_MAX, last = INT64_MIN, end = INT64_MAX;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto found = ranks[i].find(which);
      if (found == ranks[i].end()) break;
      same.push_back(found->second);
      first = std::min(first, same.back()->time.start_ns - offsets[i]);
      last = std::max(last, same.back()->time.start_ns - offsets[i]);
      end = std::min(end, same.back()->time.end_ns - offsets[i]);
    }
    if (same.size() < ranks.size() || end <= last) continue;
    for (std::size_t i = 0; i < same.size(); ++i) {
      const TimeNs start = same[i]->time.start_ns - offsets[i];
      same[i]->wait_ns = last - start;
      same[i]->late_ns = start - first;
      same[i]->is_last = start == last && last > first;
    }
  }
}

bool beginsWithin(const Window& window, const Exchange& exchange) {
  return !within(window.spans, exchange.time.start_ns, exchange.time.start_ns + 1).empty();
}

}  // namespace pitwall::analysis
