// Operators that are ready to run: in order of arrival, or by priority and then arrival. Not synchronised.
// Intrusive: adding allocates nothing.
#pragma once

#include "runtime/engine/operator_node.h"

namespace pitwall::engine {

enum class QueueOrder : std::uint8_t { arrival, priority };

class ReadyQueue {
 public:
  explicit ReadyQueue(QueueOrder order) : order_(order) {}

  bool empty() const { return list_.empty() && heap_ == nullptr; }
  void add(Operator& op);
  // Precondition: not empty.
  Operator& remove();
  // Precondition: order of arrival.
  OperatorList removeAll() { return list_.takeAll(); }

 private:
  const QueueOrder order_;
  OperatorList list_;         // order of arrival
  Operator* heap_ = nullptr;  // order of priority: a pairing heap; child = first child, next = next sibling
  std::uint64_t arrivals_ = 0;
};

}  // namespace pitwall::engine
