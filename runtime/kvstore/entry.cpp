#include "runtime/kvstore/entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/try.h"
#include "runtime/kvstore/sum.h"
#include "runtime/operators/add_n.h"
#include "runtime/operators/support/copy.h"

namespace pitwall::kvstore {
namespace {

std::int64_t countOf(const Piece& piece) {
  if (piece.count >= 0) return piece.count;
  return piece.array.spec().sizeBytes() / static_cast<Bytes>(sizeof(float)) - piece.begin;
}

Bytes bytesOf(std::int64_t floats) { return floats * static_cast<Bytes>(sizeof(float)); }

Bytes bytesOf(const StoreOperator& op, const Value& value) {
  return op.elements >= 0 ? bytesOf(op.elements) : value.spec().sizeBytes();
}

OperatorFacts describe(const Entry& entry, const StoreOperator& op) {
  OperatorFacts facts;
  facts.name = op.name;
  facts.layer = *entry.key;
  for (const Value& value : op.reads) {
    facts.shapes += (facts.shapes.empty() ? "" : ",") + value.shape.toString();
    facts.bytes_read += bytesOf(op, value);
  }
  facts.shapes += "->";
  for (std::size_t i = 0; i < op.writes.size(); ++i) {
    facts.shapes += (i == 0 ? "" : ",") + op.writes[i].shape.toString();
    facts.bytes_written += bytesOf(op, op.writes[i]);
  }
  facts.dtype = toString(DType::float32);
  const Device to = op.writes.front().device();
  if (op.reads.empty())
    facts.implementation = traceName(to);
  else if (op.reads.size() == 1 && op.writes.size() > 1)
    facts.implementation = fmt::format("{} to {} arrays", traceName(op.reads[0].device()), op.writes.size());
  else if (op.reads.size() == 1)
    facts.implementation = traceName(op.reads[0].device()) + " to " + traceName(to);
  else
    facts.implementation = fmt::format("{} arrays to {}", op.reads.size(), traceName(to));
  if (op.threads.threads > 1 && op.writes.front().shape.elements() >= op.threads.parallel_from)
    facts.implementation += fmt::format(", {} threads", op.threads.threads);
  if (!op.library.empty()) facts.implementation += fmt::format(", {}", op.library);
  facts.phase = Phase::update;
  return facts;
}

// Of parts of arrays.
Status requireHost(const std::string& key, const Chunk& chunk) {
  if (chunk.device.kind != DeviceKind::gpu) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("key '{}': an array is on {}, but parts of arrays are summed on the CPU alone", key,
                          toString(chunk.device)));
}

// On a GPU: its backend's sum, of copies of what is elsewhere.
Status pushSumOnGpu(Entry& entry, std::span<const Value> values, const Value& into) {
  std::vector<Value> there(values.begin(), values.end());
  std::vector<const Value*> inputs;
  for (Value& value : there) {
    if (value.device() != into.device())
      value = PITWALL_TRY(copyToDevice(value, into.device(), Phase::update));
    inputs.push_back(&value);
  }
  const AddNDesc desc{static_cast<int>(values.size())};
  const OperatorKindDesc kind(desc);
  Value sum = into.chunk->viewed ? Value() : into;
  PITWALL_TRY(invoke(gpuSite(entry), {.name = "KVStoreReduce",
                                      .desc = kind,
                                      .phase = Phase::update,
                                      .inputs = inputs,
                                      .outputs = std::span(&sum, 1),
                                      .flop = onePerElement,
                                      .tag = MemoryTag::gradients}));
  return into.chunk->viewed ? copyInto("KVStoreBroadcast", sum, into, Phase::update) : Status();
}

}  // namespace

SumOptions SumOptions::of(Session& session) {
  const Settings& settings = session.settings();
  SumOptions options;
  options.threads = static_cast<int>(std::min<std::int64_t>(
      settings.integer("MXNET_KVSTORE_REDUCTION_NTHREADS"), session.operatorThreads()));
  options.parallel_from = settings.integer("MXNET_KVSTORE_BIGARRAY_BOUND");
  options.serial_rows = settings.boolean("MXNET_KVSTORE_SERIAL_PUSH");
  return options;
}

const SitePtr& gpuSite(Entry& entry) {
  if (entry.gpu_site == nullptr) {
    entry.gpu_site = std::make_shared<CallSiteState>();
    entry.gpu_site->layer = *entry.key;
  }
  return entry.gpu_site;
}

void pushOperator(Entry& entry, const StoreOperator& op, OperatorFunction run) {
  const Device from = op.reads.empty() ? op.device : op.reads[0].device();
  const Device to = op.writes.front().device();
  const LayoutPtr& layout = op.writes.front().chunk->layout;
  auto found = std::ranges::find_if(entry.facts, [&](const Entry::Facts& facts) {
    return facts.name == op.name && facts.inputs == op.reads.size() && facts.elements == op.elements &&
           facts.from == from && facts.to == to && facts.layout == layout;
  });
  if (found == entry.facts.end()) {
    const OperatorId id = entry.session().profiler().operatorFacts(describe(entry, op));
    found = entry.facts.insert(found, {op.name, op.reads.size(), op.elements, from, to, layout, id});
  }
  std::vector<Variable> variables;
  for (const Value& value : op.reads) variables.push_back(value.chunk->variable);
  for (const Value& value : op.writes) variables.push_back(value.chunk->variable);
  const std::span<const Variable> all(variables);
  entry.session().engine().push({.run = std::move(run),
                                 .reads = all.first(op.reads.size()),
                                 .writes = all.subspan(op.reads.size()),
                                 .facts = found->id,
                                 .device = op.device,
                                 .operator_class = OperatorClass::prioritized,
                                 .priority = op.priority});
  BulkRegion::countPush();
}

