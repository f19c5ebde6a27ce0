// Convolution of images.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"
#include "runtime/operators/activation.h"

namespace pitwall {

// NCHW data, OIHW weight (O x I/groups x KH x KW), O bias; or NCW data and O x I/groups x KW weight, of which the second numbers
// of kernel, stride, pad and dilate are used, and the first are as below.
//   inference, forward: data, weight, [bias], [addend] -> out
//   backwardData:       dout, weight         -> ddata
//   backwardWeights:    data, dout           -> dweight, [dbias]
struct ConvolutionDesc {
  static const OperatorKind kKind;
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, pad{0, 0}, dilate{1, 1};
  std::int64_t channels = 1;  // of the output
  std::int64_t groups = 1;
  bool bias = true;
  // For inference, where the weight is converted to the kernel's layout once and used often.
  enum class Implementation : std::uint8_t {
    library,   // the library's first choice
    measured,  // the same, with its time (Kernel::measuredSeconds())
    blocked,   // the fastest on blocked data, with its time; the weight may take several times its size
  };
  Implementation implementation = Implementation::library;
  // Fused, for inference only: out = activation(convolution + addend). The addend has the shape of the output; where it is
  // at the output's address, nothing is copied.
  bool adds = false;
  FusedActivation activation = {};
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ConvolutionDesc&, const ConvolutionDesc&) = default;
};

namespace op {

// data N x C x H x W, weight O x C/groups x KH x KW, bias O.
Result<NDArray> convolution(const NDArray& data, const WeightAndBias& trained, const ConvolutionDesc& desc,
                            const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
