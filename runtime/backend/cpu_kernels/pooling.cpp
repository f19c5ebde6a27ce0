// Averages that count padding, where windows reach beyond it: elements there do not count, which oneDNN cannot do.
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
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

// Calls visit(index of the output, index of the data, 1 / elements) for each pair of one image.
template <class Visit>
void averagedElements(const PoolingAxis& y, const PoolingAxis& x, Visit visit) {
  for (std::int64_t oy = 0; oy < y.out; ++oy) {
    for (std::int64_t ox = 0; ox < x.out; ++ox) {
      const float share = 1 / static_cast<float>(y.counted(oy) * x.counted(ox));
      for (std::int64_t iy = y.begin(oy); iy < y.end(oy); ++iy)
        for (std::int64_t ix = x.begin(ox); ix < x.end(ox); ++ix)
          visit(oy * x.out + ox, iy * x.data + ix, share);
    }
  }
}

}  // namespace

RunFunction make(const PoolingDesc& given, const Request& r, Signature& s) {
  const bool backward = r.pass == Pass::backward;
  const Shape &data = s.inputs[0].shape, &out = backward ? s.inputs[2].shape : s.outputs[0].shape;
  const PoolingDesc d = given.over(data);
  const PoolingAxis y{data[2], out[2], d.kernel[0], d.stride[0], d.pad[0]},
      x{data[3], out[3], d.kernel[1], d.stride[1], d.pad[1]};
  const bool counts = d.type == PoolingType::average && d.count_padding && (y.pad > 0 || x.pad > 0);
  if (!counts || (!y.reachesBeyond() && !x.reachesBeyond())) return nullptr;
  if (backward) s.inputs[0].layout = r.inputs[0].layout, s.inputs[1].layout = r.inputs[1].layout;  // not read
  const std::int64_t images = data[0] * data[1], parallel_from = r.options.parallel_elements;
  const std::int64_t from_size = y.data * x.data, to_size = y.out * x.out;
  return [=](const KernelArgs& a) {
    parallelFor(images, Split::ofRows(parallel_from, from_size, a),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t image = begin; image < end; ++image) {
                    const float* from = input(a, backward ? 2 : 0) + image * (backward ? to_size : from_size);
                    float* to = output(a, 0) + image * (backward ? from_size : to_size);
                    std::fill_n(to, backward ? from_size : to_size, 0.0F);
                    averagedElements(y, x, [&](std::int64_t o, std::int64_t i, float share) {
                      to[backward ? i : o] += from[backward ? o : i] * share;
                    });
                  }
                });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
