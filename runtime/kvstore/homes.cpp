#include "runtime/kvstore/homes.h"

#include <algorithm>

namespace pitwall::kvstore {

Homes::Load& Homes::lightest(std::span<const Value> values) {
  Load* best = nullptr;
  for (const Value& value : values) {
    auto found =
        std::ranges::find_if(loads_, [&](const Load& load) { return load.device == value.device(); });
    if (best == nullptr || found->elements < best->elements) best = &*found;
  }
  return *best;
}

Device Homes::of(Entry& entry, std::span<const Value> values) {
  if (entry.has_home) return entry.home;
  for (const Value& value : values)
    if (std::ranges::none_of(loads_, [&](const Load& load) { return load.device == value.device(); }))
      loads_.push_back({value.device()});
  std::ranges::stable_sort(waiting_, std::ranges::greater(),
                           [](const Entry* waiting) { return waiting->shape().elements(); });
  for (Entry* waiting : waiting_) {
    Load& load = lightest(values);
    load.elements += waiting->shape().elements();
    waiting->home = load.device;
    waiting->has_home = true;
  }
  waiting_.clear();
  return entry.home;
}

}  // namespace pitwall::kvstore
