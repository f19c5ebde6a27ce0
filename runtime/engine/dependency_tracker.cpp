#include "runtime/engine/dependency_tracker.h"

namespace pitwall::engine {

void ReaderLog::add(CorrelationId id) {
  if (ids.size() < kMost) {
    ids.push_back(id);
    return;
  }
  ids[oldest] = id;
  oldest = (oldest + 1) % kMost;
}

void trackAccess(const Access& access, CorrelationId id, std::vector<Dependency>* edges) {
  VariableState& variable = *access.variable;
  if (!access.isWrite()) {
    if (edges == nullptr) return;
    if (variable.last_writer != 0)
      edges->push_back({variable.last_writer, id, DependencyKind::readAfterWrite});
    if (variable.readers == nullptr) variable.readers = new ReaderLog;
    variable.readers->add(id);
    return;
  }
  if (edges != nullptr) {
    if (variable.last_writer != 0) {
      edges->push_back({variable.last_writer, id,
                        access.reads ? DependencyKind::readAfterWrite : DependencyKind::writeAfterWrite});
    }
    if (variable.readers != nullptr) {
      for (const CorrelationId reader : variable.readers->ids) {
        edges->push_back({reader, id, DependencyKind::writeAfterRead});
      }
    }
  }
  variable.last_writer = id;
  if (variable.readers != nullptr) variable.readers->clear();
}

void trackOperator(const Operator& op, std::vector<Dependency>* edges) {
  if (op.kind == NodeKind::segment) {
    for (const Operator* one = op.child; one != nullptr; one = one->next) trackOperator(*one, edges);
    return;
  }
  for (const Access& access : op.uses()) trackAccess(access, op.correlation, edges);
}

}  // namespace pitwall::engine
