#include "analyzer/analysis/samples.h"

#include <algorithm>
#include <cmath>

namespace pitwall::analysis {

Samples::Slot& Samples::find(std::int64_t value) {
  const std::size_t mask = slots_.size() - 1;
  // Fibonacci hashing: neighbouring values do not cluster.
  auto at = static_cast<std::size_t>((static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15U) >> 20) & mask;
  while (slots_[at].count != 0 && slots_[at].value != value) at = (at + 1) & mask;
  return slots_[at];
}

void Samples::grow() {
  std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.count != 0) find(slot.value) = slot;
  }
}

void Samples::add(std::int64_t value) {
  ++count_;
  sum_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum_) + static_cast<std::uint64_t>(value));
  if (4 * distinct_ >= 3 * slots_.size()) grow();
  Slot& slot = find(value);
  if (slot.count++ == 0) slot.value = value, ++distinct_;
}

double Samples::mean() const {
  return count_ > 0 ? static_cast<double>(sum_) / static_cast<double>(count_) : 0;
}

std::vector<double> Samples::quantiles(std::span<const double> ascending) const {
  std::vector<double> result(ascending.size(), 0);
  if (count_ == 0) return result;
  std::vector<Slot> sorted;
  sorted.reserve(distinct_);
  for (const Slot& slot : slots_) {
    if (slot.count != 0) sorted.push_back(slot);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Slot& a, const Slot& b) { return a.value < b.value; });
  std::size_t at = 0;
  std::int64_t before = 0;  // samples in the slots before it
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const double position = ascending[i] * static_cast<double>(count_ - 1);
    const auto below = static_cast<std::int64_t>(position);
    while (before + sorted[at].count <= below) before += sorted[at++].count;
    const auto low = static_cast<double>(sorted[at].value);
    const bool last_of_slot = before + sorted[at].count == below + 1;
    const auto high =
        last_of_slot && at + 1 < sorted.size() ? static_cast<double>(sorted[at + 1].value) : low;
    result[i] = low + (high - low) * (position - std::floor(position));
  }
  return result;
}

double Samples::quantile(double q) const {
  const double one[] = {q};
  return quantiles(one)[0];
}

}  // namespace pitwall::analysis
