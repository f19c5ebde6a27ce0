// What a window of Pooling sums, of the types that are sums: average, sum and norm.
#pragma once

#include <cmath>

#include "runtime/operators/pooling.h"

namespace pitwall {

// Of one element, and of the sum of a window whose elements count as `divisor`.
template <class T>
T pooledTerm(const PoolingDesc& d, T x) {
  if (d.type != PoolingType::norm || d.power == 1) return x;
  return d.power == 2 ? x * x : x * x * x;
}

template <class T>
T pooledResult(const PoolingDesc& d, T sum, T divisor) {
  if (d.type == PoolingType::average) return sum / divisor;
  if (d.type == PoolingType::sum || d.power == 1) return sum;
  return d.power == 2 ? std::sqrt(sum) : std::cbrt(sum);
}

// By how much the result changes with an element.
template <class T>
T pooledSlope(const PoolingDesc& d, T x, T result, T divisor) {
  if (d.type == PoolingType::average) return 1 / divisor;
  if (d.type == PoolingType::sum || d.power == 1) return 1;
  if (result == 0) return 0;
  return d.power == 2 ? x / result : x * x / (result * result);
}

}  // namespace pitwall
