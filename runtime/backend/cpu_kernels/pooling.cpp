// What oneDNN lacks: sums and norms, and averages that count padding where windows reach beyond it: elements there do not count.
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/pooling_sum.h"
#include "runtime/backend/support/signature.h"

namespace pitwall::cpu_kernels {
namespace {

// The windows along one axis.
struct PoolingAxis {
  std::int64_t data, out, kernel, stride, pad;

  std::int64_t begin(std::int64_t o) const { return std::max<std::int64_t>(o * stride - pad, 0); }
  std::int64_t end(std::int64_t o) const { return std::min(o * stride - pad + kernel, data); }
  // Elements in data and padding.
  std::int64_t counted(std::int64_t o) const { return std::min(kernel, data + 2 * pad - o * stride); }
  bool reachesBeyond() const { return (out - 1) * stride + kernel > data + 2 * pad; }
};

struct PooledImage {
  PoolingDesc desc;
  PoolingAxis y, x;

  std::int64_t dataElements() const { return y.data * x.data; }
  std::int64_t outElements() const { return y.out * x.out; }

  // Calls visit(index of the output, row and column of its window).
  template <class Visit>
  void windows(Visit visit) const {
    for (std::int64_t oy = 0; oy < y.out; ++oy) {
      for (std::int64_t ox = 0; ox < x.out; ++ox) visit(oy * x.out + ox, oy, ox);
    }
  }
  // Calls visit(index of the data) for each element of a window.
  template <class Visit>
  void elements(std::int64_t oy, std::int64_t ox, Visit visit) const {
    for (std::int64_t iy = y.begin(oy); iy < y.end(oy); ++iy)
      for (std::int64_t ix = x.begin(ox); ix < x.end(ox); ++ix) visit(iy * x.data + ix);
  }
  float divisor(std::int64_t oy, std::int64_t ox) const {
    return static_cast<float>(y.counted(oy) * x.counted(ox));
  }

  void forward(const float* data, float* out) const {
    windows([&](std::int64_t o, std::int64_t oy, std::int64_t ox) {
      float sum = 0;
      elements(oy, ox, [&](std::int64_t i) { sum += pooledTerm(desc, data[i]); });
      out[o] = pooledResult(desc, sum, divisor(oy, ox));
    });
  }
  // `data` and `out` of a norm, else null.
  void backward(const float* data, const float* out, const float* dout, float* ddata) const {
    std::fill_n(ddata, dataElements(), 0.0F);
    windows([&](std::int64_t o, std::int64_t oy, std::int64_t ox) {
      const float result = out != nullptr ? out[o] : 0, divided = divisor(oy, ox);
      elements(oy, ox, [&](std::int64_t i) {
        ddata[i] += dout[o] * pooledSlope(desc, data != nullptr ? data[i] : 0, result, divided);
      });
    });
  }
};

bool isOursToCompute(const PooledImage& p) {
  if (p.desc.type == PoolingType::sum || p.desc.type == PoolingType::norm) return true;
  const bool counts =
      p.desc.type == PoolingType::average && p.desc.count_padding && (p.y.pad > 0 || p.x.pad > 0);
  return counts && (p.y.reachesBeyond() || p.x.reachesBeyond());
}

}  // namespace

RunFunction make(const PoolingDesc& given, const Request& r, Signature& s) {
  if (r.inputs[0].dtype != DType::float32) return nullptr;
  const bool backward = r.pass == Pass::backward;
  const Shape &data = s.inputs[0].shape, &out = backward ? s.inputs[2].shape : s.outputs[0].shape;
  const PoolingDesc d = given.over(data);
  const Window w = windowOf(data, out);
  const PooledImage p{d,
                      {w.height, w.out_height, d.kernel[0], d.stride[0], d.pad[0]},
                      {w.width, w.out_width, d.kernel[1], d.stride[1], d.pad[1]}};
  if (!isOursToCompute(p)) return nullptr;
  const bool reads = d.type == PoolingType::norm;
  if (backward && !reads) s.inputs[0].layout = r.inputs[0].layout, s.inputs[1].layout = r.inputs[1].layout;
  const std::int64_t images = w.batch * w.channels, parallel_from = r.options.parallel_elements;
  return [=](const KernelArgs& a) {
    const std::int64_t from = p.dataElements(), to = p.outElements();
    parallelFor(images, Split::ofRows(parallel_from, from, a), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t image = begin; image < end; ++image) {
        if (backward)
          p.backward(reads ? input(a, 0) + image * from : nullptr, reads ? input(a, 1) + image * to : nullptr,
                     input(a, 2) + image * to, output(a, 0) + image * from);
        else
          p.forward(input(a, 0) + image * from, output(a, 0) + image * to);
      }
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
