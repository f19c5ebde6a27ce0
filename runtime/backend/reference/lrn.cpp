#include <algorithm>
#include <cmath>

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

// An element is data[sample * channels * pixels + channel * pixels + pixel].
struct Extents {
  std::int64_t samples, channels, pixels;
};

// The window of channels around `channel`: [first, last).
struct Channels {
  std::int64_t first, last;
  Channels(const LrnDesc& d, std::int64_t channel, std::int64_t channels)
      : first(std::max<std::int64_t>(0, channel - d.nsize / 2)),
        last(std::min(channels, channel + d.nsize / 2 + 1)) {}
};

// Calls visit(offset of channel 0) for each sample and pixel.
template <class Visit>
void columns(const Extents& e, Visit visit) {
  for (std::int64_t n = 0; n < e.samples; ++n) {
    for (std::int64_t pixel = 0; pixel < e.pixels; ++pixel) visit(n * e.channels * e.pixels + pixel);
  }
}

// knorm + alpha / nsize * sum of squares, for each channel of one column.
std::vector<double> norms(const LrnDesc& d, const Extents& e, const float* column) {
  std::vector<double> norm(static_cast<std::size_t>(e.channels));
  for (std::int64_t c = 0; c < e.channels; ++c) {
    const Channels window(d, c, e.channels);
    double sum = 0;
    for (std::int64_t i = window.first; i < window.last; ++i) {
      const double x = static_cast<double>(column[i * e.pixels]);
      sum += x * x;
    }
    norm[static_cast<std::size_t>(c)] =
        static_cast<double>(d.knorm) + static_cast<double>(d.alpha) / static_cast<double>(d.nsize) * sum;
  }
  return norm;
}

void forward(const LrnDesc& d, const Extents& e, const float* data, float* out) {
  columns(e, [&](std::int64_t at) {
    const std::vector<double> norm = norms(d, e, data + at);
    for (std::int64_t c = 0; c < e.channels; ++c) {
      const std::int64_t i = at + c * e.pixels;
      out[i] = static_cast<float>(static_cast<double>(data[i]) *
                                  std::pow(norm[static_cast<std::size_t>(c)], -static_cast<double>(d.beta)));
    }
  });
}

// Each element has an effect on its own output and, through the norm, on those of its window.
void backward(const LrnDesc& d, const Extents& e, const float* data, const float* dout, float* ddata) {
  const double beta = static_cast<double>(d.beta);
  const double factor = 2 * beta * static_cast<double>(d.alpha) / static_cast<double>(d.nsize);
  columns(e, [&](std::int64_t at) {
    const std::vector<double> norm = norms(d, e, data + at);
    for (std::int64_t c = 0; c < e.channels; ++c) {
      const Channels window(d, c, e.channels);
      double sum = 0;
      for (std::int64_t other = window.first; other < window.last; ++other) {
        const std::int64_t i = at + other * e.pixels;
        sum += static_cast<double>(dout[i]) * static_cast<double>(data[i]) *
               std::pow(norm[static_cast<std::size_t>(other)], -beta - 1);
      }
      const std::int64_t i = at + c * e.pixels;
      ddata[i] = static_cast<float>(static_cast<double>(dout[i]) *
                                        std::pow(norm[static_cast<std::size_t>(c)], -beta) -
                                    factor * static_cast<double>(data[i]) * sum);
    }
  });
}

}  // namespace

// The norms are computed again for the gradient: the workspace is not used.
RunFunction make(const LrnDesc& desc, Pass pass, Signature& s) {
  const Shape& shape = s.inputs[0].shape;
  const Extents extents{shape[0], shape[1], shape[2] * shape[3]};
  if (pass == Pass::backward) {
    return [desc, extents](const KernelArgs& a) {
      backward(desc, extents, input(a, 0), input(a, 1), output(a, 0));
      return Status{};
    };
  }
  return [desc, extents](const KernelArgs& a) {
    forward(desc, extents, input(a, 0), output(a, 0));
    return Status{};
  };
}

}  // namespace pitwall::reference
