// What the tables of named operators share.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/named_operators.h"

namespace pitwall::graph {

// One table for each file of operators.
std::span<const NamedOperator> convolutionOperators();  // convolution.cpp: both directions
std::span<const NamedOperator> poolingOperators();      // pooling.cpp: pooling, LRN
std::span<const NamedOperator> normOperators();         // norm.cpp: BatchNorm, LayerNorm
std::span<const NamedOperator> denseOperators();        // dense.cpp: FullyConnected, dot, batch_dot
std::span<const NamedOperator> sequenceOperators();     // sequence.cpp: Embedding, take, RNN
std::span<const NamedOperator> elementwiseOperators();  // elementwise.cpp: functions of each element
std::span<const NamedOperator> arithmeticOperators();   // arithmetic.cpp: of two or more arrays
std::span<const NamedOperator> softmaxOperators();      // softmax.cpp
std::span<const NamedOperator> lossOperators();         // loss.cpp: MakeLoss
std::span<const NamedOperator> viewOperators();         // view.cpp: Reshape, Flatten, expand_dims
std::span<const NamedOperator> axisOperators();         // axis.cpp: Concat, split, transpose, sum
std::span<const NamedOperator> quantizedOperators();    // quantized.cpp: to 8-bit numbers and back

inline constexpr auto kInteger = AttributeKind::integer;
inline constexpr auto kReal = AttributeKind::real;
inline constexpr auto kBoolean = AttributeKind::boolean;
inline constexpr auto kTuple = AttributeKind::tuple;
inline constexpr auto kChoice = AttributeKind::choice;
inline constexpr auto kUnused = AttributeKind::unused;
// Inputs or outputs of one node, at most.
inline constexpr std::int64_t kMostCounted = 1 << 16;

// "output", with one input "data" or two named so.
inline std::vector<std::string> onlyData(const Attributes&) { return {"data"}; }
inline std::vector<std::string> onlyOutput(const Attributes&) { return {"output"}; }
inline std::vector<std::string> noStates(const Attributes&) { return {}; }
inline std::vector<std::string> twoSides(const Attributes&) { return {"lhs", "rhs"}; }
inline int oneVisible(const Attributes&) { return 1; }
// arg0, arg1, ... as many as num_args.
std::vector<std::string> countedInputs(const Attributes& attributes);

// All extents are known.
bool isKnown(const std::optional<Shape>& shape);

// Adds what `from` knows to `to`. Errors: invalidInput, with `what` the name of `to`.
Status assign(std::optional<Shape>& to, const Shape& from, const std::string& what);
// Adds what either knows to the other.
Status equate(std::optional<Shape>& a, std::optional<Shape>& b, const std::string& what);
// All inputs and outputs have one shape.
Status sameShapes(const Attributes&, NodeShapes& shapes);
// The shape with another extent.
Shape with(const Shape& shape, int axis, std::int64_t extent);
// "4x?x28": 0 is unknown.
std::string shapeText(const Shape& shape);

// An axis counted from the end when negative. Errors: invalidInput.
Result<int> axisOf(std::int64_t axis, int rank, const char* name);

// The product; 0 when an extent is not known or it exceeds 2^62.
std::int64_t product(const Shape& shape, int from, int to);

// The product, at most 2^62.
Flop times(std::initializer_list<std::int64_t> factors);

Failure wrong(std::string what);            // invalidInput
Failure noKernel(const std::string& what);  // unsupported: "there is no kernel for ..."

Flop noFlop(const Attributes&, const NodeShapes&);
// One for each element of output 0.
Flop outputElements(const Attributes&, const NodeShapes& shapes);

// A kernel with all arguments of the node, that writes its first output.
Result<Lowered> lowered(const OperatorKindDesc& desc, int inputs = 1);
// Its gradient is a view too.
Result<Lowered> viewOfInput();

// Where a kernel of the backward pass finds an input.
namespace from {
inline GradientSource input(int i) { return {GradientSource::Kind::input, i}; }
inline GradientSource output(int i) { return {GradientSource::Kind::output, i}; }
inline GradientSource extra(int i) { return {GradientSource::Kind::extra, i}; }
inline GradientSource gradient(int output = 0) { return {GradientSource::Kind::gradient, output}; }
inline GradientSource zerosLike(int input) { return {GradientSource::Kind::zeros, input}; }
inline GradientSource unread(GradientSource source) {
  source.is_read = false;
  return source;
}
}  // namespace from
// The lowered operator with one kernel more in its gradient. An error passes.
Result<Lowered> withGradient(Result<Lowered> lowered, GradientKernel kernel);
// Of data, weight and perhaps bias: a kernel for the data and one for what is trained. Each has about the FLOP of the
// forward pass.
GradientRule weightedRule(const char* name, const OperatorKindDesc& desc, std::size_t inputs, Flop forward);

}  // namespace pitwall::graph
