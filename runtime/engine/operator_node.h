// An operator inside the engine, and its accesses to variables: the nodes of all queues.
//
//   Operator --accesses--> Access --variable--> VariableState
//      ^ next: one of: ready list, a pool's queue, a bulk segment, a free list
//      ^ child: a bulk segment's first operator, or the first child in a priority queue
//   Access --next--> the next access waiting for the same variable
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/engine.h"

namespace pitwall::engine {

struct Operator;
class OpenWork;  // open_work.h

// One operator's use of one variable; sorted by variable in an operator, and unique there.
struct Access {
  VariableState* variable = nullptr;
  Access* next = nullptr;
  Operator* op = nullptr;
  std::uint32_t writes = 0;  // 0 = reads only; more than 1 in a segment whose operators write it repeatedly
  bool reads = false;        // also reads, if it writes
  bool isWrite() const { return writes != 0; }
};

enum class NodeKind : std::uint8_t {
  single,   // runs `function`
  later,    // starts `function`, which completes it later
  segment,  // runs the list that starts at `child`
  waiter,   // a thread waiting for a variable; never queued, but signalled
};

// Aligned so that the dispatcher's fields are in one cache line and the worker's in the next.
struct alignas(64) Operator {
  Operator* next = nullptr;
  Operator* child = nullptr;
  Access* accesses = nullptr;
  std::uint32_t access_count = 0;
  // Accesses not granted yet; while a `later` operator is open: its function, its completion.
  std::atomic<std::uint32_t> waiting{0};
  CorrelationId correlation = 0;
  Ticks ready = 0;  // 0 = not recorded
  OperatorId facts;
  std::int32_t device_index = 0;
  std::int32_t priority = 0;
  NodeKind kind = NodeKind::single;
  OperatorClass operator_class = OperatorClass::normal;
  DeviceKind device_kind = DeviceKind::cpu;
  bool ends_variable = false;  // deleteVariable(): its variable is freed after it has run

  Ticks pushed = 0;                // 0 = not recorded
  std::uint64_t order = 0;         // arrival in a priority queue
  std::uint32_t capacity = 0;      // of `accesses`: kFewAccesses, kManyAccesses, or more (from the heap)
  std::uint16_t track = 0;         // of a `later` operator: its track of the device; 0 = the thread's
  Ticks started = 0;               // of a `later` operator; 0 = not recorded
  OperatorFunction function;       // here a small callable still fits on the second line
  std::shared_ptr<OpenWork> open;  // what it has left on a stream; its accesses are then complete

  std::span<Access> uses() const { return {accesses, access_count}; }
  Device device() const { return {device_kind, device_index}; }
};

// First in, first out, linked through Operator::next.
class OperatorList {
 public:
  bool empty() const { return first_ == nullptr; }
  Operator* first() const { return first_; }
  void append(Operator& op) {
    op.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &op;
    last_ = &op;
  }
  void prepend(Operator& op) {
    op.next = first_;
    if (first_ == nullptr) last_ = &op;
    first_ = &op;
  }
  // Precondition: not empty.
  Operator& removeFirst() {
    Operator& op = *first_;
    first_ = op.next;
    return op;
  }
  Operator* removeFirstOrNull() { return empty() ? nullptr : &removeFirst(); }
  OperatorList takeAll() { return std::exchange(*this, {}); }

 private:
  Operator* first_ = nullptr;
  Operator* last_ = nullptr;
};

}  // namespace pitwall::engine
