#include "runtime/kvstore/compressor.h"

#include <fmt/format.h>

#include <cmath>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/kvstore/two_bit.h"
#include "runtime/operators/support/copy.h"
#include "runtime/operators/two_bit_compress.h"
#include "runtime/operators/two_bit_sum.h"

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

Status compressOnGpu(Entry& entry, const Value& value, const Residual& residual, float threshold) {
  const OperatorKindDesc desc(TwoBitCompressDesc{threshold});
  const Value* const inputs[] = {&value};
  Value outputs[] = {residual.codes, residual.left};
  return invoke(gpuSite(entry), {.name = "KVStoreCompress",
                                 .desc = desc,
                                 .phase = Phase::update,
                                 .inputs = inputs,
                                 .outputs = outputs,
                                 .updates_from = 1,
                                 .flop = onePerElement,
                                 .tag = MemoryTag::gradients});
}

// The codes of other devices are copied there, not the gradients.
Status sumOnGpu(Entry& entry, std::span<const Value> codes, const Value& into, float threshold) {
  const OperatorKindDesc desc(TwoBitSumDesc{threshold});
  std::vector<const Value*> inputs;
  for (const Value& value : codes) inputs.push_back(&value);
  Value sum = into;
  return invoke(gpuSite(entry), {.name = "KVStoreDecompress",
                                 .desc = desc,
                                 .phase = Phase::update,
                                 .inputs = inputs,
                                 .outputs = std::span(&sum, 1),
                                 .like = &into,
                                 .flop = onePerElement,
                                 .tag = MemoryTag::gradients});
}

struct CodesAt {
  const Chunk* chunk;
  Bytes begin;
};

struct Decompression {
  float threshold;
  SumThreads threads;
  int priority;
};

void pushDecompress(Entry& entry, std::span<const Value> codes, std::vector<CodesAt> places,
                    const Value& into, const Decompression& how) {
  into.chunk->layout = nullptr;
  auto run = [places = std::move(places), to = into.chunk.get(), count = into.shape.elements(),
              how](const RunContext&) -> Status {
    PITWALL_TRY(ensureBlock(*to, count * static_cast<Bytes>(sizeof(float))));
    std::vector<const void*> sent;
    for (const CodesAt& at : places) sent.push_back(codesIn(*at.chunk) + at.begin);
    decompressTwoBit(sent, static_cast<float*>(to->block.data()), count, how.threshold, how.threads);
    return {};
  };
  pushOperator(entry,
               {.name = "KVStoreDecompress",
                .reads = codes,
                .writes = std::span(&into, 1),
                .device = into.device(),
                .priority = how.priority,
                .threads = how.threads},
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

Result<Value> Compressor::compressPlace(Entry& entry, const SumOptions& options, const Value& value,
                                        std::size_t place, int priority) const {
  if (entry.residuals.size() <= place) entry.residuals.push_back(makeResidual(value));
  Residual& residual = entry.residuals[place];
  if (residual.left.device() != value.device()) residual = makeResidual(value);
  if (onGpu(value))
    PITWALL_TRY(compressOnGpu(entry, value, residual, threshold_));
  else
    pushCompress(entry, value, residual, threshold_, options.forArrays(), priority);
  return residual.codes;
}

Result<Value> Compressor::compress(Entry& entry, const SumOptions& options, const Value& value,
                                   int priority) const {
  return compressPlace(entry, options, value, 0, priority);
}

Status Compressor::reduce(Entry& entry, const SumOptions& options, std::span<const Value> values,
                          const Value& into, int priority) const {
  std::vector<Value> codes;
  std::vector<CodesAt> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value value = PITWALL_TRY(withLayout(nullptr, values[i], nullptr, Phase::update));
    Value made = PITWALL_TRY(compressPlace(entry, options, value, i, priority));
    if (made.device() != into.device() && (onGpu(made) || onGpu(into)))
      made = PITWALL_TRY(copyToDevice(made, into.device(), Phase::update));
    places.push_back({made.chunk.get(), 0});
    codes.push_back(std::move(made));
  }
  if (onGpu(into)) return sumOnGpu(entry, codes, into, threshold_);
  pushDecompress(entry, codes, std::move(places), into, {threshold_, options.forArrays(), priority});
  return {};
}

void Compressor::decompress(Entry& entry, const SumOptions& options, const Value& all, int count,
                            const Value& into, int priority) const {
  std::vector<CodesAt> places;
  const Bytes each = all.spec().sizeBytes() / count;
  for (int i = 0; i < count; ++i) places.push_back({all.chunk.get(), each * i});
  pushDecompress(entry, std::span(&all, 1), std::move(places), into,
                 {threshold_, options.forArrays(), priority});
}

}  // namespace pitwall::kvstore
