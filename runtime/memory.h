// Storage of one device: aligned blocks from a pool, with live and peak bytes per tag.
//
// Threads: every call from any thread. Ownership: a Block returns itself to its Storage, which must outlive
// it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "db/result.h"
#include "db/settings.h"
#include "db/units.h"
#include "runtime/device.h"

namespace pitwall {

// The purpose of a block; the rows of a memory report.
enum class MemoryTag : std::uint8_t {
  other,
  weights,
  gradients,
  optimizer,
  activations,
  workspace,
  data,
  count
};
const char* toString(MemoryTag tag);

// How freed blocks are kept. Choices of MXNET_GPU_MEM_POOL_TYPE; for CPU storage MXNET_CPU_MEM_POOL_TYPE, for pinned
// storage MXNET_CPU_PINNED_MEM_POOL_TYPE.
enum class PoolType : std::uint8_t {
  naive,     // exact size classes after rounding to pages; freed blocks are kept for the same size
  round,     // sizes rounded up to powers of two below 2^cutoff, above it to multiples of 2^cutoff
  unpooled,  // every block from and back to the system
};

// The source of a Storage's memory. Every call from any thread.
class SystemMemory {
 public:
  virtual ~SystemMemory() = default;
  // At least `size` bytes aligned to 64, or nullptr.
  virtual void* allocate(Bytes size) = 0;
  virtual void free(void* data, Bytes size) = 0;

  struct Room {
    Bytes free_bytes, total_bytes;  // of the device, whoever uses it
  };
  // nullopt = unknown.
  virtual std::optional<Room> room() { return std::nullopt; }
  // Where there is no memory: waits until blocks may have been freed. False: none is about to be freed.
  virtual bool waitForFrees() { return false; }
};

// The host's memory: what programs can get without swapping, and all of it. nullopt where the system does not say.
std::optional<SystemMemory::Room> hostRoom();

// The memory of a device: for each cpu device the process's heap. Errors: unsupported where this build has no
// memory of the kind, invalidInput for an index that is out of range; both name the device.
Result<std::shared_ptr<SystemMemory>> systemMemory(Device device);

class Storage;
namespace memory {
class UsageCounter;  // runtime/memory/usage_counter.h
}

// Is notified of every change of a storage's accounts, on the thread that made it; any thread. It may only
// read the accounts of the storage.
class StorageObserver {
 public:
  virtual ~StorageObserver() = default;
  virtual void usageChanged(const Storage& storage, MemoryTag tag) = 0;
  virtual void reservedChanged(const Storage& storage) = 0;
};

struct StorageOptions {
  Device device = {};
  PoolType pool = PoolType::naive;
  Bytes page_bytes = 4096;            // *_MEM_POOL_PAGE_SIZE
  int round_linear_cutoff = 24;       // *_MEM_POOL_ROUND_LINEAR_CUTOFF, 20..34
  Bytes large_round_bytes = 2 << 20;  // *_MEM_LARGE_ALLOC_ROUND_SIZE, naive pool only
  // *_MEM_POOL_RESERVE: before the system is asked for memory that would leave less than this share of the device's memory
  // free, the pool's is released. Where the system does not know how much there is, nothing. Of pinned memory: the host's.
  int reserve_percent = 0;
  std::shared_ptr<SystemMemory> system;  // null = systemMemory(device)
  StorageObserver* observer = nullptr;   // outlives the storage
  memory::UsageCounter* sum = nullptr;   // counts the blocks of several storages; outlives them
  // Errors: invalidInput naming the setting when the values are inconsistent.
  static Result<StorageOptions> fromSettings(const Settings& settings, DeviceKind kind = DeviceKind::cpu);
};

constexpr Bytes kStorageAlignment = 64;

// Owns `size` usable bytes aligned to 64. Move-only. Size 0 has a null pointer.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block();
  void* data() const { return data_; }
  Bytes size() const { return size_; }

 private:
  friend class Storage;
  Storage* storage_ = nullptr;
  void* data_ = nullptr;
  Bytes size_ = 0;      // as requested
  Bytes capacity_ = 0;  // as rounded by the pool
  MemoryTag tag_ = MemoryTag::other;
};

class Storage {
 public:
  // Errors: those of systemMemory; invalidInput for options out of range.
  static Result<std::unique_ptr<Storage>> open(const StorageOptions& options);
  virtual ~Storage() = default;  // precondition: no block is alive; aborts otherwise

  virtual Device device() const = 0;

  // Uninitialised memory; size 0 gives an empty block. When the system is out of memory, the pool is released
  // and the request retried, also after blocks whose work on a GPU is about to end. Errors: io naming tag, device and size, which tags hold how much, and what to change;
  // invalidInput for a negative size.
  virtual Result<Block> allocate(Bytes size, MemoryTag tag) = 0;

  // Returns cached blocks to the system.
  virtual void releaseCache() = 0;

  struct Usage {
    Bytes live_bytes = 0;  // requested bytes of live blocks
    Bytes peak_bytes = 0;
    std::int64_t live_blocks = 0;
  };
  virtual Usage usage(MemoryTag tag) const = 0;
  virtual Usage total() const = 0;          // its peak is the peak of the sum, not the sum of peaks
  virtual Bytes cachedBytes() const = 0;    // held by the pool, not allocated
  virtual Bytes reservedBytes() const = 0;  // obtained from the system: allocated or held

 protected:
  friend class Block;
  virtual void free(Block& block) = 0;
  static Block makeBlock(Storage& storage, void* data, Bytes size, Bytes capacity, MemoryTag tag);
  static void* dataOf(Block& b) { return b.data_; }
  static Bytes capacityOf(const Block& b) { return b.capacity_; }
  static MemoryTag tagOf(const Block& b) { return b.tag_; }
};

}  // namespace pitwall