Result<const float*> contentsOf(const std::string& key, const Chunk& chunk, Bytes bytes) {
  PITWALL_TRY(requireHost(key, chunk));
  if (chunk.block.size() >= bytes) return static_cast<const float*>(chunk.block.data());
  return fail(ErrorCode::invalidInput,
              fmt::format("key '{}': an array on {} was never written", key, toString(chunk.device)));
}

Result<std::vector<Value>> readable(std::span<const Value> values, Device device) {
  std::vector<Value> result(values.begin(), values.end());
  for (Value& value : result)
    if (onGpu(value)) value = PITWALL_TRY(copyToDevice(value, device, Phase::update));
  const LayoutPtr& layout = result[0].chunk->layout;
  const bool alike = std::ranges::all_of(
      result, [&](const Value& value) { return sameLayout(value.chunk->layout, layout); });
  if (alike) return result;
  for (Value& value : result) value = PITWALL_TRY(withLayout(nullptr, value, nullptr, Phase::update));
  return result;
}

void pushSumOf(Entry& entry, const SumOptions& options, std::span<const Piece> pieces, const Piece& into,
               int priority) {
  struct From {
    const Chunk* chunk;
    std::int64_t begin;
  };
  std::vector<From> from;
  std::vector<Value> reads;
  for (const Piece& piece : pieces) {
    from.push_back({piece.array.chunk.get(), piece.begin});
    reads.push_back(piece.array);
  }
  auto run = [key = entry.key, from = std::move(from), to = into.array.chunk.get(), begin = into.begin,
              count = countOf(into), bytes = into.array.spec().sizeBytes(),
              threads = options.forArrays()](const RunContext&) -> Status {
    std::vector<const float*> contents;
    for (const From& one : from) {
      const float* data = PITWALL_TRY(contentsOf(*key, *one.chunk, bytesOf(one.begin + count)));
      contents.push_back(data + one.begin);
    }
    PITWALL_TRY(requireHost(*key, *to));
    PITWALL_TRY(ensureBlock(*to, bytes));
    sumArrays(contents, static_cast<float*>(to->block.data()) + begin, count, threads);
    return {};
  };
  pushOperator(entry,
               {.name = "KVStoreReduce",
                .reads = reads,
                .writes = std::span(&into.array, 1),
                .device = into.array.device(),
                .elements = into.count,
                .priority = priority,
                .threads = options.forArrays()},
               std::move(run));
}

void pushCopyOf(Entry& entry, const SumOptions& options, const Piece& from, const Piece& to, int priority) {
  auto run = [key = entry.key, from = from.array.chunk.get(), to = to.array.chunk.get(), begin = from.begin,
              to_begin = to.begin, count = countOf(to), bytes = to.array.spec().sizeBytes(),
              threads = options.forArrays()](const RunContext&) -> Status {
    const float* contents = PITWALL_TRY(contentsOf(*key, *from, bytesOf(begin + count)));
    PITWALL_TRY(requireHost(*key, *to));
    PITWALL_TRY(ensureBlock(*to, bytes));
    copyArray(contents + begin, static_cast<float*>(to->block.data()) + to_begin, count, threads);
    return {};
  };
  pushOperator(entry,
               {.name = "KVStoreBroadcast",
                .reads = std::span(&from.array, 1),
                .writes = std::span(&to.array, 1),
                .device = to.array.device(),
                .elements = to.count,
                .priority = priority,
                .threads = options.forArrays()},
               std::move(run));
}

Status pushSum(Entry& entry, const SumOptions& options, std::span<const Value> values, const Value& into,
               int priority) {
  if (onGpu(into)) return pushSumOnGpu(entry, values, into);
  std::vector<Value> inputs = PITWALL_TRY(readable(values, into.device()));
  if (into.chunk->viewed)
    for (Value& input : inputs) input = PITWALL_TRY(withLayout(nullptr, input, nullptr, Phase::update));
  into.chunk->layout = inputs[0].chunk->layout;
  std::vector<Piece> pieces;
  for (const Value& input : inputs) pieces.push_back({input});
  pushSumOf(entry, options, pieces, {into}, priority);
  return {};
}

Status pushCopy(Entry& entry, const SumOptions& options, const Value& from, const Value& to, int priority) {
  if (from.chunk == to.chunk) return {};
  if (onGpu(from) || onGpu(to)) return copyInto("KVStoreBroadcast", from, to, Phase::update);
  Value source = from;
  if (to.chunk->viewed) source = PITWALL_TRY(withLayout(nullptr, from, nullptr, Phase::update));
  to.chunk->layout = source.chunk->layout;
  pushCopyOf(entry, options, {source}, {to}, priority);
  return {};
}

}  // namespace pitwall::kvstore
