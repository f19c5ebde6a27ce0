// The shapes of an operator's inputs and outputs: checked and inferred once, for every backend. Each
// operator's part is its Desc's infer(), in the operator's file in runtime/operators/.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace pitwall {

// "Convolution", "FullyConnected", ...
const char* operatorName(const OperatorKindDesc& desc);

// "LRN forward(2x3x4x4)": the request, for messages.
std::string describeRequest(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                            const TensorSpec* like);

struct Signature {
  std::vector<TensorSpec> inputs, outputs;  // all row-major, in the order of the Desc
  Bytes workspace_bytes = 0;                // that a run needs besides; inferSignature() leaves 0
};

// Row-major signature of one pass. `like` as in Backend::prepare(). A workspace gets one byte: its size
// depends on the backend. Where an input is float16 or bfloat16 the outputs are, unless the operator's Desc says otherwise; others may be
// float32 beside it. Errors: invalidInput naming operator, pass and shapes; unsupported for a pass or an element type that the operator
// does not have.
Result<Signature> inferSignature(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                                 const TensorSpec* like);

// The shapes of one request, with checks whose errors name it; for infer().
struct ShapeQuery {
  const OperatorKindDesc& desc;
  Pass pass;
  std::span<const TensorSpec> inputs;
  const TensorSpec* like;

  const Shape& shape(std::size_t i) const { return inputs[i].shape; }
  bool isForward() const { return pass == Pass::forward || pass == Pass::inference; }

  Failure wrong(const std::string& what) const;
  Failure noSuchPass() const;
  Status expectInputs(std::size_t count) const;
  Status expectShape(std::size_t i, const Shape& expected, const char* name) const;
  Status expectWorkspace(std::size_t i) const;
  // 0 for the first; `axis` counts from the end when negative. Errors: there is no such axis.
  Result<int> axisOf(int axis, const Shape& shape) const;

  // float16 or bfloat16 where an input is, else float32.
  DType realType() const;
  // Input i is float32 or realType().
  Status expectReal(std::size_t i) const;

  // The inputs as they are, and outputs of realType().
  Signature signature(std::span<const Shape> outputs) const;
  Signature signature(std::initializer_list<Shape> outputs) const {
    return signature(std::span(outputs.begin(), outputs.size()));
  }
  // The same with one byte of workspace as last output.
  Signature withWorkspace(std::initializer_list<Shape> outputs) const;
};

// Outputs of a window that slides over `data` elements; 0 when it does not fit.
std::int64_t slidingExtent(std::int64_t data, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                           std::int64_t dilate);

// Which of a window's two numbers is the first that is used, for data with this many axes: of NCW data the second.
inline std::size_t firstOfWindow(const Shape& data) { return data.rank() == 3 ? 1 : 0; }

// Kernel, stride and pad of a window over `data`, which is NCHW or NCW.
template <class D>
Status checkWindow(const ShapeQuery& query, const D& d, const Shape& data) {
  if (data.rank() != 3 && data.rank() != 4) return query.wrong("data must have 4 axes (NCHW) or 3 (NCW)");
  for (std::size_t i = 0; i < 2; ++i) {
    if (d.kernel[i] < 1 || d.stride[i] < 1 || d.pad[i] < 0)
      return query.wrong("kernel and stride must be at least 1, pad at least 0");
  }
  if (firstOfWindow(data) == 1 && (d.kernel[0] != 1 || d.stride[0] != 1 || d.pad[0] != 0))
    return query.wrong("data has 3 axes: the first kernel and stride must be 1, the first pad 0");
  return {};
}

// The extents of a 2-D sliding window over NCHW data, with names for messages; of NCW data the height is 1.
struct Window {
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;  // of the data
  std::int64_t out_channels = 0, out_height = 0, out_width = 0;
};
Window windowOf(const Shape& data, const Shape& out);

}  // namespace pitwall
