// A graph as a list of operations on tensors, before kernels are chosen: what passes rewrite.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/event.h"
#include "db/units.h"
#include "runtime/backend.h"
#include "runtime/graph/named_operators.h"
#include "runtime/graph/node.h"
#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall::graph {

// Numbers of tensors and nodes are int, -1 none; as an index of a vector.
inline std::size_t position(int number) { return static_cast<std::size_t>(number); }

// An array that the program reads, makes or computes from weights.
struct Tensor {
  std::string name = {};
  Shape shape = {};
  DType dtype = DType::float32;
  int variable = -1;       // the node of the variable whose array it is; -1: none
  int gradient_of = -1;    // the node of the variable whose gradient array it is, and whose name it has
  int head = -1;           // the output of the graph whose gradient it is, which the caller gives
  int view_of = -1;        // the tensor whose contents it has, in another shape
  bool is_zeros = false;   // zeros, which nothing writes
  bool is_folded = false;  // computed from weights, see Folding
  // Its memory is an array that outlives the pass.
  bool isArray() const { return variable >= 0 || gradient_of >= 0 || head >= 0 || is_zeros; }
};

struct Operation {
  std::string layer;  // the node; "conv0+bn0+relu0" of several
  const char* name = "";
  OperatorKindDesc desc = {};
  std::vector<int> inputs = {}, outputs = {};  // tensors, in the kernel's order
  Flop flop = 0;
  Pass pass = Pass::inference;
  Phase phase = Phase::forward;
  std::vector<bool> unread =
      {};         // by input: the kernel needs its shape and layout alone; empty: it reads all
  int like = -1;  // the tensor that is `like` of Backend::prepare()
  bool reads(std::size_t input) const { return unread.empty() || !unread[input]; }
};

// A BatchNorm that is part of the weights of the convolution before it.
struct Folding {
  int weight = -1, bias = -1;  // before; bias -1 = none
  int gamma = -1, beta = -1, mean = -1, variance = -1;
  float epsilon = 0;
  bool fix_gamma = false;
  int folded_weight = -1, folded_bias = -1;
};

// The weight of a convolution or a dense layer as 8-bit numbers, the largest of which is the largest weight of a channel.
struct QuantizedWeight {
  int weight = -1, bias = -1;  // before; bias -1 = none
  bool is_dense = false;
  double data_scale = 1, output_scale = 1;            // steps of 1
  WeightCodes codes;                                  // with which the backend computes exactly
  int quantized = -1, scale = -1, shifted_bias = -1;  // of the kernel: inputs 1, 2 and 3
};

// A BatchNorm on 8-bit numbers.
struct QuantizedNorm {
  int gamma = -1, beta = -1, mean = -1, variance = -1;
  float epsilon = 0;
  bool fix_gamma = false;
  double data_scale = 1, output_scale = 1;  // steps of 1
  int scale = -1, shift = -1;               // of the kernel: inputs 1 and 2
};

struct Program {
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;  // inputs before what uses them; those of the backward pass last
  std::vector<int> outputs;           // tensors
  std::vector<Folding> foldings;
  std::vector<QuantizedWeight> quantized_weights;
  std::vector<QuantizedNorm> quantized_norms;
};

// A graph as operations, with the number of each thing in the program.
struct LoweredGraph {
  Program program;
  std::vector<int> same;        // by entry: the first entry with the same contents; as a rule itself
  std::vector<int> tensors;     // by entry
  std::vector<int> operations;  // by node; -1 of variables, views and nodes that compute nothing anew
  std::vector<Lowered> nodes;   // by node; of a variable empty
  // By node: outputs of its kernel after those of the node and the updates, as far as the backward pass reads them.
  std::vector<std::vector<int>> extras;
};

// The entries of a graph: what its nodes make, in their order.
struct GraphEntries {
  std::vector<Shape> shapes;
  std::vector<DType> types;
};

// The operations of the pass, inference or forward. `first_equal` as of firstEqualNodes(). Errors: those of lowerNode().
Result<LoweredGraph> lowerGraph(const IndexedGraph& graph, const GraphEntries& entries,
                                const std::vector<int>& first_equal, Pass pass);

// Which operations join those before them.
struct Fusions {
  // Into a convolution: a BatchNorm (MXNET_DISABLE_MKLDNN_FUSE_CONV_BN), an activation or clip (..._FUSE_CONV_RELU), an addition
  // (..._FUSE_CONV_SUM).
  bool norm_into_convolution = true, activation_into_convolution = true, sum_into_convolution = true;
  bool activation_into_dense = true;  // ..._FUSE_FC_ELTWISE
};

// Joins operations that one kernel computes: a BatchNorm with the convolution before it, then an activation or clip, and an
// addition, with the convolution, dense layer or BatchNorm before them.
void fuse(Program& program, const Fusions& wanted);

// Joins a BatchNorm with the convolution after it, which computes both in pieces of the batch. After fuse(), for backends that have
// NormalizedConvolution.
void fuseNorms(Program& program);

// Which 8-bit operations write what follows from their sums, so that no operation of its own does.
struct Quantizations {
  // Into a dense layer (MXNET_DISABLE_MKLDNN_QFC_FUSE_ALL, ..._QFC_FLOAT_OUTPUT), or a product of elements (..._QEM_...).
  bool requantize_into_dense = true, dequantize_into_dense = true;
  bool requantize_into_product = true, dequantize_into_product = true;
};

// Has operations compute on 8-bit numbers where the graph quantizes and dequantizes around them. After fuse().
void quantizeOperations(Program& program, const Quantizations& wanted, const Backend& backend);

// The tensors of which foldings and quantized weights are computed; without those of dense layers if they are not wanted.
std::vector<int> constantSources(const Program& program, bool with_dense = true);

// The same in training: a BatchNorm with the relu after it, and their gradients.
void fuseTraining(Program& program);

// Joins the gradient of a BatchNorm whose gamma is fixed and whose data need no gradient with that of the convolution before it. For
// backends that have the gradients of NormalizedConvolution.
void fuseShiftGradients(Program& program);

// Has the backward pass compute large results of BatchNorms again instead of keeping them, and with `mirrors`
// (MXNET_BACKWARD_DO_MIRROR) many others. After fuseTraining().
void recomputeResults(Program& program, bool mirrors);

// Joins functions of each element that read each other's results.
void fusePointwise(Program& program);

// The tensor whose memory it has.
int baseOf(const Program& program, int tensor);

// By tensor: the operation that makes it, -1 none, and how many operations, views and outputs read it.
struct Uses {
  std::vector<int> maker, readers;
};
Uses usesOf(const Program& program);

// Whether the tensors have elements of float32.
bool areFloats(const Program& program, const std::vector<int>& tensors);

void removeOperations(Program& program, const std::vector<bool>& removed);

}  // namespace pitwall::graph
