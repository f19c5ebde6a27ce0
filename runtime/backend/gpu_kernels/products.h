// Products of matrices, convolutions and their transposes, as plain loops: one thread for each output. Slow beside
// the libraries of the vendor; they need none.
#pragma once

#include "runtime/backend/gpu_kernels/channel_sums.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/backend/support/matrix_product.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

// out (rows x columns) of each matrix of a batch; the element of a factor in row r and column c is at r * row + c * column.
struct Product {
  std::int64_t rows, columns, inner;
  std::int64_t left_row, left_column, right_row, right_column;
  const float *left, *right, *bias;  // bias: of a column, or nullptr
  float* out;
  FusedActivation activation;
  std::int64_t out_row;  // between rows of `out`
  float beta = 0;        // of what `out` has
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t batch = i / (rows * columns), r = i / columns % rows, c = i % columns;
    const float *a = left + batch * rows * inner + r * left_row,
                *b = right + batch * inner * columns + c * right_column;
    float sum = 0;
    for (std::int64_t k = 0; k < inner; ++k) sum += a[k * left_column] * b[k * right_row];
    if (bias != nullptr) sum += bias[c];
    float& to = out[(batch * rows + r) * out_row + c];
    if (beta != 0) sum += beta * to;
    to = activated(activation, sum);
  }
};

template <class L>
void multiply(L& launch, const MatrixProduct& p, const KernelArgs& a, std::size_t to) {
  const bool ta = p.left.transposed, tb = p.right.transposed;
  launch.each(p.batch * p.rows * p.columns, Product{p.rows,
                                                    p.columns,
                                                    p.inner,
                                                    ta ? 1 : p.inner,
                                                    ta ? p.rows : 1,
                                                    tb ? 1 : p.columns,
                                                    tb ? p.inner : 1,
                                                    input(a, p.left.array),
                                                    input(a, p.right.array),
                                                    nullptr,
                                                    output(a, to),
                                                    {},
                                                    p.columns});
}

template <class L>
GpuFunction matrixProducts(const MatrixFactors& f, Pass pass) {
  if (pass != Pass::backward)
    return [p = f.product()](const KernelArgs& a) {
      L launch(a.context);
      multiply(launch, p, a, 0);
      return launch.status();
    };
  return [da = f.gradientOfA(), db = f.gradientOfB()](const KernelArgs& a) {
    L launch(a.context);
    multiply(launch, da, a, 0);
    multiply(launch, db, a, 1);
    return launch.status();
  };
}

template <class L>
GpuFunction make(const DotDesc& d, Pass pass, Signature& s) {
  return matrixProducts<L>(d.factors(s.inputs[0].shape, s.inputs[1].shape), pass);
}

template <class L>
GpuFunction make(const BatchDotDesc& d, Pass pass, Signature& s) {
  return matrixProducts<L>(d.factors(s.inputs[0].shape, s.inputs[1].shape), pass);
}

// The extents of a dense layer: out (n x m) = data (n x k) weight (m x k)^T.
struct DenseExtents {
  std::int64_t n, m, k;
  DenseExtents(const FullyConnectedDesc& d, Pass pass, const Signature& s) : m(d.units) {
    const Shape& data = pass == Pass::backwardData ? s.outputs[0].shape : s.inputs[0].shape;
    k = d.flatten ? data.elements() / data[0] : data[data.rank() - 1];
    n = data.elements() / k;
  }
};

template <class L>
GpuFunction make(const FullyConnectedDesc& d, Pass pass, Signature& s) {
  const DenseExtents z(d, pass, s);
  const auto [n, m, k] = z;
  const bool bias = d.bias;
  if (pass == Pass::backwardData)
    return [=, n = n, m = m, k = k](const KernelArgs& a) {
      L launch(a.context);
      launch.each(n * k,
                  Product{n, k, m, m, 1, k, 1, input(a, 0), input(a, 1), nullptr, output(a, 0), {}, k});
      return launch.status();
    };
  if (pass == Pass::backwardWeights) {
    const ChannelParts columns({m, 1, true}, n);
    if (bias) s.workspace_bytes = columns.sizeBytes(1);
    return [=, n = n, m = m, k = k](const KernelArgs& a) {
      L launch(a.context);
      launch.each(m * k,
                  Product{m, k, n, 1, m, k, 1, input(a, 1), input(a, 0), nullptr, output(a, 0), {}, k});
      if (bias) sumChannels<float>(launch, columns, arrayIn<float>(a, 1), a.context.workspace, output(a, 1));
      return launch.status();
    };
  }
  return [=, n = n, m = m, k = k, activation = d.activation](const KernelArgs& a) {
    L launch(a.context);
    launch.each(n * m, Product{n, m, k, k, 1, 1, k, input(a, 0), input(a, 1), bias ? input(a, 2) : nullptr,
                               output(a, 0), activation, m});
    return launch.status();
  };
}

