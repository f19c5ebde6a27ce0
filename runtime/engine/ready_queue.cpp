#include "runtime/engine/ready_queue.h"

namespace pitwall::engine {
namespace {

bool before(const Operator& a, const Operator& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.order < b.order;
}

// Joins two heaps, either may be empty.
Operator* merge(Operator* a, Operator* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (before(*b, *a)) std::swap(a, b);
  b->next = a->child;
  a->child = b;
  return a;
}

// Joins a list of sibling heaps in two passes: pairs from the left, then all from the right.
Operator* mergeSiblings(Operator* first) {
  Operator* pairs = nullptr;  // last pair first
  while (first != nullptr) {
    Operator* const second = first->next;
    Operator* const rest = second == nullptr ? nullptr : second->next;
    Operator* const pair = merge(first, second);
    pair->next = pairs;
    pairs = pair;
    first = rest;
  }
  Operator* heap = nullptr;
  while (pairs != nullptr) {
    Operator* const rest = pairs->next;
    heap = merge(heap, pairs);
    pairs = rest;
  }
  return heap;
}

}  // namespace

void ReadyQueue::add(Operator& op) {
  if (order_ == QueueOrder::arrival) return list_.append(op);
  op.order = arrivals_++;
  op.child = nullptr;
  op.next = nullptr;
  heap_ = merge(heap_, &op);
}

Operator& ReadyQueue::remove() {
  if (order_ == QueueOrder::arrival) return list_.removeFirst();
  Operator& op = *heap_;
  heap_ = mergeSiblings(op.child);
  op.child = nullptr;
  return op;
}

}  // namespace pitwall::engine
