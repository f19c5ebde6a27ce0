#include "runtime/kvstore/dist_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>
#include <vector>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/engine/all_done.h"
#include "runtime/operators/support/copy.h"

namespace pitwall::kvstore {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // of one exchange: MPI counts in int

// With priority van, MXNet's p3, arrays travel in parts, so that one of higher priority waits for a part at most.
std::int64_t partOf(const Settings& settings) {
  if (settings.text("DMLC_PS_VAN_TYPE") != "p3") return kMostElements;
  return std::min(kMostElements, settings.integer("MXNET_KVSTORE_SLICE_THRESHOLD"));
}

// The exchanges of one array.
struct Run {
  std::shared_ptr<const std::string> key;
  std::vector<Ticket> tickets;
  std::vector<Bytes> begins;  // of each, in the array
  Chunk* array;
  Bytes bytes;    // of the array
  Chunk* output;  // nullptr: in place
  Bytes output_bytes;

  void operator()(const RunContext&, Completion completion) {
    const Result<const float*> contents = contentsOf(*key, *array, bytes);
    if (!contents.has_value()) return completion(fail(contents.error()));
    if (output != nullptr)
      if (Status made = ensureBlock(*output, output_bytes); !made.has_value())
        return completion(std::move(made));
    auto done = std::make_shared<AllDone>(tickets.size(), std::move(completion));
    auto* const data = static_cast<std::byte*>(array->block.data());
    auto* const to = output == nullptr ? nullptr : static_cast<std::byte*>(output->block.data());
    for (std::size_t i = 0; i < tickets.size(); ++i)
      tickets[i].start(data + begins[i], to == nullptr ? nullptr : to + begins[i],
                       [done](Status status) { done->one(std::move(status)); });
  }
};

}  // namespace

DistStore::DistStore(Session& session, std::string type, std::unique_ptr<Reducer> reducer,
                     std::shared_ptr<Communicator> communicator, Use use)
    : LocalStore(session, std::move(type), std::move(reducer)),
      communicator_(std::move(communicator)),
      use_(use),
      sums_(SumOptions::of(session)),
      part_(partOf(session.settings())) {}

void DistStore::pushExchange(Entry& entry, const char* name, Exchange::Kind kind, const Value& array,
                             const Value& output, int priority) {
  const Bytes bytes = array.spec().sizeBytes(), part = part_ * static_cast<Bytes>(sizeof(float));
  Run run{.key = entry.key,
          .tickets = {},
          .begins = {},
          .array = array.chunk.get(),
          .bytes = bytes,
          .output = output ? output.chunk.get() : nullptr,
          .output_bytes = bytes};
  for (Bytes begin = 0; begin < bytes; begin += part) {
    run.begins.push_back(begin);
    run.tickets.emplace_back(
        communicator_,
        Exchange{
            .key = *entry.key, .kind = kind, .bytes = std::min(part, bytes - begin), .priority = priority});
  }
  if (run.tickets.empty()) return;
  const Value written[] = {array, output};
  pushOperator(entry,
               {.name = name,
                .reads = {},
                .writes = std::span(written, output ? 2 : 1),
                .device = array.device(),
                .priority = priority},
               std::move(run));
}

template <class Share>
Status DistStore::shareOnHost(const Value& array, Phase phase, Share share) {
  const Value there = PITWALL_TRY(copyToDevice(array, pinned(array.device().index), phase));
  PITWALL_TRY(share(there));
  return copyInto("KVStoreBroadcast", there, array, phase);
}

Status DistStore::shareFirst(Entry& entry, const Value& first) {
  if (onGpu(first))
    return shareOnHost(first, Phase::none, [&](const Value& there) { return shareFirst(entry, there); });
  PITWALL_TRY(convertLayout(nullptr, first, nullptr, Phase::none));  // ranks may have other layouts
  pushExchange(entry, "KVStoreDistBroadcast", Exchange::Kind::fromFirst, first, {}, 0);
  return {};
}

// The layouts of gradients are those of the same kernels on all ranks only where these are the same machines.
Status DistStore::shareSum(Entry& entry, const Value& sum, int priority) {
  if (onGpu(sum))
    return shareOnHost(sum, Phase::update,
                       [&](const Value& there) { return shareSum(entry, there, priority); });
  PITWALL_TRY(convertLayout(nullptr, sum, nullptr, Phase::update));
  if (compressor_.isActive()) return shareCompressed(entry, sum, priority);
  pushExchange(entry, "KVStoreDistAllReduce", Exchange::Kind::sum, sum, {}, priority);
  return {};
}

