// Arrays of float32, int8, uint8 or int32, as kernels of quantized operators compute with them: each number as double, as the reference
// backend does, four neighbours with one access to memory.
//
//   struct Twice {
//     static constexpr int kInputs = 1;
//     PITWALL_DEVICE double operator()(std::int64_t, const double (&x)[1]) const { return 2 * x[0]; }
//   };
//   mapNumbers(launch, n, {numbersIn(args, 0, from)}, numbersOut(args, 0, to), Twice{});
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/backend/gpu_kernels/launch.h"

namespace pitwall::gpu_kernels {

// Neighbouring elements.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T x[4];
};

// f of a number of that type.
template <class F>
PITWALL_DEVICE auto withNumberOf(DType type, const F& f) {
  switch (type) {
    case DType::int8: return f(std::int8_t{});
    case DType::uint8: return f(std::uint8_t{});
    case DType::int32: return f(std::int32_t{});
    default: return f(float{});
  }
}

// Of integers the nearest, of two the even one, within the type's range.
template <class T>
PITWALL_DEVICE T nearestNumber(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    constexpr double kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    return static_cast<T>(nearbyint(value < kLeast ? kLeast : value > kMost ? kMost : value));
  }
}

struct NumbersIn {
  const void* at;
  DType type;

  PITWALL_DEVICE double operator[](std::int64_t i) const {
    return withNumberOf(type, [this, i](auto number) {
      return static_cast<double>(static_cast<const decltype(number)*>(at)[i]);
    });
  }
  // Elements 4 * i to 4 * i + 3.
  PITWALL_DEVICE Four<double> four(std::int64_t i) const {
    return withNumberOf(type, [this, i](auto number) {
      const Four<decltype(number)> read = static_cast<const Four<decltype(number)>*>(at)[i];
      Four<double> numbers;
      for (int k = 0; k < 4; ++k) numbers.x[k] = static_cast<double>(read.x[k]);
      return numbers;
    });
  }
};

struct NumbersOut {
  void* at;
  DType type;

  PITWALL_DEVICE void store(std::int64_t i, double value) const {
    withNumberOf(type, [this, i, value](auto number) {
      static_cast<decltype(number)*>(at)[i] = nearestNumber<decltype(number)>(value);
    });
  }
  PITWALL_DEVICE void storeFour(std::int64_t i, const Four<double>& values) const {
    withNumberOf(type, [this, i, &values](auto number) {
      Four<decltype(number)> made;
      for (int k = 0; k < 4; ++k) made.x[k] = nearestNumber<decltype(number)>(values.x[k]);
      static_cast<Four<decltype(number)>*>(at)[i] = made;
    });
  }
};

inline NumbersIn numbersIn(const KernelArgs& args, std::size_t i, DType type) {
  return {args.inputs[i], type};
}
inline NumbersOut numbersOut(const KernelArgs& args, std::size_t i, DType type) {
  return {args.outputs[i], type};
}

// F computes one number of those that have its place in F::kInputs arrays: f(place, numbers). A thread computes four.
template <class F>
struct MapNumbers {
  std::int64_t n;
  NumbersIn from[F::kInputs];
  NumbersOut to;
  F f;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    double x[F::kInputs];
    if (4 * i + 4 > n) {
      for (std::int64_t j = 4 * i; j < n; ++j) {
        for (int k = 0; k < F::kInputs; ++k) x[k] = from[k][j];
        to.store(j, f(j, x));
      }
      return;
    }
    Four<double> read[F::kInputs], made;
    for (int k = 0; k < F::kInputs; ++k) read[k] = from[k].four(i);
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < F::kInputs; ++k) x[k] = read[k].x[j];
      made.x[j] = f(4 * i + j, x);
    }
    to.storeFour(i, made);
  }
};

template <class L, class F>
void mapNumbers(L& launch, std::int64_t n, const NumbersIn (&from)[F::kInputs], const NumbersOut& to,
                const F& f) {
  MapNumbers<F> map{n, {}, to, f};
  for (int k = 0; k < F::kInputs; ++k) map.from[k] = from[k];
  launch.each((n + 3) / 4, map);
}

}  // namespace pitwall::gpu_kernels
