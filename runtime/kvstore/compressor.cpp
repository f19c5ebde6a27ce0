#include "runtime/kvstore/compressor.h"

#include <fmt/format.h>

#include <cmath>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/kvstore/two_bit.h"

namespace pitwall::kvstore {
namespace {

std::uint8_t* codesIn(const Chunk& chunk) { return static_cast<std::uint8_t*>(chunk.block.data()); }

// Nothing is left of the gradients before the first one.
Residual makeResidual(const Value& value) {
  Session& session = value.session();
  Residual residual;
  residual.left = {makeChunk(session, value.device(), MemoryTag::gradients, DType::float32), value.shape};
  fillConstant(residual.left, 0, "_zeros", Phase::update);
  residual.codes = {makeChunk(session, value.device(), MemoryTag::gradients, DType::uint8),
                    Shape{twoBitBytes(value.shape.elements())}};
  return residual;
}

void pushCompress(Entry& entry, const Value& value, const Residual& residual, float threshold,
                  SumThreads threads, int priority) {
  auto run = [key = entry.key, from = value.chunk.get(), left = residual.left.chunk.get(),
              codes = residual.codes.chunk.get(), count = value.shape.elements(), threshold,
              threads](const RunContext&) -> Status {
    const float* gradient = PITWALL_TRY(contentsOf(*key, *from, count * static_cast<Bytes>(sizeof(float))));
    PITWALL_TRY(ensureBlock(*codes, twoBitBytes(count)));
    compressTwoBit(gradient, static_cast<float*>(left->block.data()), codesIn(*codes), count, threshold,
                   threads);
    return {};
  };
  const Value writes[] = {residual.codes, residual.left};
  pushOperator(entry,
               {.name = "KVStoreCompress",
                .reads = std::span(&value, 1),
                .writes = writes,
                .device = value.device(),
                .priority = priority,
                .threads = threads},
               std::move(run));
}

}  // namespace

Status Compressor::set(const StoreCompression& compression) {
  if (compression.type != "none" && compression.type != "2bit")
    return fail(ErrorCode::invalidInput,
                fmt::format("compression '{}': must be none or 2bit", compression.type));
  if (!(compression.threshold > 0) || !std::isfinite(compression.threshold))
    return fail(ErrorCode::invalidInput,
                fmt::format("compression: the threshold {} must be greater than 0", compression.threshold));
  active_ = compression.type == "2bit";
  threshold_ = compression.threshold;
  return {};
}

Status Compressor::reduce(Entry& entry, const SumOptions& options, std::span<const Value> values,
                          const Value& into, int priority) const {
  const SumThreads threads = options.forArrays();
  std::vector<Value> codes;
  std::vector<const Chunk*> chunks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value value = PITWALL_TRY(withLayout(nullptr, values[i], nullptr, Phase::update));
    if (entry.residuals.size() <= i) entry.residuals.push_back(makeResidual(value));
    Residual& residual = entry.residuals[i];
    if (residual.left.device() != value.device()) residual = makeResidual(value);
    pushCompress(entry, value, residual, threshold_, threads, priority);
    codes.push_back(residual.codes);
    chunks.push_back(residual.codes.chunk.get());
  }
  into.chunk->layout = nullptr;
  auto run = [chunks = std::move(chunks), to = into.chunk.get(), count = into.shape.elements(),
              threshold = threshold_, threads](const RunContext&) -> Status {
    PITWALL_TRY(ensureBlock(*to, count * static_cast<Bytes>(sizeof(float))));
    std::vector<const std::uint8_t*> sent;
    for (const Chunk* chunk : chunks) sent.push_back(codesIn(*chunk));
    decompressTwoBit(sent, static_cast<float*>(to->block.data()), count, threshold, threads);
    return {};
  };
  pushOperator(entry,
               {.name = "KVStoreDecompress",
                .reads = codes,
                .writes = std::span(&into, 1),
                .device = into.device(),
                .priority = priority,
                .threads = threads},
               std::move(run));
  return {};
}

}  // namespace pitwall::kvstore
