// The gradient of what a BatchNorm adds to each channel of a convolution's data, without the gradient of these data
// (NormalizedConvolution, backward). The output's gradient is read once, to sum it over the batch; sums over the places that a place
// of the window has seen, times the weights, are the rest.
#pragma once

#include <algorithm>

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/operators/normalized_convolution.h"

namespace pitwall::gpu_kernels {

struct ShiftExtents {
  std::int64_t batch, inputs, outputs;
  std::int64_t extent[2], out[2], kernel[2], stride[2], pad[2], dilate[2];
  bool dout_last, weight_last;             // channels last
  std::int64_t places, out_pixels, image;  // of a window; of one channel and of all of an image of the output

  // The outputs that see an element of the data at place k of their window, along an axis.
  PITWALL_DEVICE std::int64_t begin(int axis, std::int64_t k) const {
    const std::int64_t before = pad[axis] - k * dilate[axis];
    const std::int64_t first = before > 0 ? quotientOf(before + stride[axis] - 1, stride[axis]) : 0;
    return first < out[axis] ? first : out[axis];
  }
  PITWALL_DEVICE std::int64_t end(int axis, std::int64_t k) const {
    const std::int64_t last = extent[axis] - 1 + pad[axis] - k * dilate[axis];
    const std::int64_t past = last < 0 ? 0 : quotientOf(last, stride[axis]) + 1;
    return past < out[axis] ? past : out[axis];
  }
};

struct ShiftBatchSum {
  ShiftExtents z;
  const float* dout;
  double* image;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    double sum = 0;
    for (std::int64_t n = 0; n < z.batch; ++n) sum += static_cast<double>(dout[n * z.image + i]);
    image[i] = sum;
  }
};

// A row for each output channel and place of the window.
struct ShiftPlaceSum {
  ShiftExtents z;
  const double* image;
  double* sums;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t row) const {
    const std::int64_t channel = quotientOf(row, z.places), place = remainderOf(row, z.places);
    const std::int64_t ky = quotientOf(place, z.kernel[1]), kx = remainderOf(place, z.kernel[1]);
    const std::int64_t top = z.begin(0, ky), left = z.begin(1, kx);
    const std::int64_t height = z.end(0, ky) - top, width = z.end(1, kx) - left;
    const std::int64_t count = height > 0 && width > 0 ? height * width : 0;
    const double sum = team.sum(count, [=, this](std::int64_t i) {
      const std::int64_t pixel = (top + quotientOf(i, width)) * z.out[1] + left + remainderOf(i, width);
      return image[z.dout_last ? pixel * z.outputs + channel : channel * z.out_pixels + pixel];
    });
    if (team.isFirst()) sums[row] = sum;
  }
};

// A row for each channel of the data.
struct ShiftGradient {
  ShiftExtents z;
  const double* sums;
  const float* weight;
  float *dgamma, *dbeta;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t channel) const {
    const std::int64_t places = z.places;
    const double sum = team.sum(z.outputs * places, [=, this](std::int64_t i) {
      const std::int64_t k = quotientOf(i, places), place = remainderOf(i, places);
      const std::int64_t at =
          z.weight_last ? i * z.inputs + channel : (k * z.inputs + channel) * places + place;
      return sums[i] * static_cast<double>(weight[at]);
    });
    if (!team.isFirst()) return;
    dgamma[channel] = 0;
    dbeta[channel] = static_cast<float>(sum);
  }
};

template <class L>
GpuFunction make(const NormalizedConvolutionDesc& desc, Pass pass, Signature& s) {
  if (pass != Pass::backward) return {};
  const ConvolutionDesc& d = desc.convolution;
  const Shape &dout = s.inputs[0].shape, &data = s.inputs[2].shape;
  const ShiftExtents z{data[0],
                       data[1],
                       dout[1],
                       {data[2], data[3]},
                       {dout[2], dout[3]},
                       {d.kernel[0], d.kernel[1]},
                       {d.stride[0], d.stride[1]},
                       {d.pad[0], d.pad[1]},
                       {d.dilate[0], d.dilate[1]},
                       isChannelsLast(s.inputs[0]),
                       isChannelsLast(s.inputs[1]),
                       d.kernel[0] * d.kernel[1],
                       dout[2] * dout[3],
                       dout[1] * dout[2] * dout[3]};
  const std::int64_t rows = z.outputs * z.places;
  s.workspace_bytes = (z.image + rows) * static_cast<Bytes>(sizeof(double));
  return [=](const KernelArgs& a) {
    L launch(a.context);
    auto* const image = static_cast<double*>(a.context.workspace);
    double* const sums = image + z.image;
    launch.each(z.image, ShiftBatchSum{z, input(a, 0), image});
    launch.rows(rows, z.out_pixels, ShiftPlaceSum{z, image, sums});
    launch.rows(z.inputs, rows, ShiftGradient{z, sums, input(a, 1), output(a, 0), output(a, 1)});
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
