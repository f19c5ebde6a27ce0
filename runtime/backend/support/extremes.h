// The larger and the smaller of two numbers, NaN if either is: as MXNet's maximum, minimum, max and min.
#pragma once

namespace pitwall {

template <class T>
T largerOf(T a, T b) {
  return a > b || a != a ? a : b;
}

template <class T>
T smallerOf(T a, T b) {
  return a < b || a != a ? a : b;
}

}  // namespace pitwall
