// The transpose of a convolution: from its output to its data.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// NCHW data, weight C x O/groups x KH x KW, O bias. Each element of the data adds its window of the weight to the output,
// whose extents are stride * (data - 1) + dilate * (kernel - 1) + 1 - 2 * pad + adjust.
//   inference, forward: data, weight, [bias] -> out
//   backwardData:       dout, weight         -> ddata
//   backwardWeights:    data, dout           -> dweight, [dbias]
struct DeconvolutionDesc {
  static const OperatorKind kKind;
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, pad{0, 0}, dilate{1, 1};
  std::array<std::int16_t, 2> adjust{0, 0};  // less than stride
  std::int64_t channels = 1;                 // of the output
  std::int32_t groups = 1;
  bool bias = true;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const DeconvolutionDesc&, const DeconvolutionDesc&) = default;
};

namespace op {

Result<NDArray> deconvolution(const NDArray& data, const WeightAndBias& trained,
                              const DeconvolutionDesc& desc, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
