#include <cmath>

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

struct BatchNormSizes {
  std::int64_t batch, channels, pixels;

  // Calls visit(index) for each element of one channel.
  template <class Visit>
  void channel(std::int64_t c, Visit visit) const {
    for (std::int64_t n = 0; n < batch; ++n) {
      for (std::int64_t p = 0; p < pixels; ++p) visit((n * channels + c) * pixels + p);
    }
  }
  double perChannel() const { return static_cast<double>(batch * pixels); }
};

double at(const float* values, std::int64_t i) { return static_cast<double>(values[i]); }

void normalise(const BatchNormDesc& d, const BatchNormSizes& z, const KernelArgs& a, std::int64_t c,
               double mean, double variance) {
  const double gamma = d.fix_gamma ? 1 : at(input(a, 1), c);
  const double scale = gamma / std::sqrt(variance + static_cast<double>(d.epsilon));
  z.channel(c, [&](std::int64_t i) {
    const double value = (at(input(a, 0), i) - mean) * scale + at(input(a, 2), c);
    output(a, 0)[i] = static_cast<float>(d.relu && value < 0 ? 0 : value);
  });
}

void inference(const BatchNormDesc& d, const BatchNormSizes& z, const KernelArgs& a) {
  for (std::int64_t c = 0; c < z.channels; ++c) normalise(d, z, a, c, at(input(a, 3), c), at(input(a, 4), c));
}

// r = momentum * r + (1 - momentum) * batch
void blend(float& running, double batch, float momentum) {
  const double m = static_cast<double>(momentum);
  running = static_cast<float>(m * static_cast<double>(running) + (1 - m) * batch);
}

// The running statistics are those that are saved for the gradient.
void forwardGlobal(const BatchNormDesc& d, const BatchNormSizes& z, const KernelArgs& a) {
  for (std::int64_t c = 0; c < z.channels; ++c) {
    normalise(d, z, a, c, at(output(a, 3), c), at(output(a, 4), c));
    output(a, 1)[c] = output(a, 3)[c];
    output(a, 2)[c] = output(a, 4)[c];
  }
}

void forward(const BatchNormDesc& d, const BatchNormSizes& z, const KernelArgs& a) {
  if (d.use_global_stats) return forwardGlobal(d, z, a);
  for (std::int64_t c = 0; c < z.channels; ++c) {
    double mean = 0, variance = 0;
    z.channel(c, [&](std::int64_t i) { mean += at(input(a, 0), i); });
    mean /= z.perChannel();
    z.channel(c, [&](std::int64_t i) { variance += std::pow(at(input(a, 0), i) - mean, 2); });
    variance /= z.perChannel();
    normalise(d, z, a, c, mean, variance);
    output(a, 1)[c] = static_cast<float>(mean);
    output(a, 2)[c] = static_cast<float>(variance);
    blend(output(a, 3)[c], mean, d.momentum);
    blend(output(a, 4)[c], variance, d.momentum);
  }
}

void backward(const BatchNormDesc& d, const BatchNormSizes& z, const KernelArgs& a) {
  const float *data = input(a, 0), *dout = input(a, 4);
  for (std::int64_t c = 0; c < z.channels; ++c) {
    const double mean = at(input(a, 2), c), gamma = d.fix_gamma ? 1 : at(input(a, 1), c);
    const double inverse = 1 / std::sqrt(at(input(a, 3), c) + static_cast<double>(d.epsilon));
    double dgamma = 0, dbeta = 0;
    // The gradient of what the relu lets through.
    const double shift = d.relu ? at(input(a, 5), c) : 0;
    const auto head = [&](std::int64_t i) {
      const bool stops = d.relu && !((at(data, i) - mean) * gamma * inverse + shift > 0);
      return stops ? 0.0 : at(dout, i);
    };
    z.channel(c, [&](std::int64_t i) {
      dgamma += head(i) * (at(data, i) - mean) * inverse;
      dbeta += head(i);
    });
    z.channel(c, [&](std::int64_t i) {
      const double normal = (at(data, i) - mean) * inverse;
      // Mean and variance depend on the data, unless they are the running ones.
      const double through = d.use_global_stats ? 0 : (dbeta + normal * dgamma) / z.perChannel();
      output(a, 0)[i] = static_cast<float>(gamma * inverse * (head(i) - through));
    });
    output(a, 1)[c] = d.fix_gamma ? 0 : static_cast<float>(dgamma);
    output(a, 2)[c] = static_cast<float>(dbeta);
  }
}

}  // namespace

RunFunction make(const BatchNormDesc& desc, Pass pass, Signature& s) {
  const Shape& data = s.inputs[0].shape;
  const BatchNormSizes z{data[0], data[1], data.elements() / (data[0] * data[1])};
  const auto compute = pass == Pass::inference ? inference : pass == Pass::forward ? forward : backward;
  return [desc, z, compute](const KernelArgs& a) { return compute(desc, z, a), Status{}; };
}

}  // namespace pitwall::reference
