// The kind "nccl": sums each key on one of the GPUs by NCCL, and returns it by NCCL.
#include <fmt/format.h>

#include <algorithm>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/gpu/exchange.h"
#include "runtime/kvstore/homes.h"
#include "runtime/kvstore/reducer.h"

namespace pitwall::kvstore {
namespace {

// The GPUs of arrays, in ascending order; empty unless there are several and each has one array.
std::vector<int> differentGpus(std::span<const Value> values) {
  std::vector<int> devices;
  for (const Value& value : values) {
    if (!onGpu(value)) return {};
    devices.push_back(value.device().index);
  }
  std::ranges::sort(devices);
  if (devices.size() < 2 || std::ranges::adjacent_find(devices) != devices.end()) return {};
  return devices;
}

// An array on each GPU of a list, in its order.
struct Parts {
  std::vector<Value> arrays;
  int root = -1;  // the place of `device`; -1: it is none of the GPUs
};

Parts inOrder(std::span<const Value> values, Device root) {
  Parts parts{{values.begin(), values.end()}};
  std::ranges::sort(parts.arrays, {}, [](const Value& value) { return value.device().index; });
  for (std::size_t i = 0; i < parts.arrays.size(); ++i)
    if (parts.arrays[i].device() == root) parts.root = static_cast<int>(i);
  return parts;
}

// One collective of an entry, when it runs.
struct CollectiveRun {
  GpuExchange* exchange;
  const GpuExchange::Peers* peers;
  std::shared_ptr<const std::string> key;
  GpuCollective::Kind kind;
  int root;
  Bytes bytes;               // of each array
  std::vector<Chunk*> from;  // nullptr: none
  std::vector<Chunk*> to;

  Result<GpuCollective> collective() const {
    GpuCollective made{.kind = kind,
                       .root = root,
                       .floats = bytes / static_cast<Bytes>(sizeof(float)),
                       .from = std::vector<const float*>(from.size()),
                       .to = std::vector<float*>(to.size())};
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] == nullptr) continue;
      if (from[i]->block.size() < bytes)
        return fail(ErrorCode::invalidInput, fmt::format("key '{}': an array on {} was never written", *key,
                                                         toString(from[i]->device)));
      made.from[i] = static_cast<const float*>(from[i]->block.data());
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (to[i] == nullptr) continue;
      PITWALL_TRY(ensureBlock(*to[i], bytes));
      made.to[i] = static_cast<float*>(to[i]->block.data());
    }
    return made;
  }

  void operator()(const RunContext&, Completion completion) {
    Result<GpuCollective> made = collective();
    if (!made.has_value()) return completion(fail(made.error()));
    exchange->run(*peers, std::move(*made), std::move(completion));
  }
};

class NcclReducer final : public Reducer {
 public:
  NcclReducer(Session& session, GpuExchange& exchange)
      : options_(SumOptions::of(session)), exchange_(exchange) {}

  void added(Entry& entry) override { homes_.added(entry); }
  Device homeOf(Entry& entry, std::span<const Value> values) override { return homes_.of(entry, values); }
  bool keepsSingle() const override { return true; }

  Status reduce(Entry& entry, std::span<const Value> values, const Value& into, int priority) override {
    PITWALL_TRY(requireGpus(entry, values));
    const std::vector<int> devices = differentGpus(values);
    const Parts parts = inOrder(values, into.device());
    if (devices.empty() || parts.root < 0) return pushSum(entry, options_, values, into, priority);
    const GpuExchange::Peers* const peers = PITWALL_TRY(exchange_.peers(devices));
    std::vector<Value> from = parts.arrays;
    PITWALL_TRY(giveOneLayout(from, into.chunk->viewed));
    into.chunk->layout = from[0].chunk->layout;
    CollectiveRun run = runOf(entry, *peers, GpuCollective::Kind::sum, parts.root, into);
    for (std::size_t i = 0; i < from.size(); ++i) run.from[i] = from[i].chunk.get();
    run.to[static_cast<std::size_t>(parts.root)] = into.chunk.get();
    push(entry, "KVStoreReduce", from, std::span(&into, 1), priority, std::move(run));
    return {};
  }