// A convolution from (channels x extent) to (out_channels x out): the passes of Deconvolution are the others' of this.
struct ConvolutionPlace {
  std::int64_t channels, out_channels, groups;
  std::int64_t extent[2], out[2], kernel[2], stride[2], pad[2], dilate[2];

  PITWALL_DEVICE std::int64_t groupIn() const { return channels / groups; }
  PITWALL_DEVICE std::int64_t groupOut() const { return out_channels / groups; }
  PITWALL_DEVICE std::int64_t pixels() const { return extent[0] * extent[1]; }
  PITWALL_DEVICE std::int64_t outPixels() const { return out[0] * out[1]; }
  PITWALL_DEVICE std::int64_t taps() const { return kernel[0] * kernel[1]; }
  PITWALL_DEVICE std::int64_t source(int axis, std::int64_t o, std::int64_t tap) const {
    return o * stride[axis] - pad[axis] + tap * dilate[axis];
  }
};

struct Convolve {
  ConvolutionPlace z;
  const float *data, *weight, *bias, *addend;  // bias, addend: or nullptr
  float* to;
  FusedActivation activation;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t x = i % z.out[1], y = i / z.out[1] % z.out[0], m = i / z.outPixels() % z.out_channels,
                       n = i / (z.outPixels() * z.out_channels);
    const std::int64_t first = m / z.groupOut() * z.groupIn();
    float sum = bias != nullptr ? bias[m] : 0;
    for (std::int64_t c = 0; c < z.groupIn(); ++c) {
      const float *image = data + (n * z.channels + first + c) * z.pixels(),
                  *taps = weight + (m * z.groupIn() + c) * z.taps();
      for (std::int64_t ky = 0; ky < z.kernel[0]; ++ky) {
        const std::int64_t row = z.source(0, y, ky);
        if (row < 0 || row >= z.extent[0]) continue;
        for (std::int64_t kx = 0; kx < z.kernel[1]; ++kx) {
          const std::int64_t column = z.source(1, x, kx);
          if (column < 0 || column >= z.extent[1]) continue;
          sum += image[row * z.extent[1] + column] * taps[ky * z.kernel[1] + kx];
        }
      }
    }
    if (addend != nullptr) sum += addend[i];
    to[i] = activated(activation, sum);
  }
};

// From the output's side to the data's: of each element of the data, the outputs that read it.
struct ConvolveBack {
  ConvolutionPlace z;
  const float *dout, *weight, *bias;  // bias: of a channel of the data (Deconvolution), or nullptr
  float* ddata;
  PITWALL_DEVICE std::int64_t outputOf(int axis, std::int64_t at, std::int64_t tap) const {
    const std::int64_t shifted = at + z.pad[axis] - tap * z.dilate[axis];
    if (shifted < 0 || shifted % z.stride[axis] != 0 || shifted / z.stride[axis] >= z.out[axis]) return -1;
    return shifted / z.stride[axis];
  }
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t column = i % z.extent[1], row = i / z.extent[1] % z.extent[0],
                       c = i / z.pixels() % z.channels, n = i / (z.pixels() * z.channels);
    const std::int64_t group = c / z.groupIn(), own = c % z.groupIn();
    float sum = bias != nullptr ? bias[c] : 0;
    for (std::int64_t ky = 0; ky < z.kernel[0]; ++ky) {
      const std::int64_t y = outputOf(0, row, ky);
      if (y < 0) continue;
      for (std::int64_t kx = 0; kx < z.kernel[1]; ++kx) {
        const std::int64_t x = outputOf(1, column, kx);
        if (x < 0) continue;
        for (std::int64_t k = 0; k < z.groupOut(); ++k) {
          const std::int64_t m = group * z.groupOut() + k;
          sum += dout[((n * z.out_channels + m) * z.out[0] + y) * z.out[1] + x] *
                 weight[((m * z.groupIn() + own) * z.kernel[0] + ky) * z.kernel[1] + kx];
        }
      }
    }
    ddata[i] = sum;
  }
};

