#include <algorithm>

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/broadcast.h"
#include "runtime/backend/support/extremes.h"

namespace pitwall::reference {
namespace {

float apply(BinaryType type, float a, float b) {
  switch (type) {
    case BinaryType::add: return a + b;
    case BinaryType::subtract: return a - b;
    case BinaryType::multiply: return a * b;
    case BinaryType::divide: return a / b;
    case BinaryType::maximum: return largerOf(a, b);
    case BinaryType::minimum: return smallerOf(a, b);
  }
  return 0;
}

struct Slopes {
  double a, b;
};

Slopes slopes(BinaryType type, double a, double b) {
  switch (type) {
    case BinaryType::add: return {1, 1};
    case BinaryType::subtract: return {1, -1};
    case BinaryType::multiply: return {b, a};
    case BinaryType::divide: return {1 / b, -a / (b * b)};
    case BinaryType::maximum: return {a >= b ? 1.0 : 0.0, a < b ? 1.0 : 0.0};
    case BinaryType::minimum: return {a <= b ? 1.0 : 0.0, a > b ? 1.0 : 0.0};
  }
  return {0, 0};
}

// Calls visit(index of the output, of a, of b).
template <class Visit>
void elements(const Broadcast& of, Visit visit) {
  const Broadcast::Axis& inner = of.inner();
  for (std::int64_t row = 0; row < of.rows(); ++row) {
    const Broadcast::Place at = of.row(row);
    for (std::int64_t i = 0; i < inner.count; ++i)
      visit(row * inner.count + i, at.a + i * inner.a, at.b + i * inner.b);
  }
}

void differentiate(BinaryType type, const Broadcast& of, const KernelArgs& args, std::vector<double>& da,
                   std::vector<double>& db) {
  const bool reads = type != BinaryType::add && type != BinaryType::subtract;
  elements(of, [&](std::int64_t o, std::int64_t a, std::int64_t b) {
    const Slopes slope =
        reads ? slopes(type, static_cast<double>(input(args, 0)[a]), static_cast<double>(input(args, 1)[b]))
              : slopes(type, 0, 1);
    const double head = static_cast<double>(input(args, 2)[o]);
    da[static_cast<std::size_t>(a)] += head * slope.a;
    db[static_cast<std::size_t>(b)] += head * slope.b;
  });
}

}  // namespace

RunFunction make(const BinaryDesc& desc, Pass pass, Signature& s) {
  const BinaryType type = desc.type;
  if (pass != Pass::backward) {
    const Broadcast of(s.inputs[0].shape, s.inputs[1].shape, s.outputs[0].shape);
    return [type, of](const KernelArgs& args) {
      elements(of, [&](std::int64_t o, std::int64_t a, std::int64_t b) {
        output(args, 0)[o] = apply(type, input(args, 0)[a], input(args, 1)[b]);
      });
      return Status{};
    };
  }
  const Broadcast of(s.inputs[0].shape, s.inputs[1].shape, s.inputs[2].shape);
  const auto size_a = static_cast<std::size_t>(s.inputs[0].shape.elements()),
             size_b = static_cast<std::size_t>(s.inputs[1].shape.elements());
  return [type, of, size_a, size_b](const KernelArgs& args) {
    std::vector<double> da(size_a), db(size_b);
    differentiate(type, of, args, da, db);
    std::ranges::transform(da, output(args, 0), [](double v) { return static_cast<float>(v); });
    std::ranges::transform(db, output(args, 1), [](double v) { return static_cast<float>(v); });
    return Status{};
  };
}

}  // namespace pitwall::reference
