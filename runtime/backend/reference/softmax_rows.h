// Softmax along an axis, and its logarithm.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/backend/support/axis.h"
#include "runtime/operators/softmax.h"

namespace pitwall::reference {

// Calls visit(offset of element 0) for each row along the axis; its elements are e.inner apart.
template <class Visit>
void axisRows(const AxisExtents& e, Visit visit) {
  for (std::int64_t o = 0; o < e.outer; ++o) {
    for (std::int64_t i = 0; i < e.inner; ++i) visit(o * e.count * e.inner + i);
  }
}

inline void softmaxRows(const AxisExtents& e, const SoftmaxDesc& desc, const float* data, float* out) {
  const double temperature = static_cast<double>(desc.temperature);
  axisRows(e, [&](std::int64_t at) {
    const auto scaled = [&](std::int64_t j) {
      return static_cast<double>(data[at + j * e.inner]) / temperature;
    };
    double largest = scaled(0), sum = 0;
    for (std::int64_t j = 1; j < e.count; ++j) largest = std::max(largest, scaled(j));
    for (std::int64_t j = 0; j < e.count; ++j) sum += std::exp(scaled(j) - largest);
    for (std::int64_t j = 0; j < e.count; ++j) {
      const double difference = scaled(j) - largest;
      out[at + j * e.inner] =
          static_cast<float>(desc.logarithm ? difference - std::log(sum) : std::exp(difference) / sum);
    }
  });
}

}  // namespace pitwall::reference
