// The storage: a pool, the system behind it, and the accounts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "db/mutex.h"
#include "db/try.h"
#include "runtime/memory/pool.h"
#include "runtime/memory/usage_counter.h"

namespace pitwall {

namespace {

constexpr auto kTags = static_cast<std::size_t>(MemoryTag::count);
// Rounding up never overflows below this.
constexpr Bytes kMostBytes = std::numeric_limits<Bytes>::max() / 4;

class PooledStorage : public Storage {
 public:
  PooledStorage(const StorageOptions& options, std::shared_ptr<SystemMemory> system)
      : device_(options.device),
        system_(std::move(system)),
        observer_(options.observer),
        sum_(options.sum),
        reserve_percent_(options.reserve_percent),
        pool_(memory::makePool(options)) {}

  ~PooledStorage() override {
    const Usage all = total_.read();
    PITWALL_CHECK(all.live_blocks == 0, "%lld blocks of %lld bytes outlive their storage",
                  static_cast<long long>(all.live_blocks), static_cast<long long>(all.live_bytes));
    releaseCache();
  }

  Device device() const override { return device_; }

  Result<Block> allocate(Bytes size, MemoryTag tag) override {
    if (size < 0) {
      return fail(ErrorCode::invalidInput, fmt::format("{} bytes of {} were requested", size, toString(tag)));
    }
    if (size == 0) return Block();
    if (size > kMostBytes) return noMemory(size, tag);
    const Bytes capacity = capacityFor(size);
    void* data = takeFromPool(capacity);
    if (data == nullptr) data = takeFromSystem(capacity);
    if (data == nullptr) {
      releaseCache();
      data = takeFromSystem(capacity);
    }
    while (data == nullptr && system_->waitForFrees()) {
      data = takeFromPool(capacity);
      if (data != nullptr) break;
      releaseCache();
      data = takeFromSystem(capacity);
    }
    if (data == nullptr) return noMemory(size, tag);
    total_.add(size);
    if (sum_ != nullptr) sum_->add(size);
    tags_[static_cast<std::size_t>(tag)].add(size);
    if (observer_ != nullptr) observer_->usageChanged(*this, tag);
    return makeBlock(*this, data, size, capacity, tag);
  }

  void releaseCache() override {
    std::vector<memory::Pool::Kept> kept;
    {
      const ScopedLock lock(mutex_);
      kept = pool_->takeAll();
    }
    for (const auto& block : kept) giveToSystem(block.data, block.capacity);
  }

  Usage usage(MemoryTag tag) const override { return tags_[static_cast<std::size_t>(tag)].read(); }
  Usage total() const override { return total_.read(); }
  Bytes cachedBytes() const override {
    const ScopedLock lock(mutex_);
    return pool_->cachedBytes();
  }
  Bytes reservedBytes() const override { return reserved_.load(std::memory_order_relaxed); }

 protected:
  void free(Block& block) override {
    total_.remove(block.size());
    if (sum_ != nullptr) sum_->remove(block.size());
    tags_[static_cast<std::size_t>(tagOf(block))].remove(block.size());
    bool kept = false;
    {
      const ScopedLock lock(mutex_);
      kept = pool_->give(dataOf(block), capacityOf(block));
    }
    if (observer_ != nullptr) observer_->usageChanged(*this, tagOf(block));
    if (!kept) giveToSystem(dataOf(block), capacityOf(block));
  }

 private:
  // Without the lock: it depends on the pool's settings alone, which are constant.
  Bytes capacityFor(Bytes size) const PITWALL_NO_THREAD_SAFETY_ANALYSIS { return pool_->capacityFor(size); }

  void* takeFromPool(Bytes capacity) {
    const ScopedLock lock(mutex_);
    return pool_->take(capacity);
  }

  void* takeFromSystem(Bytes capacity) {
    if (wouldUseReserve(capacity)) releaseCache();
    void* const data = system_->allocate(capacity);
    if (data != nullptr) changeReserved(capacity);
    return data;
  }

  bool wouldUseReserve(Bytes capacity) {
    if (reserve_percent_ == 0 || cachedBytes() == 0) return false;
    const auto room = system_->room();
    return room && room->free_bytes - capacity < room->total_bytes / 100 * reserve_percent_;
  }

  void giveToSystem(void* data, Bytes capacity) {
    system_->free(data, capacity);
    changeReserved(-capacity);
  }

  void changeReserved(Bytes by) {
    reserved_.fetch_add(by, std::memory_order_relaxed);
    if (observer_ != nullptr) observer_->reservedChanged(*this);
  }

  Failure noMemory(Bytes size, MemoryTag tag) const {
    const Usage all = total_.read();
    std::string text = fmt::format("no memory for {} bytes of {} on {}: {} bytes are in use in {} blocks",
                                   size, toString(tag), toString(device_), all.live_bytes, all.live_blocks);
    const char* before = " (";
    for (const auto& [bytes, holder] : holders()) {
      text += fmt::format("{}{} {}", before, toString(holder), bytes);
      before = ", ";
    }
    if (*before == ',') text += ")";
    if (const auto room = system_->room())
      text += fmt::format("; {} of the device's {} bytes are free", room->free_bytes, room->total_bytes);
    text += "; a smaller batch needs less";
    if (device_.kind == DeviceKind::gpu)
      text +=
          ", and so does MXNET_BACKWARD_DO_MIRROR=1; MXNET_GPU_MEM_POOL_TYPE=Round helps where sizes vary";
    if (device_.kind == DeviceKind::pinned)
      text += "; ulimit -l and the container's memory limit what can be pinned";
    return fail(ErrorCode::io, text);
  }

  // The tags that hold memory, the largest first.
  std::vector<std::pair<Bytes, MemoryTag>> holders() const {
    std::vector<std::pair<Bytes, MemoryTag>> found;
    for (std::size_t i = 0; i < kTags; ++i) {
      const Bytes bytes = tags_[i].read().live_bytes;
      if (bytes != 0) found.emplace_back(bytes, static_cast<MemoryTag>(i));
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    return found;
  }

  // Constant after construction; synchronises itself.
  const Device device_;
  const std::shared_ptr<SystemMemory> system_;
  StorageObserver* const observer_;
  memory::UsageCounter* const sum_;
  const int reserve_percent_;
  std::atomic<Bytes> reserved_{0};
  memory::UsageCounter total_;
  std::array<memory::UsageCounter, kTags> tags_;

  mutable Mutex mutex_;
  const std::unique_ptr<memory::Pool> pool_ PITWALL_PT_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<Storage>> Storage::open(const StorageOptions& options) {
  if (options.page_bytes < 1 || options.large_round_bytes < 1) {
    return fail(ErrorCode::invalidInput,
                fmt::format("a memory pool needs pages and rounding of 1 byte or more, "
                            "not {} and {}",
                            options.page_bytes, options.large_round_bytes));
  }
  if (options.round_linear_cutoff < 20 || options.round_linear_cutoff > 34) {
    return fail(ErrorCode::invalidInput,
                fmt::format("round_linear_cutoff is {}: 20 to 34 are allowed", options.round_linear_cutoff));
  }
  std::shared_ptr<SystemMemory> system = options.system;
  if (system == nullptr) {
    system = PITWALL_TRY(systemMemory(options.device));
  }
  return std::unique_ptr<Storage>(std::make_unique<PooledStorage>(options, std::move(system)));
}

}  // namespace pitwall
