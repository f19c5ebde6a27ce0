// The ranges of intermediate results: the network runs on the batches with these results as its outputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/try.h"
#include "runtime/executor.h"
#include "runtime/graph/quantization/quantization.h"

namespace pitwall::graph {

namespace {

// Of absolute values up to the largest: MXNet has 8001 of both signs.
constexpr std::size_t kBins = 4000;

Status checkBatches(const QuantizeOptions& options) {
  if (options.batches.empty())
    return fail(ErrorCode::invalidInput,
                "quantize: calibration needs batches of data; give some, or Calibration::none");
  for (const NDArray& batch : options.batches)
    if (batch.shape() != options.batches[0].shape())
      return fail(ErrorCode::invalidInput,
                  fmt::format("quantize: batches have shapes {} and {}; give batches of one shape",
                              options.batches[0].shape().toString(), batch.shape().toString()));
  return {};
}

// Calls visit(number of the output, its values) for each output and batch.
template <class Visit>
Status forEachOutput(Session& session, const Symbol& outputs, const std::map<std::string, NDArray>& given,
                     const QuantizeOptions& options, Visit visit) {
  std::map<std::string, NDArray> arrays;  // without those that these outputs do not need
  for (const auto& names : {outputs.arguments(), outputs.auxiliaryStates()})
    for (const std::string& name : names)
      if (const auto found = given.find(name); found != given.end()) arrays.insert(*found);
  NDArray data =
      NDArray::empty(session, options.batches[0].shape(), MemoryTag::data, DType::float32, options.device);
  arrays[options.data] = data;
  const auto executor = PITWALL_TRY(Executor::bind(session, outputs, std::move(arrays),
                                                   {.device = options.device, .inputs = {options.data}}));
  for (const NDArray& batch : options.batches) {
    PITWALL_TRY(data.copyFrom(PITWALL_TRY(batch.toVector())));
    PITWALL_TRY(executor->forward());
    for (std::size_t i = 0; i < executor->outputs().size(); ++i)
      visit(i, PITWALL_TRY(executor->outputs()[i].toVector()));
  }
  return {};
}

bool hasNoSign(const NumberRange& range, const QuantizeOptions& options) {
  return options.type == "uint8" || (options.type == "auto" && range.minimum >= 0);
}

// Cuts off outliers. Of numbers with sign both sides have as many steps.
NumberRange withoutOutliers(const NumberRange& range, const std::vector<double>& counts,
                            const QuantizeOptions& options) {
  const bool no_sign = hasNoSign(range, options);
  const auto steps = static_cast<std::size_t>(stepsOf(no_sign ? DType::uint8 : DType::int8)) + 1;
  const float most = range.of(DType::int8).maximum;
  const float kept = most * static_cast<float>(leastDivergentCut(counts, steps)) / static_cast<float>(kBins);
  return {no_sign ? 0 : -kept, kept};
}

}  // namespace

Result<std::map<int, NumberRange>> calibrate(Session& session, const IndexedGraph& graph,
                                             const std::map<std::string, NDArray>& arrays,
                                             const std::vector<int>& entries,
                                             const QuantizeOptions& options) {
  PITWALL_TRY(checkBatches(options));
  std::vector<NodeOutput> heads;
  for (const int entry : entries) {
    const auto after = std::upper_bound(graph.first_entry.begin(), graph.first_entry.end(), entry);
    const auto id = static_cast<std::size_t>(after - graph.first_entry.begin() - 1);
    heads.push_back({graph.nodes[id], entry - graph.first_entry[id]});
  }
  const Symbol outputs(heads);
  std::vector<NumberRange> ranges(entries.size());
  int wrong = -1;
  PITWALL_TRY(forEachOutput(session, outputs, arrays, options, [&](std::size_t i, const auto& values) {
    for (const float value : values) {
      if (!std::isfinite(value)) wrong = static_cast<int>(i);
      ranges[i].minimum = std::min(ranges[i].minimum, value);
      ranges[i].maximum = std::max(ranges[i].maximum, value);
    }
  }));
  if (wrong >= 0)
    return fail(ErrorCode::invalidInput,
                fmt::format("quantize: {} has numbers that are not finite, so that it has no range",
                            outputs.outputNames()[static_cast<std::size_t>(wrong)]));
  if (options.calibration == Calibration::entropy) {
    std::vector<std::vector<double>> counts(entries.size(), std::vector<double>(kBins, 0.0));
    PITWALL_TRY(forEachOutput(session, outputs, arrays, options, [&](std::size_t i, const auto& values) {
      const float most = ranges[i].of(DType::int8).maximum;
      const float scale = most > 0 ? static_cast<float>(kBins) / most : 0;
      for (const float value : values)
        ++counts[i][std::min(kBins - 1, static_cast<std::size_t>(std::abs(value) * scale))];
    }));
    for (std::size_t i = 0; i < entries.size(); ++i)
      ranges[i] = withoutOutliers(ranges[i], counts[i], options);
  }
  std::map<int, NumberRange> by_entry;
  for (std::size_t i = 0; i < entries.size(); ++i)
    by_entry[entries[i]] = hasNoSign(ranges[i], options) ? NumberRange{0, ranges[i].maximum} : ranges[i];
  return by_entry;
}

}  // namespace pitwall::graph
