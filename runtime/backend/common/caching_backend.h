// What all backends share: kernels are made once per question and kept, least recently used first out.
//
// Threads: prepare() and cacheUsage() from any thread. A kernel in use outlives its eviction (shared_ptr).
#pragma once

#include <array>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/backend.h"
#include "runtime/backend/common/options.h"

namespace pitwall {

class CachingBackend : public Backend {
 public:
  explicit CachingBackend(const BackendOptions& options) : options_(options) {}

  Result<KernelPtr> prepare(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                            const TensorSpec* like) final;
  CacheUsage cacheUsage() const final;

 protected:
  // Makes a kernel; called without the lock, from several threads at once.
  virtual Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass,
                                   std::span<const TensorSpec> inputs, const TensorSpec* like) = 0;

  const BackendOptions options_;

 private:
  // What was asked, and the answer. Looked up by hash, so that a hit copies nothing.
  struct Entry {
    std::size_t hash;
    OperatorKindDesc desc;
    Pass pass;
    std::vector<TensorSpec> inputs;
    std::optional<TensorSpec> like;
    KernelPtr kernel;
  };
  using Entries = std::list<Entry>;  // most recently used first
  struct Shelf {                     // of one operator kind
    Entries entries;
    std::unordered_multimap<std::size_t, Entries::iterator> index;
  };

  KernelPtr find(Shelf& shelf, std::size_t hash, const OperatorKindDesc& desc, Pass pass,
                 std::span<const TensorSpec> inputs, const TensorSpec* like);
  void evictBeyond(Shelf& shelf, std::int64_t kernels);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::array<Shelf, std::variant_size_v<OperatorKindDesc>> shelves_;
  CacheUsage usage_;
};

}  // namespace pitwall
