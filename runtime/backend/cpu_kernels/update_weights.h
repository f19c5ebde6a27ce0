// Updates of several weights in one parallel region, so that a small bias does not need a separate one.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"

namespace pitwall::cpu_kernels {

// Elements of one weight: a part of its arrays.
struct UpdatedPart {
  const float* gradient;
  float* weight;
  float* states[2];  // as many as the optimizer has
  std::int64_t elements;
};

// All arrays share the gradient's layout; zeros of padding must stay zero. body(args, part) updates a part.
template <class Body>
RunFunction updateFunction(std::size_t states, const Request& r, Signature& s, Body body) {
  const std::size_t count = s.inputs.size();
  const bool copies = s.outputs.size() > (states + 1) * count;  // in multi-precision
  std::vector<std::int64_t> ends;                               // of each weight, in the concatenation of all
  for (std::size_t i = 0; i < count; ++i) {
    s.inputs[i].layout = r.inputs[i].layout;
    for (std::size_t o = i; o < s.outputs.size(); o += count) s.outputs[o].layout = r.inputs[i].layout;
    ends.push_back((ends.empty() ? 0 : ends.back()) + storedElements(s.inputs[i]));
  }
  return [states, copies, ends, body, parallel_from = r.options.parallel_elements](const KernelArgs& a) {
    parallelFor(ends.back(), {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      auto w = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin());
      while (begin < end) {
        const std::int64_t first = w == 0 ? 0 : ends[w - 1], stop = std::min(end, ends[w]);
        const std::int64_t at = begin - first;
        UpdatedPart part{input(a, w) + at, output(a, w) + at, {}, stop - begin};
        for (std::size_t k = 0; k < states; ++k) part.states[k] = output(a, (k + 1) * ends.size() + w) + at;
        body(a, part);
        if (copies) std::copy_n(part.weight, part.elements, output(a, (states + 1) * ends.size() + w) + at);
        begin = stop;
        ++w;
      }
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
