// The maximum, average or another sum of a window that slides over an image.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// norm: the p-th root of the sum of the p-th powers. As in MXNet these keep their sign: of p = 1 it is the sum.
enum class PoolingType : std::uint8_t { max, average, sum, norm };
// How the number of windows is rounded: down, so that each is inside the image and its padding, or up.
enum class PoolingConvention : std::uint8_t { valid, full };

// NCHW; or NCW, of which the second numbers of kernel, stride and pad are used, and the first are 1, 1 and 0.
//   inference: data -> out                   (of maximum and average also int8 and uint8, rounded to the nearest)
//   forward:   data -> out, workspace (opaque bytes, DType uint8, of the shape that outputs()[1] says)
//   backward:  data, out, dout, workspace -> ddata      (data and out are read for a norm only: else pass any pointer)
// The gradient of a norm that is 0 is 0.
struct PoolingDesc {
  static const OperatorKind kKind;
  PoolingType type = PoolingType::max;
  std::array<std::int64_t, 2> kernel{2, 2}, stride{2, 2}, pad{0, 0};
  PoolingConvention convention = PoolingConvention::valid;
  std::int8_t power = 2;  // p of a norm: 1, 2 or 3
  bool global = false;    // one window, the whole image: kernel, stride and pad are not used
  bool count_padding =
      false;  // an average is over the window's elements in image and padding, else over those in the image
  // The same, where global is replaced by the kernel of this data.
  PoolingDesc over(const Shape& data) const;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const PoolingDesc&, const PoolingDesc&) = default;
};

namespace op {

Result<NDArray> pooling(const NDArray& data, const PoolingDesc& desc, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
