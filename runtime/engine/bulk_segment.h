// One thread's bulk: operators collected to run as one.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/engine/operator_pool.h"

namespace pitwall::engine {

// The union of the variables that a list of operators uses. Writing takes precedence over reading. clear()
// keeps the memory.
class VariableUnion {
 public:
  void add(const Access& access);
  void clear();
  std::span<const Access> accesses() const { return accesses_; }

 private:
  struct Slot {
    VariableState* variable = nullptr;
    std::uint32_t index = 0;
    std::uint32_t generation = 0;  // the slot is empty unless this is generation_
  };
  void grow();
  Slot& find(const VariableState* variable);

  std::vector<Access> accesses_;
  std::vector<Slot> slots_;  // a power of two, at most half full; open addressing
  std::uint32_t generation_ = 1;
};

class BulkSegment {
 public:
  int limit = 0;  // operators per segment; 0 or 1 = off

  bool isOn() const { return limit > 1; }
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ >= limit; }
  // Whether `op` may join the current segment.
  bool accepts(const OperatorDesc& op) const;
  // Precondition: accepts().
  void append(Operator& op);
  // The collected operators as one operator (a single one unchanged); empty afterwards. Precondition:
  // !empty().
  Operator& seal(OperatorCache& cache);

 private:
  int count_ = 0;
  Device device_;
  OperatorList operators_;
  VariableUnion variables_;
};

}  // namespace pitwall::engine
