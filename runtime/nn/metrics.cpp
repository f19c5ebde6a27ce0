#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runtime/nn.h"

namespace pitwall::nn {

Result<double> mean(const NDArray& array) {
  const Result<std::vector<float>> values = array.toVector();
  if (!values.has_value()) return fail(values.error());
  if (values->empty()) return 0.0;
  return std::accumulate(values->begin(), values->end(), 0.0) / static_cast<double>(values->size());
}

Result<std::int64_t> countCorrect(const NDArray& scores, std::span<const float> labels) {
  const Shape& shape = scores.shape();
  if (shape.rank() != 2 || shape[0] != static_cast<std::int64_t>(labels.size()))
    return fail(ErrorCode::invalidInput,
                fmt::format("countCorrect: scores {} and {} labels do not fit together", shape.toString(),
                            labels.size()));
  const Result<std::vector<float>> values = scores.toVector();
  if (!values.has_value()) return fail(values.error());
  std::int64_t correct = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto first = values->begin() + static_cast<std::ptrdiff_t>(row) * shape[1];
    const auto best = std::max_element(first, first + shape[1]) - first;
    correct += best == static_cast<std::ptrdiff_t>(labels[row]) ? 1 : 0;
  }
  return correct;
}

}  // namespace pitwall::nn
