// Filling arrays with constants or seeded random numbers. Uses its own generator and transformations, since
// the distributions of the standard library differ between implementations.
#include <cmath>
#include <numbers>

#include "runtime/array/array.h"
#include "runtime/operators.h"

namespace pitwall {
namespace {

// splitmix64: passes statistical tests, one addition and three mixes per number.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)
  double normal() {                                                           // Box-Muller, the cosine half
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

// Half the width of Xavier's uniform distribution. A weight is O x I x KH x KW or M x K.
double xavierScale(const Shape& shape, double magnitude) {
  double receptive = 1;
  for (int i = 2; i < shape.rank(); ++i) receptive *= static_cast<double>(shape[i]);
  const double fan_out = shape.rank() > 0 ? static_cast<double>(shape[0]) * receptive : 1;
  const double fan_in = shape.rank() > 1 ? static_cast<double>(shape[1]) * receptive : fan_out;
  return std::sqrt(magnitude / ((fan_in + fan_out) / 2));
}

std::vector<float> values(const Shape& shape, const Initialiser& initialiser, std::uint64_t seed) {
  std::vector<float> filled(static_cast<std::size_t>(shape.elements()));
  Random random(seed);
  const double a = static_cast<double>(initialiser.a), b = static_cast<double>(initialiser.b);
  const double scale = xavierScale(shape, a);
  for (float& value : filled) {
    double drawn = a;
    switch (initialiser.kind) {
      case Initialiser::Kind::constant: break;
      case Initialiser::Kind::uniform: drawn = a + (b - a) * random.uniform(); break;
      case Initialiser::Kind::normal: drawn = a + b * random.normal(); break;
      case Initialiser::Kind::xavier: drawn = scale * (2 * random.uniform() - 1); break;
    }
    value = static_cast<float>(drawn);
  }
  return filled;
}

}  // namespace

Status initialise(NDArray& array, const Initialiser& initialiser, std::uint64_t seed) {
  if (!array) return fail(ErrorCode::invalidInput, "initialise: the array is an empty handle");
  return array.copyFrom(values(array.shape(), initialiser, seed));
}

}  // namespace pitwall
