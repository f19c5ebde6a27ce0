#include <algorithm>

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/elements.h"
#include "runtime/backend/support/pooling_sum.h"

namespace pitwall::reference {
namespace {

// The part of one window that is inside its image.
struct Region {
  std::int64_t y0, y1, x0, x1;
  std::int64_t divisor;  // of an average
};

// One image is one channel of one sample. Calls visit(image, index of the output, region).
template <class Visit>
void windows(const PoolingDesc& d, const Window& w, Visit visit) {
  for (std::int64_t image = 0; image < w.batch * w.channels; ++image) {
    for (std::int64_t oy = 0; oy < w.out_height; ++oy) {
      for (std::int64_t ox = 0; ox < w.out_width; ++ox) {
        const std::int64_t y = oy * d.stride[0] - d.pad[0], x = ox * d.stride[1] - d.pad[1];
        Region region{std::max<std::int64_t>(y, 0), std::min(y + d.kernel[0], w.height),
                      std::max<std::int64_t>(x, 0), std::min(x + d.kernel[1], w.width), 0};
        region.divisor = (region.y1 - region.y0) * (region.x1 - region.x0);
        if (d.count_padding) {
          region.divisor = (std::min(y + d.kernel[0], w.height + d.pad[0]) - y) *
                           (std::min(x + d.kernel[1], w.width + d.pad[1]) - x);
        }
        visit(image, (image * w.out_height + oy) * w.out_width + ox, region);
      }
    }
  }
}

template <class Visit>
void elements(const Window& w, std::int64_t image, const Region& r, Visit visit) {
  for (std::int64_t y = r.y0; y < r.y1; ++y) {
    for (std::int64_t x = r.x0; x < r.x1; ++x) visit((image * w.height + y) * w.width + x);
  }
}

void forward(const PoolingDesc& d, const Window& w, const float* data, float* out, std::int32_t* where) {
  windows(d, w, [&](std::int64_t image, std::int64_t o, const Region& region) {
    double sum = 0;
    std::int64_t best = -1;
    elements(w, image, region, [&](std::int64_t i) {
      sum += pooledTerm(d, static_cast<double>(data[i]));
      if (best < 0 || data[i] > data[best]) best = i;
    });
    out[o] = d.type == PoolingType::max
                 ? data[best]
                 : static_cast<float>(pooledResult(d, sum, static_cast<double>(region.divisor)));
    if (where != nullptr) where[o] = static_cast<std::int32_t>(best - image * w.height * w.width);
  });
}

// Data and output are read for a norm only.
void backward(const PoolingDesc& d, const Window& w, const KernelArgs& a) {
  const bool reads = d.type == PoolingType::norm;
  const auto* where = static_cast<const std::int32_t*>(a.inputs[3]);
  std::vector<double> sums(static_cast<std::size_t>(w.batch * w.channels * w.height * w.width));
  windows(d, w, [&](std::int64_t image, std::int64_t o, const Region& region) {
    const double gradient = static_cast<double>(input(a, 2)[o]);
    if (d.type == PoolingType::max) {
      sums[static_cast<std::size_t>(image * w.height * w.width + where[o])] += gradient;
      return;
    }
    const double result = reads ? static_cast<double>(input(a, 1)[o]) : 0;
    elements(w, image, region, [&](std::int64_t i) {
      const double x = reads ? static_cast<double>(input(a, 0)[i]) : 0;
      sums[static_cast<std::size_t>(i)] +=
          gradient * pooledSlope(d, x, result, static_cast<double>(region.divisor));
    });
  });
  std::ranges::transform(sums, output(a, 0), [](double v) { return static_cast<float>(v); });
}

// Maximum or average of 8-bit numbers.
RunFunction eightBitPooling(const PoolingDesc& desc, const Window& w, DType type) {
  return [=](const KernelArgs& a) {
    windows(desc, w, [&](std::int64_t image, std::int64_t o, const Region& region) {
      double sum = 0, most = -128;
      elements(w, image, region, [&](std::int64_t i) {
        const double value = elementAt(a.inputs[0], type, i);
        sum += value;
        most = std::max(most, value);
      });
      storeElement(a.outputs[0], type, o,
                   desc.type == PoolingType::max ? most : sum / static_cast<double>(region.divisor));
    });
    return Status{};
  };
}

}  // namespace

RunFunction make(const PoolingDesc& given, Pass pass, Signature& s) {
  const PoolingDesc desc = given.over(pass == Pass::backward ? s.outputs[0].shape : s.inputs[0].shape);
  if (pass == Pass::backward) {
    const Window w = windowOf(s.outputs[0].shape, s.inputs[2].shape);
    return [desc, w](const KernelArgs& a) { return backward(desc, w, a), Status{}; };
  }
  const Window w = windowOf(s.inputs[0].shape, s.outputs[0].shape);
  if (s.inputs[0].dtype != DType::float32) return eightBitPooling(desc, w, s.inputs[0].dtype);
  const bool keep = pass == Pass::forward;
  // Where the maximum of each output was.
  if (keep)
    s.outputs[1].shape = {s.outputs[0].shape.elements() * static_cast<std::int64_t>(sizeof(std::int32_t))};
  return [desc, w, keep](const KernelArgs& a) {
    forward(desc, w, input(a, 0), output(a, 0), keep ? static_cast<std::int32_t*>(a.outputs[1]) : nullptr);
    return Status{};
  };
}

}  // namespace pitwall::reference
