// The gradient of what a BatchNorm adds to each channel of a convolution's data, without the gradient of these data: sums of the
// output's gradient over the windows' places, times the weights. It reads the gradient once, where the convolution would
// multiply each of its numbers with a whole window.
#include <algorithm>

#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"

namespace pitwall::cpu_kernels {
namespace {

// Along one axis, which outputs have an element of the data under place `k` of their window.
struct WindowPlaces {
  std::int64_t data, out, kernel, stride, pad, dilate;
  std::int64_t begin(std::int64_t k) const {
    const std::int64_t before = pad - k * dilate;
    return std::min(out, before > 0 ? (before + stride - 1) / stride : 0);
  }
  std::int64_t end(std::int64_t k) const {
    const std::int64_t last = data - 1 + pad - k * dilate;
    return last < 0 ? 0 : std::min(out, last / stride + 1);
  }
};

class ShiftGradient {
 public:
  ShiftGradient(const ConvolutionDesc& d, const Shape& data, const TensorSpec& dout)
      : y_{data[2], dout.shape[2], d.kernel[0], d.stride[0], d.pad[0], d.dilate[0]},
        x_{data[3], dout.shape[3], d.kernel[1], d.stride[1], d.pad[1], d.dilate[1]},
        batch_(data[0]),
        inputs_(data[1]),
        outputs_(dout.shape[1]) {
    const std::int64_t together = dout.layout != nullptr ? dout.layout->channelsTogether() : 1;
    const bool is_last = together == outputs_;
    lanes_ = std::min(together, kMostLanes);
    pixel_ = is_last ? outputs_ : lanes_;
    groups_ = (outputs_ + lanes_ - 1) / lanes_;
    image_ = y_.out * x_.out * (is_last ? outputs_ : groups_ * lanes_);
    group_ = is_last ? lanes_ : y_.out * x_.out * lanes_;
  }

  static bool canRead(const TensorSpec& dout) {
    return dout.layout == nullptr || dout.layout->channelsTogether() == dout.shape[1] ||
           (dout.layout->channelsTogether() > 0 && dout.layout->channelsTogether() <= kMostLanes);
  }
  // The sums of each output channel, then those of a row.
  Bytes workspaceBytes() const {
    return (outputs_ * places() + groups_ * lanes_ * x_.kernel) * static_cast<Bytes>(sizeof(double));
  }

  Status run(const KernelArgs& a, std::int64_t parallel_elements) const {
    double* const sums = static_cast<double*>(a.context.workspace);
    parallelFor(groups_, Split::ofRows(parallel_elements, batch_ * image_ / groups_, a),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t group = begin; group < end; ++group) sumGroup(input(a, 0), group, sums);
                });
    const float* const weight = input(a, 1);
    for (std::int64_t c = 0; c < inputs_; ++c) {
      double sum = 0;
      for (std::int64_t k = 0; k < outputs_; ++k)
        for (std::int64_t i = 0; i < places(); ++i)
          sum += sums[k * places() + i] * static_cast<double>(weight[(k * inputs_ + c) * places() + i]);
      output(a, 0)[c] = 0;
      output(a, 1)[c] = static_cast<float>(sum);
    }
    return {};
  }

 private:
  static constexpr std::int64_t kMostLanes = 64;
  std::int64_t places() const { return y_.kernel * x_.kernel; }

  // sums[output channel][place of the window]
  void sumGroup(const float* dout, std::int64_t group, double* sums) const {
    const std::int64_t lanes = std::min(lanes_, outputs_ - group * lanes_);
    double* const of_group = sums + group * lanes_ * places();
    std::fill_n(of_group, lanes * places(), 0.0);
    double* const rows = sums + outputs_ * places() + group * lanes_ * x_.kernel;
    for (std::int64_t oy = 0; oy < y_.out; ++oy) {
      std::fill_n(rows, x_.kernel * lanes, 0.0);
      for (std::int64_t n = 0; n < batch_; ++n)
        sumRow(dout + n * image_ + group * group_ + oy * x_.out * pixel_, lanes, rows);
      for (std::int64_t ky = 0; ky < y_.kernel; ++ky) {
        if (oy < y_.begin(ky) || oy >= y_.end(ky)) continue;
        for (std::int64_t lane = 0; lane < lanes; ++lane)
          for (std::int64_t kx = 0; kx < x_.kernel; ++kx)
            of_group[lane * places() + ky * x_.kernel + kx] += rows[kx * lanes + lane];
      }
    }
  }

  // The whole row less its ends, where a place of the window is outside of the data.
  void sumRow(const float* row, std::int64_t lanes, double* sums) const {
    float whole[kMostLanes] = {};
    if (lanes == 1) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t x = 0; x < x_.out; ++x) sum += row[x * pixel_];
      whole[0] = sum;
    } else {
      for (std::int64_t x = 0; x < x_.out; ++x) {
#pragma omp simd
        for (std::int64_t lane = 0; lane < lanes; ++lane) whole[lane] += row[x * pixel_ + lane];
      }
    }
    for (std::int64_t k = 0; k < x_.kernel; ++k) {
      float part[kMostLanes];
      std::copy_n(whole, lanes, part);
      const auto leaveOut = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t x = begin; x < end; ++x)
          for (std::int64_t lane = 0; lane < lanes; ++lane) part[lane] -= row[x * pixel_ + lane];
      };
      const std::int64_t first = x_.begin(k), last = std::max(first, x_.end(k));
      leaveOut(0, first);
      leaveOut(last, x_.out);
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        sums[k * lanes + lane] += static_cast<double>(part[lane]);
    }
  }

  WindowPlaces y_, x_;
  std::int64_t batch_, inputs_, outputs_;
  std::int64_t lanes_, groups_;         // channels side by side; of them
  std::int64_t pixel_, image_, group_;  // distances, in elements
};

}  // namespace

RunFunction make(const NormalizedConvolutionDesc& desc, const Request& r, Signature& s) {
  if (r.pass != Pass::backward) return nullptr;
  if (ShiftGradient::canRead(r.inputs[0])) s.inputs[0].layout = r.inputs[0].layout;
  s.inputs[2].layout = r.inputs[2].layout;  // not read
  const ShiftGradient gradient(desc.convolution, s.inputs[2].shape, s.inputs[0]);
  s.workspace_bytes = gradient.workspaceBytes();
  return
      [gradient, from = r.options.parallel_elements](const KernelArgs& a) { return gradient.run(a, from); };
}

}  // namespace pitwall::cpu_kernels