  // To arrays of other devices, or to several of one GPU: a copy to each.
  Status broadcast(Entry& entry, const Value& from, std::span<const Value> outputs, int priority) override {
    const std::vector<int> devices = differentGpus(outputs);
    const Parts parts = inOrder(outputs, from.device());
    if (devices.empty() || parts.root < 0) {
      for (const Value& output : outputs) PITWALL_TRY(pushCopy(entry, options_, from, output, priority));
      return {};
    }
    const GpuExchange::Peers* const peers = PITWALL_TRY(exchange_.peers(devices));
    const bool row_major = std::ranges::any_of(outputs, [](const Value& v) { return v.chunk->viewed; });
    std::vector<Value> source = {from};
    PITWALL_TRY(giveOneLayout(source, row_major));
    CollectiveRun run = runOf(entry, *peers, GpuCollective::Kind::copy, parts.root, source[0]);
    run.from[static_cast<std::size_t>(parts.root)] = source[0].chunk.get();
    for (std::size_t i = 0; i < parts.arrays.size(); ++i) {
      parts.arrays[i].chunk->layout = source[0].chunk->layout;
      run.to[i] = parts.arrays[i].chunk.get();
    }
    push(entry, "KVStoreBroadcast", source, parts.arrays, priority, std::move(run));
    return {};
  }

  Status setCompression(const StoreCompression& compression) override {
    if (compression.type == "none") return {};
    return fail(ErrorCode::unsupported, "compression: the store 'nccl' sends whole numbers; use 'device'");
  }

 private:
  static Status requireGpus(const Entry& entry, std::span<const Value> values) {
    for (const Value& value : values)
      if (!onGpu(value))
        return fail(ErrorCode::invalidInput,
                    fmt::format("key '{}': an array is on {}; the store 'nccl' sums arrays of GPUs: use "
                                "'device' or 'local'",
                                *entry.key, toString(value.device())));
    return {};
  }

  // The common layout of all; else, or where it must be, row-major.
  static Status giveOneLayout(std::vector<Value>& values, bool row_major) {
    const LayoutPtr layout = values[0].chunk->layout;
    const bool alike = std::ranges::all_of(
        values, [&](const Value& value) { return sameLayout(value.chunk->layout, layout); });
    if (alike && (!row_major || layout == nullptr)) return {};
    for (Value& value : values) value = PITWALL_TRY(withLayout(nullptr, value, nullptr, Phase::update));
    return {};
  }

  // `array`: one of those that it works on.
  CollectiveRun runOf(const Entry& entry, const GpuExchange::Peers& peers, GpuCollective::Kind kind, int root,
                      const Value& array) const {
    const std::size_t places = peers.devices.size();
    return {.exchange = &exchange_,
            .peers = &peers,
            .key = entry.key,
            .kind = kind,
            .root = root,
            .bytes = array.spec().sizeBytes(),
            .from = std::vector<Chunk*>(places),
            .to = std::vector<Chunk*>(places)};
  }

  // Not an operator of a GPU: it starts when no work on its arrays is open, and uses streams of the exchange.
  void push(Entry& entry, const char* name, std::span<const Value> reads, std::span<const Value> writes,
            int priority, CollectiveRun run) const {
    pushOperator(entry,
                 {.name = name,
                  .reads = reads,
                  .writes = writes,
                  .device = cpu(0),
                  .priority = priority,
                  .library = exchange_.version()},
                 std::move(run));
  }

  const SumOptions options_;
  GpuExchange& exchange_;
  Homes homes_;
};

}  // namespace

Result<std::unique_ptr<Reducer>> makeNcclReducer(Session& session) {
  GpuExchange* const exchange = PITWALL_TRY(session.gpuExchange());
  return std::unique_ptr<Reducer>(std::make_unique<NcclReducer>(session, *exchange));
}

}  // namespace pitwall::kvstore
