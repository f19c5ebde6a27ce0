// Several functions of each element as one kernel: a chain that an executor fuses, which reads and writes memory once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall {

// Registers 0, 1, ... are the inputs, in their order; each instruction makes one more. All arrays have one shape.
//   inference, forward: inputs -> the registers that `outputs` names
struct PointwiseDesc {
  static const OperatorKind kKind;
  static constexpr std::size_t kMostInputs = 12, kMostInstructions = 32, kMostOutputs = 6;

  enum class Function : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,
    maximum,  // NaN where a or b is, as minimum
    minimum,
    linear,      // alpha a + beta
    reciprocal,  // alpha / a
    clip,        // a, at least alpha and at most beta
    relu,
    sigmoid,
    tanh,
    softrelu,  // log(1 + exp(a))
    // a is a gradient; b what it is multiplied with follows from.
    reluGradient,      // where b > 0
    sigmoidGradient,   // a b (1 - b)
    tanhGradient,      // a (1 - b b)
    softreluGradient,  // a sigmoid(b)
    clipGradient,      // where alpha < b < beta
  };
  struct Instruction {
    Function function = Function::add;
    std::uint8_t a = 0, b = 0;  // registers
    float alpha = 0, beta = 0;
    friend bool operator==(const Instruction&, const Instruction&) = default;
  };

  int inputs = 0;
  std::vector<Instruction> instructions = {};
  std::vector<std::uint8_t> outputs = {};  // registers

  // "r2 = add r0 r1; r3 = relu r2 -> r3"
  std::string toString() const;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const PointwiseDesc&, const PointwiseDesc&) = default;
};

}  // namespace pitwall
