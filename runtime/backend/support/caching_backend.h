// Base class of all backends: kernels are created once per request and kept in an LRU cache.
//
// Threads: prepare() and cacheUsage() from any thread. A kernel in use outlives its eviction (shared_ptr).
#pragma once

#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "db/mutex.h"
#include "runtime/backend.h"
#include "runtime/backend/support/options.h"
#include "runtime/backend/support/widened_kernel.h"

namespace pitwall {

class CachingBackend : public Backend, private KernelMaker {
 public:
  explicit CachingBackend(const BackendOptions& options) : options_(options) {}

  Result<KernelPtr> prepare(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                            const TensorSpec* like) final;
  CacheUsage cacheUsage() const final;

 protected:
  // Creates a kernel, nullptr when the backend has none for the operator; called without the lock, from
  // several threads at once.
  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override = 0;

  // Whether create() takes arrays of 16 bits for this request; they are converted before and after otherwise.
  virtual bool computes16Bits(const OperatorKindDesc& desc, Pass pass,
                              std::span<const TensorSpec> inputs) const;
  Result<KernelPtr> createWidened(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                                  const TensorSpec* like) {
    return makeWidened(*this, desc, pass, inputs, like);
  }

  const BackendOptions options_;

 private:
  // A request and its kernel. Looked up by hash, so that a hit copies nothing.
  struct Entry {
    std::size_t hash;
    OperatorKindDesc desc;
    Pass pass;
    std::vector<TensorSpec> inputs;
    std::optional<TensorSpec> like;
    KernelPtr kernel;
  };
  using Entries = std::list<Entry>;  // most recently used first
  struct KindCache {                 // of one operator kind
    Entries entries;
    std::unordered_multimap<std::size_t, Entries::iterator> index;
  };

  KernelPtr find(KindCache& cache, std::size_t hash, const OperatorKindDesc& desc, Pass pass,
                 std::span<const TensorSpec> inputs, const TensorSpec* like) PITWALL_REQUIRES(mutex_);
  void evictBeyond(KindCache& cache, std::int64_t kernels) PITWALL_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_map<const OperatorKind*, KindCache> caches_ PITWALL_GUARDED_BY(mutex_);
  CacheUsage usage_ PITWALL_GUARDED_BY(mutex_);
};

}  // namespace pitwall
