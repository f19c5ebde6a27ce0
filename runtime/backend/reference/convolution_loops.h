// The products and sums of a convolution, one at a time.
#pragma once

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

struct ConvolutionLoops {
  ConvolutionDesc desc;
  Window w;

  std::int64_t groupChannels() const { return w.channels / desc.groups; }

  std::int64_t data(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
    return ((n * w.channels + c) * w.height + y) * w.width + x;
  }
  std::int64_t out(std::int64_t n, std::int64_t m, std::int64_t y, std::int64_t x) const {
    return ((n * w.out_channels + m) * w.out_height + y) * w.out_width + x;
  }
  std::int64_t weight(std::int64_t m, std::int64_t c, std::int64_t ky, std::int64_t kx) const {
    return ((m * groupChannels() + c) * desc.kernel[0] + ky) * desc.kernel[1] + kx;
  }

  // Calls visit(data index, weight index) for each product that contributes to out(n, m, oy, ox).
  template <class Visit>
  void products(std::int64_t n, std::int64_t m, std::int64_t oy, std::int64_t ox, Visit visit) const {
    const std::int64_t first_channel = m / (w.out_channels / desc.groups) * groupChannels();
    for (std::int64_t c = 0; c < groupChannels(); ++c) {
      for (std::int64_t ky = 0; ky < desc.kernel[0]; ++ky) {
        const std::int64_t y = oy * desc.stride[0] - desc.pad[0] + ky * desc.dilate[0];
        if (y < 0 || y >= w.height) continue;
        for (std::int64_t kx = 0; kx < desc.kernel[1]; ++kx) {
          const std::int64_t x = ox * desc.stride[1] - desc.pad[1] + kx * desc.dilate[1];
          if (x < 0 || x >= w.width) continue;
          visit(data(n, first_channel + c, y, x), weight(m, c, ky, kx));
        }
      }
    }
  }

  // Calls visit(n, m, y, x) for each output.
  template <class Visit>
  void outputs(Visit visit) const {
    for (std::int64_t n = 0; n < w.batch; ++n) {
      for (std::int64_t m = 0; m < w.out_channels; ++m) {
        for (std::int64_t y = 0; y < w.out_height; ++y) {
          for (std::int64_t x = 0; x < w.out_width; ++x) visit(n, m, y, x);
        }
      }
    }
  }
};

}  // namespace pitwall::reference
