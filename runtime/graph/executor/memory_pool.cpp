#include "runtime/graph/executor/memory_pool.h"

#include <algorithm>
#include <numeric>

#include "db/try.h"

namespace pitwall::graph {

MemoryPool::~MemoryPool() {
  (void)session_.engine().waitForVariable(sequence);  // an error is that of the outputs too
  session_.engine().deleteVariable(sequence);
}

Bytes MemoryPool::bytes() const {
  Bytes sum = 0;
  for (const Block& block : blocks_) sum += block.size();
  return sum;
}

// The largest first: where the largest block that is left is too small, all are.
Result<std::vector<void*>> MemoryPool::take(const std::vector<Bytes>& sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&sizes](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::stable_sort(blocks_.begin(), blocks_.end(),
                   [](const Block& a, const Block& b) { return a.size() > b.size(); });
  Storage* const storage = PITWALL_TRY(session_.storage(device_));
  std::vector<void*> places(sizes.size());
  const std::size_t present = blocks_.size();
  std::size_t next = 0;
  for (const std::size_t i : order) {
    if (next < present && blocks_[next].size() >= sizes[i]) {
      places[i] = blocks_[next++].data();
      continue;
    }
    blocks_.push_back(PITWALL_TRY(storage->allocate(sizes[i], MemoryTag::activations)));
    places[i] = blocks_.back().data();
  }
  return places;
}

}  // namespace pitwall::graph
