// An operator that a program defines: functions over row-major values, pushed, recorded and differentiated like those of
// runtime/operators.h. docs/guide.md has a complete program.
//
// An operator whose kernels differ by backend is added to Pitwall itself instead (CONTRIBUTING.md).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"
#include "db/units.h"
#include "runtime/call_site.h"
#include "runtime/ndarray.h"

namespace pitwall {

struct CustomInput {
  Shape shape;
  std::span<const float> values;
};

struct CustomForward {
  std::vector<CustomInput> inputs;
  Shape shape;              // of the output
  std::span<float> output;  // to be written, all of it
};

struct CustomBackward {
  std::vector<CustomInput> inputs;
  CustomInput output;           // what forward wrote
  std::span<const float> head;  // the gradient of the output
  // To be written, all of it: the gradient of each input; empty where none is needed.
  std::vector<std::span<float>> gradients;
};

// The functions are copied into the calls. They run on a worker thread, once per call and never for one array at the same
// time; they must not wait for arrays. What they return as an error becomes the error of the arrays that they write.
struct CustomOperator {
  std::string name;  // in the trace and in messages: "Swish"
  // The shape of the output, or an error for inputs that do not fit.
  std::function<Result<Shape>(std::span<const Shape> inputs)> shape;
  std::function<Status(const CustomForward& call)> forward;
  std::function<Status(const CustomBackward& call)>
      backward;  // empty: arrays that need a gradient are an error
  std::function<Flop(std::span<const Shape> inputs)> flop = {};  // of the forward pass; empty: unknown
};

namespace op {

// Returns before anything has run. The arrays have values of float32 and are on one device, a CPU. Errors: invalidInput
// naming the operator: no arrays, an empty handle, other types, several devices, and what `shape` returns; unsupported on
// other devices, and while recording for arrays that need a gradient without `backward`.
Result<NDArray> custom(const CustomOperator& custom, std::span<const NDArray> inputs,
                       const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
