// Computes 2 + 3 with nothing but the installed package.
#include <array>
#include <cstdio>

#include "runtime/operators.h"
#include "runtime/session.h"

int main() {
  auto session = pitwall::Session::open();
  if (!session.has_value()) return std::fprintf(stderr, "%s\n", session.error().message.c_str()), 1;
  const std::array<float, 1> two{2}, three{3};
  const auto a = pitwall::NDArray::fromValues(*session.value(), {1}, two);
  const auto b = pitwall::NDArray::fromValues(*session.value(), {1}, three);
  const auto sum = pitwall::op::add(a, b);
  if (!sum.has_value()) return std::fprintf(stderr, "%s\n", sum.error().message.c_str()), 1;
  const auto values = sum->toVector();
  if (!values.has_value() || values->at(0) != 5) return 1;
  std::printf("runtime: 2 + 3 = %g\n", static_cast<double>(values->at(0)));
  return 0;
}
