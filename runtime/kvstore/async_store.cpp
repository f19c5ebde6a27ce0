#include "runtime/kvstore/async_store.h"

#include <fmt/format.h>

#include <future>
#include <utility>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/engine/all_done.h"

namespace pitwall::kvstore {
namespace {

// The requests for one array.
struct Requests {
  std::shared_ptr<Servers> servers;
  std::shared_ptr<const std::string> key;
  std::vector<ServerRequest> requests;
  std::vector<std::int64_t> begins;  // of each, in elements of the array
  Chunk* array;
  Bytes bytes;   // of the array
  bool written;  // else read

  void operator()(const RunContext&, Completion completion) {
    Status there = written ? ensureBlock(*array, bytes) : read();
    if (!there.has_value()) return completion(std::move(there));
    auto done = std::make_shared<AllDone>(requests.size(), std::move(completion));
    auto* const data = static_cast<float*>(array->block.data());
    // Not kept until the end: the thread that completes the last request must not be the one that destroys it.
    const std::shared_ptr<Servers> to = std::move(servers);
    for (std::size_t i = 0; i < requests.size(); ++i)
      to->start(requests[i], data + begins[i], [done](Status status) { done->one(std::move(status)); });
  }

 private:
  Status read() const {
    PITWALL_TRY(contentsOf(*key, *array, bytes));
    return {};
  }
};

Status refused(const Entry& entry, const char* call) {
  return fail(
      ErrorCode::unsupported,
      fmt::format("key '{}': {} is not made between processes; use the whole array", *entry.key, call));
}

}  // namespace

std::vector<KeyPart> partsOnServers(std::int64_t key_number, std::int64_t elements, int servers,
                                    std::int64_t bound) {
  constexpr std::int64_t kSpread = 9973;  // a prime, as MXNet's kvstore_dist.h
  if (elements < bound || servers == 1) {
    const std::int64_t server = (key_number % servers * (kSpread % servers)) % servers;
    return {{static_cast<int>((server + servers) % servers), 0, elements}};
  }
  std::vector<KeyPart> parts;
  for (int server = 0; server < servers; ++server) {
    const std::int64_t begin = elements * server / servers, end = elements * (server + 1) / servers;
    if (end > begin) parts.push_back({server, begin, end - begin});
  }
  return parts;
}

AsyncStore::AsyncStore(Session& session, std::string type, std::unique_ptr<Reducer> reducer,
                       std::shared_ptr<Servers> servers)
    : LocalStore(session, std::move(type), std::move(reducer)),
      servers_(std::move(servers)),
      bound_(session.settings().integer("MXNET_KVSTORE_BIGARRAY_BOUND")) {}

AsyncStore::Place AsyncStore::placeOf(const StoreKey& key, std::int64_t elements) {
  const auto number = static_cast<std::uint32_t>(places_.size());
  const std::int64_t spread_by = key.isText() ? number : key.number();
  return {number, partsOnServers(spread_by, elements, servers_->count(), bound_)};
}

Status AsyncStore::init(const StoreKey& key, const NDArray& value) {
  if (key.toString().size() > ServerRequest::kLongestName)
    return fail(ErrorCode::invalidInput, fmt::format("key '{}': a key has at most {} letters", key.toString(),
                                                     ServerRequest::kLongestName));
  initialised_ = key;
  if (value && value.device().kind == DeviceKind::gpu)
    return LocalStore::init(key, PITWALL_TRY(value.copyTo(cpu(0))));
  return LocalStore::init(key, value);
}

// What travels to servers is in memory of the host.
Device AsyncStore::homeOf(Entry& entry, std::span<const Value> values) {
  const Device home = LocalStore::homeOf(entry, values);
  return home.kind == DeviceKind::gpu ? cpu(0) : home;
}

Status AsyncStore::shareFirst(Entry& entry, const Value& first) {
  PITWALL_TRY(convertLayout(nullptr, first, nullptr, Phase::none));
  places_.emplace(&entry, placeOf(initialised_, first.shape.elements()));
  pushRequests(entry, "KVStoreDistInit", ServerRequest::Kind::init, &first, first, 0);
  return {};
}

Status AsyncStore::push(const StoreKey& key, std::span<const NDArray> values, int priority) {
  if (!has_optimizer_)
    return fail(
        ErrorCode::invalidInput,
        fmt::format(
            "key '{}': the servers of '{}' update each key by what is pushed: call setOptimizer() first",
            key.toString(), type()));
  return LocalStore::push(key, values, priority);
}

// A pull of this worker waits until its push has been answered.
Status AsyncStore::use(const StoreKey&, Entry& entry, const NDArray& sum, int priority) {
  const Value given = valueOf(sum);
  Value read = PITWALL_TRY(readable(std::span(&given, 1), cpu(0)))[0];
  read = PITWALL_TRY(withLayout(nullptr, read, nullptr, Phase::update));
  pushRequests(entry, "KVStoreDistPush", ServerRequest::Kind::push, &read, valueOf(entry.stored->value),
               priority);
  return {};
}

Status AsyncStore::pull(const StoreKey& key, std::span<const NDArray> outputs, int priority) {
  Entry& entry = *PITWALL_TRY(find(key));
  PITWALL_TRY(valuesOf(entry, outputs));
  const Value stored = valueOf(entry.stored->value);
  PITWALL_TRY(convertLayout(nullptr, stored, nullptr, Phase::update));
  pushRequests(entry, "KVStoreDistPull", ServerRequest::Kind::pull, nullptr, stored, priority);
  return LocalStore::pull(key, outputs, priority);
}

void AsyncStore::pushRequests(Entry& entry, const char* name, ServerRequest::Kind kind, const Value* read,
                              const Value& written, int priority) {
  const Value& array = read != nullptr ? *read : written;
  Requests run{.servers = servers_,
               .key = entry.key,
               .requests = {},
               .begins = {},
               .array = array.chunk.get(),
               .bytes = array.spec().sizeBytes(),
               .written = read == nullptr};
  const Place& place = places_.at(&entry);
  for (const KeyPart& part : place.parts) {
    const Bytes bytes = part.count * static_cast<Bytes>(sizeof(float));
    const bool sends = kind != ServerRequest::Kind::init || rank() == 0;
    run.begins.push_back(part.begin);
    run.requests.push_back({.kind = kind,
                            .server = part.server,
                            .key = place.number,
                            .name = *entry.key,
                            .bytes = sends ? bytes : 0,
                            .elements = part.count,
                            .rate = rate_,
                            .batch_size = batch_size_,
                            .priority = priority});
  }
  const bool reads_another = read != nullptr && read->chunk != written.chunk;
  pushOperator(entry,
               {.name = name,
                .reads = std::span(read, reads_another ? 1 : 0),
                .writes = std::span(&written, 1),
                .device = written.device(),
                .priority = priority},
               std::move(run));
}

Status AsyncStore::pushRows(const StoreKey& key, std::span<const StoreRows>, int) {
  return refused(*PITWALL_TRY(find(key)), "a push of rows");
}

Status AsyncStore::pullRows(const StoreKey& key, std::span<const StoreRows>, int) {
  return refused(*PITWALL_TRY(find(key)), "a pull of rows");
}

Status AsyncStore::setUpdater(Updater) {
  return fail(
      ErrorCode::unsupported,
      fmt::format(
          "the store '{}' updates on its servers, to which no function can be sent: use setOptimizer()",
          type()));
}

Status AsyncStore::request(ServerRequest request, void* data) const {
  std::promise<Status> answered;
  servers_->start(std::move(request), data,
                  [&answered](Status status) { answered.set_value(std::move(status)); });
  return answered.get_future().get();
}

Status AsyncStore::setOptimizer(const OptimizerChoice& choice) {
  PITWALL_TRY(makeOptimizer(choice));
  std::string names = choice.name;
  std::vector<float> values;
  for (const auto& [name, value] : choice.options) {
    names += ' ' + name;
    values.push_back(value);
  }
  for (int server = 0; server < servers_->count() && rank() == 0; ++server)
    PITWALL_TRY(request({.kind = ServerRequest::Kind::optimizer,
                         .server = server,
                         .name = names,
                         .bytes = static_cast<Bytes>(values.size() * sizeof(float))},
                        values.data()));
  has_optimizer_ = true;
  return {};
}

Status AsyncStore::setCompression(const StoreCompression& compression) {
  if (compression.type == "none") return {};
  return fail(
      ErrorCode::unsupported,
      fmt::format("compression: not with '{}', whose servers take whole gradients; use dist_sync", type()));
}

Status AsyncStore::barrier() {
  return request({.kind = ServerRequest::Kind::meet, .name = "barrier"}, nullptr);
}

}  // namespace pitwall::kvstore
