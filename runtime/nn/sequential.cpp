#include "db/try.h"
#include "runtime/array/array.h"
#include "runtime/array/bulk.h"
#include "runtime/autograd.h"
#include "runtime/nn.h"
#include "runtime/nn/cached_op.h"

namespace pitwall::nn {

Status Sequential::initialise(const Initialiser& initialiser, std::uint64_t seed) {
  std::uint64_t index = 0;
  for (const ParameterPtr& parameter : parameters()) {
    ++index;
    if (!parameter->follows_net) continue;
    parameter->initialiser = initialiser;
    parameter->seed = seed * 0x9e3779b97f4a7c15U + index;  // weights of one net must differ
    if (!parameter->value) continue;
    PITWALL_TRY(pitwall::initialise(parameter->value, initialiser, parameter->seed));
  }
  return {};
}

Status Sequential::hybridize(const HybridizeOptions& options) {
  if (options.static_shape && !options.static_alloc)
    return fail(ErrorCode::invalidInput,
                name() + ": hybridize: static_shape needs static_alloc; set both, or neither");
  hybrid_ = options;
  cached_ = nullptr;
  return {};
}

std::vector<ParameterPtr> Sequential::parameters() const {
  std::vector<ParameterPtr> all;
  for (const auto& layer : layers_)
    for (ParameterPtr& parameter : layer->parameters()) all.push_back(std::move(parameter));
  return all;
}

Result<NDArray> Sequential::forward(const NDArray& data) {
  if (!data)
    return fail(ErrorCode::invalidInput,
                name() + ": the data is an empty handle; make the array first (NDArray::fromValues)");
  if (hybrid_.active) {
    if (cached_ == nullptr) {
      Symbol graph = PITWALL_TRY(compose(Symbol::variable(CachedOp::kData)));
      cached_ = std::make_shared<CachedOp>(std::move(graph), parameters(), hybrid_);
    }
    return cached_->call(data);
  }
  Session& session = data.session();
  const BulkKind kind = autograd::isRecording() ? BulkKind::forward : BulkKind::inference;
  const BulkRegion bulk(session, bulkSize(session, data.device(), kind));
  NDArray current = data;
  for (const auto& layer : layers_) {
    current = PITWALL_TRY(layer->forward(current));
  }
  return current;
}

}  // namespace pitwall::nn
