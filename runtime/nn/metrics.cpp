#include "runtime/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "db/try.h"

namespace pitwall::nn {

Result<double> mean(const NDArray& array) {
  const std::vector<float> values = PITWALL_TRY(array.toVector());
  if (values.empty()) return 0.0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Result<std::int64_t> countCorrect(const NDArray& scores, std::span<const float> labels) {
  const Shape& shape = scores.shape();
  if (shape.rank() != 2 || shape[0] != static_cast<std::int64_t>(labels.size()))
    return fail(ErrorCode::invalidInput, fmt::format("countCorrect: scores {} and {} labels do not match",
                                                     shape.toString(), labels.size()));
  const std::vector<float> values = PITWALL_TRY(scores.toVector());
  std::int64_t correct = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row) * shape[1];
    const auto best = std::max_element(first, first + shape[1]) - first;
    correct += best == static_cast<std::ptrdiff_t>(labels[row]) ? 1 : 0;
  }
  return correct;
}

Result<double> accuracy(Session& session, Layer& net, data::BatchIterator& batches) {
  std::int64_t correct = 0, images = 0;
  data::Batch batch;
  while (true) {
    const bool more = PITWALL_TRY(batches.next(batch));
    if (!more) break;
    const NDArray scores =
        PITWALL_TRY(net.forward(NDArray::fromValues(session, batch.image_shape, batch.images)));
    correct += PITWALL_TRY(countCorrect(scores, batch.labels));
    images += batch.items;
  }
  return images > 0 ? static_cast<double>(correct) / static_cast<double>(images) : 0.0;
}

}  // namespace pitwall::nn
