#include "runtime/backend/common/caching_backend.h"

#include <algorithm>

namespace pitwall {
namespace {

void mix(std::size_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 29;
}

// Shapes only: equal questions hash equally, and the few that differ just in layout are told apart by
// comparing.
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

KernelPtr CachingBackend::find(Shelf& shelf, std::size_t hash, const OperatorKindDesc& desc, Pass pass,
                               std::span<const TensorSpec> inputs, const TensorSpec* like) {
  const auto [first, last] = shelf.index.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Entry& e = *it->second;
    const bool same_like = (like != nullptr) == e.like.has_value() && (like == nullptr || *like == *e.like);
    if (e.pass != pass || !same_like || !(e.desc == desc) || !std::ranges::equal(e.inputs, inputs)) continue;
    shelf.entries.splice(shelf.entries.begin(), shelf.entries, it->second);
    return e.kernel;
  }
  return nullptr;
}

void CachingBackend::evictBeyond(Shelf& shelf, std::int64_t kernels) {
  if (kernels < 0) return;
  while (static_cast<std::int64_t>(shelf.entries.size()) > kernels) {
    const auto victim = std::prev(shelf.entries.end());
    const auto [first, last] = shelf.index.equal_range(victim->hash);
    shelf.index.erase(std::find_if(first, last, [&](const auto& slot) { return slot.second == victim; }));
    shelf.entries.erase(victim);
    --usage_.kernels;
    ++usage_.evictions;
  }
}

Result<KernelPtr> CachingBackend::prepare(const OperatorKindDesc& desc, Pass pass,
                                          std::span<const TensorSpec> inputs, const TensorSpec* like) {
  Shelf& shelf = shelves_[desc.index()];
  const std::size_t hash = hashOf(pass, inputs, like);
  {
    const std::lock_guard lock(mutex_);
    if (KernelPtr kernel = find(shelf, hash, desc, pass, inputs, like)) {
      ++usage_.hits;
      return kernel;
    }
    ++usage_.misses;
  }
  Result<KernelPtr> made = create(desc, pass, inputs, like);
  if (!made.has_value() || options_.cached_kernels == 0) return made;

  const std::lock_guard lock(mutex_);
  // Another thread may have asked the same in the meantime: one answer for all.
  if (KernelPtr kernel = find(shelf, hash, desc, pass, inputs, like)) return kernel;
  shelf.entries.push_front({hash,
                            desc,
                            pass,
                            {inputs.begin(), inputs.end()},
                            like != nullptr ? std::optional(*like) : std::nullopt,
                            *made});
  shelf.index.emplace(hash, shelf.entries.begin());
  ++usage_.kernels;
  evictBeyond(shelf, options_.cached_kernels);
  return made;
}

Backend::CacheUsage CachingBackend::cacheUsage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

}  // namespace pitwall
