#include "runtime/graph/executor/memory_pool.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "db/try.h"

namespace pitwall::graph {

MemoryPool::~MemoryPool() {
  (void)session_.engine().waitForVariable(sequence);  // an error is that of the outputs too
  session_.engine().deleteVariable(sequence);
}

Bytes MemoryPool::bytes() const {
  Bytes sum = 0;
  for (const auto& slot : slots_) sum += slot->bytes;
  return sum;
}

// The largest first: where the largest block that is left is too small, all are.
Result<std::vector<MemorySlot*>> MemoryPool::take(const std::vector<Bytes>& sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&sizes](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::stable_sort(slots_.begin(), slots_.end(),
                   [](const auto& a, const auto& b) { return a->bytes > b->bytes; });
  Storage* const storage = PITWALL_TRY(session_.storage(device_));
  std::vector<MemorySlot*> places(sizes.size());
  const std::size_t present = slots_.size();
  std::size_t next = 0;
  for (const std::size_t i : order) {
    if (next < present && slots_[next]->bytes >= sizes[i]) {
      places[i] = slots_[next++].get();
      continue;
    }
    Block block = PITWALL_TRY(storage->allocate(sizes[i], MemoryTag::activations));
    const Bytes bytes = block.size();
    slots_.push_back(std::make_unique<MemorySlot>(MemorySlot{bytes, std::move(block)}));
    places[i] = slots_.back().get();
  }
  return places;
}

Status MemoryPool::fill(std::span<MemorySlot* const> slots) {
  Storage* storage = nullptr;
  for (MemorySlot* const slot : slots) {
    if (slot->block.size() >= slot->bytes) continue;
    if (storage == nullptr) storage = PITWALL_TRY(session_.storage(device_));
    slot->block = PITWALL_TRY(storage->allocate(slot->bytes, MemoryTag::activations));
  }
  return {};
}

void MemoryPool::release(std::span<MemorySlot* const> slots) {
  for (MemorySlot* const slot : slots) slot->block = Block();
}

}  // namespace pitwall::graph
