#include "runtime/memory/pool.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace pitwall::memory {

namespace {

Bytes roundUp(Bytes size, Bytes step) { return (size + step - 1) / step * step; }

// Sizes rounded to pages, large ones to large steps; a freed block is kept for a request of the same size.
class NaivePool : public Pool {
 public:
  NaivePool(Bytes page, Bytes large) : page_(page), large_(large) {}
  Bytes capacityFor(Bytes size) const override {
    const Bytes pages = roundUp(size, page_);
    return pages > large_ ? roundUp(pages, large_) : pages;
  }

 private:
  const Bytes page_;
  const Bytes large_;
};

// Powers of two up to 2^cutoff, above it multiples of 2^cutoff: fewer sizes, so more requests can reuse a
// freed block, at the cost of up to half a block of waste.
class RoundPool : public Pool {
 public:
  RoundPool(Bytes page, int cutoff)
      : least_(std::bit_ceil(static_cast<std::uint64_t>(page))), linear_(std::uint64_t{1} << cutoff) {}
  Bytes capacityFor(Bytes size) const override {
    const auto wanted = std::max(static_cast<std::uint64_t>(size), least_);
    if (wanted <= linear_) return static_cast<Bytes>(std::bit_ceil(wanted));
    return roundUp(size, static_cast<Bytes>(linear_));
  }

 private:
  const std::uint64_t least_;
  const std::uint64_t linear_;
};

// Keeps nothing.
class Unpooled : public Pool {
 public:
  Bytes capacityFor(Bytes size) const override { return roundUp(size, kStorageAlignment); }
  void* take(Bytes) override { return nullptr; }
  bool give(void*, Bytes) override { return false; }
};

}  // namespace

void* Pool::take(Bytes capacity) {
  const auto list = kept_.find(capacity);
  if (list == kept_.end() || list->second.empty()) return nullptr;
  void* data = list->second.back();
  list->second.pop_back();
  cached_bytes_ -= capacity;
  return data;
}

bool Pool::give(void* data, Bytes capacity) {
  kept_[capacity].push_back(data);
  cached_bytes_ += capacity;
  return true;
}

std::vector<Pool::Kept> Pool::takeAll() {
  std::vector<Kept> all;
  for (const auto& [capacity, blocks] : kept_) {
    for (void* data : blocks) all.push_back({data, capacity});
  }
  kept_.clear();
  cached_bytes_ = 0;
  return all;
}

std::unique_ptr<Pool> makePool(const StorageOptions& options) {
  switch (options.pool) {
    case PoolType::naive: return std::make_unique<NaivePool>(options.page_bytes, options.large_round_bytes);
    case PoolType::round: return std::make_unique<RoundPool>(options.page_bytes, options.round_linear_cutoff);
    case PoolType::unpooled: return std::make_unique<Unpooled>();
  }
  PITWALL_CHECK(false, "pool type %d", static_cast<int>(options.pool));
}

}  // namespace pitwall::memory
