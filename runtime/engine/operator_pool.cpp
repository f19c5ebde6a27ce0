#include "runtime/engine/operator_pool.h"

#include <new>

namespace pitwall::engine {
namespace {

template <std::uint32_t N>
struct SizedOperator : Operator {
  SizedOperator() {
    accesses = room.data();
    capacity = N;
  }
  alignas(64) std::array<Access, N> room;  // so that one access does not span two lines
};

}  // namespace

struct OperatorDepot::Slab {
  virtual ~Slab() = default;
  virtual Operator& at(std::uint32_t i) = 0;
};

namespace {

template <std::uint32_t N, class Base>
struct SizedSlab final : Base {
  Operator& at(std::uint32_t i) override { return operators[i]; }
  std::array<SizedOperator<N>, OperatorDepot::kBatch> operators;
};

}  // namespace

OperatorDepot::OperatorDepot() = default;
OperatorDepot::~OperatorDepot() = default;

Operator* OperatorDepot::takeBatch(std::uint32_t capacity) {
  {
    const ScopedLock guard(lock_);
    Operator*& batches = batches_[capacity == kFewAccesses ? 0 : 1];
    if (Operator* batch = batches; batch != nullptr) {
      batches = batch->child;
      batch->child = nullptr;
      return batch;
    }
  }
  return carve(capacity);
}

void OperatorDepot::giveBatch(Operator* batch, std::uint32_t capacity) {
  const ScopedLock guard(lock_);
  Operator*& batches = batches_[capacity == kFewAccesses ? 0 : 1];
  batch->child = batches;
  batches = batch;
}

Operator* OperatorDepot::carve(std::uint32_t capacity) {
  std::unique_ptr<Slab> slab;
  if (capacity == kFewAccesses) {
    slab = std::make_unique<SizedSlab<kFewAccesses, Slab>>();
  } else {
    slab = std::make_unique<SizedSlab<kManyAccesses, Slab>>();
  }
  for (std::uint32_t i = 0; i + 1 < kBatch; ++i) slab->at(i).next = &slab->at(i + 1);
  Operator* first = &slab->at(0);
  const ScopedLock guard(lock_);
  slabs_.push_back(std::move(slab));
  return first;
}

Operator& OperatorCache::take(std::size_t accesses) {
  const std::uint32_t capacity = accesses <= kFewAccesses ? kFewAccesses : kManyAccesses;
  Free& free = free_[index(capacity)];
  if (free.first == nullptr) refill(free, capacity);
  Operator& op = *free.first;
  free.first = op.next;
  --free.count;
  if (accesses > kManyAccesses) [[unlikely]] {
    op.accesses = new Access[accesses];
    op.capacity = static_cast<std::uint32_t>(accesses);
  }
  return op;
}

void OperatorCache::give(Operator& op) {
  if (op.capacity > kManyAccesses) [[unlikely]] {
    delete[] op.accesses;
    op.accesses = static_cast<SizedOperator<kManyAccesses>&>(op).room.data();
    op.capacity = kManyAccesses;
  }
  Free& free = free_[index(op.capacity)];
  if (free.count == OperatorDepot::kBatch) spill(free, op.capacity);
  op.next = free.first;
  free.first = &op;
  ++free.count;
}

void OperatorCache::refill(Free& free, std::uint32_t capacity) {
  free.first = free.full != nullptr ? std::exchange(free.full, nullptr) : depot_.takeBatch(capacity);
  free.count = OperatorDepot::kBatch;
}

void OperatorCache::spill(Free& free, std::uint32_t capacity) {
  if (free.full != nullptr) depot_.giveBatch(free.full, capacity);
  free.full = std::exchange(free.first, nullptr);
  free.count = 0;
}

}  // namespace pitwall::engine