// Codes cannot be added: every rank gets those of all.
Status DistStore::shareCompressed(Entry& entry, const Value& sum, int priority) {
  const Value codes = PITWALL_TRY(compressor_.compress(entry, sums_, sum, priority));
  const Bytes bytes = codes.spec().sizeBytes();
  const int ranks = communicator_->size();
  const Value all{makeChunk(session(), sum.device(), MemoryTag::gradients, DType::uint8),
                  Shape{bytes * ranks}};
  Run run{.key = entry.key,
          .tickets = {},
          .begins = {0},
          .array = codes.chunk.get(),
          .bytes = bytes,
          .output = all.chunk.get(),
          .output_bytes = bytes * ranks};
  run.tickets.emplace_back(
      communicator_,
      Exchange{.key = *entry.key, .kind = Exchange::Kind::gather, .bytes = bytes, .priority = priority});
  pushOperator(entry,
               {.name = "KVStoreDistGather",
                .reads = std::span(&codes, 1),
                .writes = std::span(&all, 1),
                .device = sum.device(),
                .priority = priority},
               std::move(run));
  compressor_.decompress(entry, sums_, all, ranks, sum, priority);
  return {};
}

Status DistStore::onlySums(const char* call) const {
  if (use_ == Use::store) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{}: the store '{}' has pushPull() and broadcast() alone, and updates nothing",
                          call, type()));
}

Status DistStore::push(const StoreKey& key, std::span<const NDArray> values, int priority) {
  PITWALL_TRY(onlySums("push"));
  return LocalStore::push(key, values, priority);
}

// Horovod needs no init() before.
Status DistStore::pushPull(const StoreKey& key, std::span<const NDArray> values,
                           std::span<const NDArray> outputs, int priority) {
  if (use_ == Use::sumsAlone && !values.empty() && values[0] && !has(key)) PITWALL_TRY(add(key, values[0]));
  if (isInPlace(values, outputs)) return sumInPlace(key, values[0], priority);
  PITWALL_TRY(LocalStore::push(key, values, priority));
  return pull(key, outputs.empty() ? values : outputs, priority);
}

// One array that becomes the sum needs no other.
bool DistStore::isInPlace(std::span<const NDArray> values, std::span<const NDArray> outputs) const {
  if (updates() || compressor_.isActive() || values.size() != 1 || !values[0] || outputs.size() > 1 ||
      onGpu(valueOf(values[0])))
    return false;
  return outputs.empty() || (outputs[0] && valueOf(outputs[0]).chunk == valueOf(values[0]).chunk);
}

// The sum becomes the contents of the key too, written while it is in a cache.
Status DistStore::sumInPlace(const StoreKey& key, const NDArray& array, int priority) {
  Entry& entry = *PITWALL_TRY(find(key));
  const std::vector<Value> values = PITWALL_TRY(valuesOf(entry, std::span(&array, 1)));
  const Value& sum = values[0];
  PITWALL_TRY(convertLayout(nullptr, sum, nullptr, Phase::update));
  Value contents;
  if (use_ == Use::store) contents = valueOf(entry.stored->value);
  if (contents.chunk == sum.chunk) contents = {};
  if (contents) contents.chunk->layout = sum.chunk->layout;
  pushExchange(entry, "KVStoreDistAllReduce", Exchange::Kind::sum, sum, contents, priority);
  return {};
}

Status DistStore::setUpdater(Updater updater) {
  PITWALL_TRY(onlySums("setUpdater"));
  return LocalStore::setUpdater(std::move(updater));
}

Status DistStore::setOptimizer(const OptimizerChoice& choice) {
  PITWALL_TRY(onlySums("setOptimizer"));
  return LocalStore::setOptimizer(choice);
}

Status DistStore::setCompression(const StoreCompression& compression) {
  PITWALL_TRY(onlySums("setCompression"));
  if (compression.type != "none" && part_ != kMostElements)
    return fail(ErrorCode::unsupported,
                "compression: not with DMLC_PS_VAN_TYPE=p3, which sends arrays in parts");
  return compressor_.set(compression);
}

Status DistStore::barrier() {
  std::promise<Status> met;
  Ticket ticket(communicator_, {.key = "barrier", .kind = Exchange::Kind::meet});
  ticket.start(nullptr, nullptr, [&met](Status status) { met.set_value(std::move(status)); });
  return met.get_future().get();
}

}  // namespace pitwall::kvstore
