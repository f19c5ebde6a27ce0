// Operators on arrays. Each returns immediately with the array that will hold the result; the work is pushed
// to the session's engine. Incompatible shapes are an error of the call (invalidInput naming layer, operator
// and shapes); failures while running are reported when the result is waited for.
//
// While an autograd::RecordScope is alive on the calling thread, operators run in training mode and remember
// what their gradients need.
//
// Each operator has its header in runtime/operators/, with its Desc and its calls; this one includes them all.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_list.h"  // generated: the headers in runtime/operators/

namespace pitwall {
namespace op {

// N x all other axes. Shares the memory if it is already row-major.
Result<NDArray> flatten(const NDArray& data, const CallSite& site = {});
Result<NDArray> reshape(const NDArray& data, Shape shape, const CallSite& site = {});

}  // namespace op

// How an array is initialised. The same seed gives the same values on every machine.
struct Initialiser {
  enum class Kind : std::uint8_t { constant, uniform, normal, xavier };
  Kind kind = Kind::xavier;
  float a = 3;  // constant: the value; uniform: low; normal: mean; xavier: magnitude
  float b = 0;  // uniform: high; normal: standard deviation

  static Initialiser constant(float value) { return {Kind::constant, value, 0}; }
  static Initialiser uniform(float low, float high) { return {Kind::uniform, low, high}; }
  static Initialiser normal(float mean, float deviation) { return {Kind::normal, mean, deviation}; }
  // Uniform within +-sqrt(magnitude / ((fan_in + fan_out) / 2)).
  static Initialiser xavier(float magnitude = 3) { return {Kind::xavier, magnitude, 0}; }
};

// Overwrites the array. The values are computed before it returns.
Status initialise(NDArray& array, const Initialiser& initialiser, std::uint64_t seed);

}  // namespace pitwall