struct ConvolveWeights {
  ConvolutionPlace z;
  std::int64_t batch;
  const float *data, *dout;
  float* dweight;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t i) const {
    const std::int64_t kx = i % z.kernel[1], ky = i / z.kernel[1] % z.kernel[0],
                       own = i / z.taps() % z.groupIn(), m = i / (z.taps() * z.groupIn());
    const std::int64_t c = m / z.groupOut() * z.groupIn() + own;
    const double sum = team.sum(batch * z.outPixels(), [=, this](std::int64_t k) {
      const std::int64_t x = k % z.out[1], y = k / z.out[1] % z.out[0], n = k / z.outPixels();
      const std::int64_t row = z.source(0, y, ky), column = z.source(1, x, kx);
      if (row < 0 || row >= z.extent[0] || column < 0 || column >= z.extent[1]) return 0.0;
      return static_cast<double>(data[(n * z.channels + c) * z.pixels() + row * z.extent[1] + column] *
                                 dout[(n * z.out_channels + m) * z.outPixels() + y * z.out[1] + x]);
    });
    if (team.isFirst()) dweight[i] = static_cast<float>(sum);
  }
};

template <class D>
ConvolutionPlace convolutionPlace(const D& d, const Window& w) {
  return {w.channels,
          w.out_channels,
          d.groups,
          {w.height, w.width},
          {w.out_height, w.out_width},
          {d.kernel[0], d.kernel[1]},
          {d.stride[0], d.stride[1]},
          {d.pad[0], d.pad[1]},
          {d.dilate[0], d.dilate[1]}};
}

template <class L>
GpuFunction make(const ConvolutionDesc& d, Pass pass, Signature& s) {
  const Shape data = pass == Pass::backwardData ? s.outputs[0].shape : s.inputs[0].shape;
  const Shape out = pass == Pass::backwardData      ? s.inputs[0].shape
                    : pass == Pass::backwardWeights ? s.inputs[1].shape
                                                    : s.outputs[0].shape;
  const ConvolutionPlace z = convolutionPlace(d, windowOf(data, out));
  const std::int64_t batch = data[0], n = s.outputs[0].shape.elements();
  const bool bias = d.bias, adds = d.adds;
  if (pass == Pass::backwardData)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.each(n, ConvolveBack{z, input(a, 0), input(a, 1), nullptr, output(a, 0)});
      return launch.status();
    };
  if (pass == Pass::backwardWeights) {
    const std::int64_t pixels = z.out[0] * z.out[1];
    const ChannelParts channels({z.out_channels, pixels, false}, batch * pixels);
    if (bias) s.workspace_bytes = channels.sizeBytes(1);
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.rows(n, batch * pixels, ConvolveWeights{z, batch, input(a, 0), input(a, 1), output(a, 0)});
      if (bias) sumChannels<float>(launch, channels, arrayIn<float>(a, 1), a.context.workspace, output(a, 1));
      return launch.status();
    };
  }
  return [=, activation = d.activation](const KernelArgs& a) {
    L launch(a.context);
    launch.each(n, Convolve{z, input(a, 0), input(a, 1), bias ? input(a, 2) : nullptr,
                            adds ? input(a, a.inputs.size() - 1) : nullptr, output(a, 0), activation});
    return launch.status();
  };
}

// The convolution whose data is the deconvolution's output.
template <class L>
GpuFunction make(const DeconvolutionDesc& d, Pass pass, Signature& s) {
  const Shape data = pass == Pass::backwardData ? s.outputs[0].shape : s.inputs[0].shape;
  const Shape out = pass == Pass::backwardData      ? s.inputs[0].shape
                    : pass == Pass::backwardWeights ? s.inputs[1].shape
                                                    : s.outputs[0].shape;
  const ConvolutionPlace z = convolutionPlace(d, windowOf(out, data));
  const std::int64_t batch = data[0], n = s.outputs[0].shape.elements();
  const bool bias = d.bias;
  if (pass == Pass::backwardData)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.each(n, Convolve{z, input(a, 0), input(a, 1), nullptr, nullptr, output(a, 0), {}});
      return launch.status();
    };
  if (pass == Pass::backwardWeights) {
    const std::int64_t pixels = z.extent[0] * z.extent[1];
    const ChannelParts channels({z.channels, pixels, false}, batch * pixels);
    if (bias) s.workspace_bytes = channels.sizeBytes(1);
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.rows(n, batch * z.out[0] * z.out[1],
                  ConvolveWeights{z, batch, input(a, 1), input(a, 0), output(a, 0)});
      if (bias) sumChannels<float>(launch, channels, arrayIn<float>(a, 1), a.context.workspace, output(a, 1));
      return launch.status();
    };
  }
  return [=](const KernelArgs& a) {
    L launch(a.context);
    launch.each(n, ConvolveBack{z, input(a, 0), input(a, 1), bias ? input(a, 2) : nullptr, output(a, 0)});
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
