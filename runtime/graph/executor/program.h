// A graph as a list of operations on tensors, before kernels are chosen: what passes rewrite.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/units.h"
#include "runtime/graph/node.h"
#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall::graph {

// Numbers of tensors and nodes are int, -1 none; as an index of a vector.
inline std::size_t position(int number) { return static_cast<std::size_t>(number); }

// An array that the program reads, makes or computes from weights.
struct Tensor {
  std::string name;
  Shape shape;
  DType dtype = DType::float32;
  int variable = -1;       // the node of the variable whose array it is; -1: none
  int view_of = -1;        // the tensor whose contents it has, in another shape
  bool is_folded = false;  // computed from weights, see Folding
};

struct Operation {
  std::string layer;  // the node; "conv0+bn0+relu0" of several
  const char* name = "";
  OperatorKindDesc desc;
  std::vector<int> inputs, outputs;  // tensors, in the kernel's order
  Flop flop = 0;
};

// A BatchNorm that is part of the weights of the convolution before it.
struct Folding {
  int weight = -1, bias = -1;  // before; bias -1 = none
  int gamma = -1, beta = -1, mean = -1, variance = -1;
  float epsilon = 0;
  bool fix_gamma = false;
  int folded_weight = -1, folded_bias = -1;
};

struct Program {
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;  // inputs before what uses them
  std::vector<int> outputs;           // tensors
  std::vector<Folding> foldings;
};

// The operations of inference. `entries` are the shapes of the graph's entries. Errors: those of lowerNode().
Result<Program> lowerForInference(const IndexedGraph& graph, const std::vector<Shape>& entries);

// Joins operations that one kernel computes: a BatchNorm with the convolution before it, then an activation or clip, and an
// addition, with the convolution, dense layer or BatchNorm before them.
void fuse(Program& program);

// The tensor whose memory it has.
int baseOf(const Program& program, int tensor);

}  // namespace pitwall::graph
