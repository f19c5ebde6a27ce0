#include "runtime/backend/support/caching_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/backend/support/signature.h"
#include "runtime/operators/cast.h"
#include "runtime/operators/reorder.h"
#include "runtime/short_float.h"

namespace pitwall {
namespace {

void mix(std::size_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 29;
}

// Hashes shapes only; the few requests that differ only in layout are distinguished by comparison.
std::size_t hashOf(Pass pass, std::span<const TensorSpec> inputs, const TensorSpec* like) {
  std::size_t hash = static_cast<std::size_t>(pass) + inputs.size() * 8;
  const auto add = [&](const TensorSpec& spec) {
    for (int i = 0; i < spec.shape.rank(); ++i) mix(hash, static_cast<std::uint64_t>(spec.shape[i]));
  };
  for (const TensorSpec& spec : inputs) add(spec);
  if (like != nullptr) add(*like);
  return hash;
}

}  // namespace

bool CachingBackend::computes16Bits(const OperatorKindDesc& desc, Pass,
                                    std::span<const TensorSpec> /*inputs*/) const {
  return desc.is<CastDesc>() || desc.is<ReorderDesc>();
}

KernelPtr CachingBackend::find(KindCache& cache, std::size_t hash, const OperatorKindDesc& desc, Pass pass,
                               std::span<const TensorSpec> inputs, const TensorSpec* like) {
  const auto [first, last] = cache.index.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Entry& e = *it->second;
    const bool same_like = (like != nullptr) == e.like.has_value() && (like == nullptr || *like == *e.like);
    if (e.pass != pass || !same_like || !(e.desc == desc) || !std::ranges::equal(e.inputs, inputs)) continue;
    cache.entries.splice(cache.entries.begin(), cache.entries, it->second);
    return e.kernel;
  }
  return nullptr;
}

void CachingBackend::evictBeyond(KindCache& cache, std::int64_t kernels) {
  if (kernels < 0) return;
  while (static_cast<std::int64_t>(cache.entries.size()) > kernels) {
    const auto victim = std::prev(cache.entries.end());
    const auto [first, last] = cache.index.equal_range(victim->hash);
    cache.index.erase(std::find_if(first, last, [&](const auto& slot) { return slot.second == victim; }));
    cache.entries.erase(victim);
    --usage_.kernels;
    ++usage_.evictions;
  }
}

Result<KernelPtr> CachingBackend::prepare(const OperatorKindDesc& desc, Pass pass,
                                          std::span<const TensorSpec> inputs, const TensorSpec* like) {
  const std::size_t hash = hashOf(pass, inputs, like);
  {
    const ScopedLock lock(mutex_);
    if (KernelPtr kernel = find(caches_[&desc.kind()], hash, desc, pass, inputs, like)) {
      ++usage_.hits;
      return kernel;
    }
    ++usage_.misses;
  }
  const auto isShort = [](const TensorSpec& spec) { return is16Bits(spec.dtype); };
  const bool widens = (std::ranges::any_of(inputs, isShort) || (like != nullptr && isShort(*like))) &&
                      !computes16Bits(desc, pass, inputs);
  Result<KernelPtr> made =
      widens ? createWidened(desc, pass, inputs, like) : create(desc, pass, inputs, like);
  if (made.has_value() && *made == nullptr) {
    return fail(ErrorCode::unsupported, fmt::format("backend '{}' has no kernel for {}", name(),
                                                    describeRequest(desc, pass, inputs, like)));
  }
  if (!made.has_value() || options_.cached_kernels == 0) return made;

  const ScopedLock lock(mutex_);
  KindCache& cache = caches_[&desc.kind()];
  // Another thread may have created the same kernel meanwhile: all use one.
  if (KernelPtr kernel = find(cache, hash, desc, pass, inputs, like)) return kernel;
  cache.entries.push_front({hash,
                            desc,
                            pass,
                            {inputs.begin(), inputs.end()},
                            like != nullptr ? std::optional(*like) : std::nullopt,
                            *made});
  cache.index.emplace(hash, cache.entries.begin());
  ++usage_.kernels;
  evictBeyond(cache, options_.cached_kernels);
  return made;
}

Backend::CacheUsage CachingBackend::cacheUsage() const {
  const ScopedLock lock(mutex_);
  return usage_;
}

}  // namespace pitwall
