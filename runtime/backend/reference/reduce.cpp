#include <limits>

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/extremes.h"

namespace pitwall::reference {
namespace {

// The index of the output for an element of the data.
std::int64_t targetOf(std::int64_t index, const Shape& data, const Shape& kept) {
  std::int64_t target = 0, step = 1;
  for (int i = data.rank() - 1; i >= 0; --i) {
    if (kept[i] != 1) target += index % data[i] * step;
    step *= kept[i];
    index /= data[i];
  }
  return target;
}

double combined(ReduceType type, double a, double b) {
  if (type == ReduceType::maximum) return largerOf(a, b);
  if (type == ReduceType::minimum) return smallerOf(a, b);
  return a + b;
}

double neutral(ReduceType type) {
  const double infinity = std::numeric_limits<double>::infinity();
  return type == ReduceType::maximum ? -infinity : type == ReduceType::minimum ? infinity : 0;
}

}  // namespace

RunFunction make(const ReduceDesc& desc, Pass pass, Signature& s) {
  const Shape data = s.inputs[0].shape, kept = desc.kept(data);
  const ReduceType type = desc.type;
  const bool selects = type == ReduceType::maximum || type == ReduceType::minimum;
  const double divisor = type == ReduceType::mean
                             ? static_cast<double>(data.elements()) / static_cast<double>(kept.elements())
                             : 1;
  if (pass == Pass::backward) {
    return [=](const KernelArgs& a) {
      for (std::int64_t i = 0; i < data.elements(); ++i) {
        const std::int64_t o = targetOf(i, data, kept);
        const bool counts = !selects || input(a, 0)[i] == input(a, 1)[o];
        output(a, 0)[i] = counts ? static_cast<float>(static_cast<double>(input(a, 2)[o]) / divisor) : 0;
      }
      return Status{};
    };
  }
  return [=](const KernelArgs& a) {
    std::vector<double> results(static_cast<std::size_t>(kept.elements()), neutral(type));
    for (std::int64_t i = 0; i < data.elements(); ++i) {
      double& result = results[static_cast<std::size_t>(targetOf(i, data, kept))];
      result = combined(type, result, static_cast<double>(input(a, 0)[i]));
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      output(a, 0)[i] = static_cast<float>(results[i] / divisor);
    return Status{};
  };
}

}  // namespace pitwall::reference
