// Tracks the operator that last wrote a variable and those that have read it since: the edges of the recorded
// graph.
#pragma once

#include <vector>

#include "runtime/engine/variable.h"

namespace pitwall::engine {

// Readers since the last write. Beyond kMost the oldest are dropped: they have finished long ago.
struct ReaderLog {
  static constexpr std::size_t kMost = 256;
  std::vector<CorrelationId> ids;
  std::size_t oldest = 0;
  void add(CorrelationId id);
  void clear() { ids.clear(), oldest = 0; }
};

// Records the `access` of operator `id`, and appends its dependencies to `edges` unless that is nullptr (not
// recording; then only the writer is stored). Precondition: the variable is locked.
void trackAccess(const Access& access, CorrelationId id, std::vector<Dependency>* edges);

// All accesses of an operator, or of all operators of a segment.
void trackOperator(const Operator& op, std::vector<Dependency>* edges);

}  // namespace pitwall::engine
