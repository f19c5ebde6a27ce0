// A bound program as text.
#pragma once

#include <string>

#include "runtime/graph/executor/bound_program.h"

namespace pitwall::graph {

// One line per kernel: name, layer, shapes, layout, implementation, place of the first output.
std::string describeSteps(const BoundProgram& program);

// The sum of the memory plan, then one line per kernel: what it reads and writes, with size and place.
std::string describeMemory(const BoundProgram& program);

// One line per kernel that computes several operators.
std::string describeFusions(const BoundProgram& program);

// One line per chain of functions of each element: what it computes.
std::string describePointwise(const BoundProgram& program);

// On standard error, as MXNET_SUBGRAPH_VERBOSE, MXNET_FUSION_VERBOSE, MXNET_EXEC_VERBOSE_LOGGING and MXNET_MEM_PLAN_VERBOSE_LOGGING say.
void printAsSet(const BoundProgram& program);

}  // namespace pitwall::graph
