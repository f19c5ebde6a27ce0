// Builds the engine's node from the program's description of an operator.
#pragma once

#include "runtime/engine/operator_pool.h"
#include "runtime/engine/variable.h"

namespace pitwall::engine {

// Unique in this process; rising along each thread's pushes.
CorrelationId nextCorrelation();

struct BuildOptions {
  bool recording = false;
  bool gpu_ends_later = false;  // EngineOptions::streams completes operators of GPUs
};

// Moves `desc` into an operator whose accesses are sorted and unique, none granted. The function of an
// operator for an invalid device (index not below kMaxDevices) is replaced by one that fails.
Operator& buildOperator(OperatorCache& cache, OperatorDesc& desc, BuildOptions options);

// Precondition: `accesses` has space.
void addAccess(Operator& op, Variable variable, bool write);
// Sorts by variable; several accesses of one variable become one.
void sortAccesses(Operator& op);

}  // namespace pitwall::engine
