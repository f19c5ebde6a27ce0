// Which operator last wrote a variable and which have read it since: the edges of the recorded graph.
#pragma once

#include <vector>

#include "runtime/engine/variable.h"

namespace pitwall::engine {

// Readers since the last write. Beyond kMost the oldest are forgotten: they have long finished and hold
// nobody up.
struct ReaderLog {
  static constexpr std::size_t kMost = 256;
  std::vector<CorrelationId> ids;
  std::size_t oldest = 0;
  void add(CorrelationId id);
  void clear() { ids.clear(), oldest = 0; }
};

// Notes that operator `id` makes `access`, and appends what it depends on to `edges` unless that is nullptr
// (not recording; then readers are not remembered, only the writer). Precondition: the variable is locked.
void trackAccess(const Access& access, CorrelationId id, std::vector<Dependency>* edges);

// All accesses of an operator, or of all operators of a segment.
void trackOperator(const Operator& op, std::vector<Dependency>* edges);

}  // namespace pitwall::engine
