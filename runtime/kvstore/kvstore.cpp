// Which kind of store a name means.
#include "runtime/kvstore.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "db/meta.h"
#include "db/try.h"
#include "runtime/kvstore/async_store.h"
#include "runtime/kvstore/dist_store.h"

namespace pitwall {
namespace {

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

std::unique_ptr<kvstore::Reducer> deviceReducer(Session& session) {
  const bool along_trees = session.settings().boolean("MXNET_KVSTORE_USETREE");
  return along_trees ? kvstore::makeTreeReducer(session) : kvstore::makeDeviceReducer(session);
}

// Between processes. `name` is the type in lower case.
Result<std::unique_ptr<KVStore>> makeDist(Session& session, const std::string& type,
                                          const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const bool on_devices = has("device") || has("horovod");
  std::unique_ptr<kvstore::Reducer> reducer =
      on_devices ? deviceReducer(session) : kvstore::makeHostReducer(session);
  if (has("async"))
    return std::unique_ptr<KVStore>(std::make_unique<kvstore::AsyncStore>(
        session, type, std::move(reducer), PITWALL_TRY(kvstore::Servers::open(session))));
  using Use = kvstore::DistStore::Use;
  std::shared_ptr<kvstore::Communicator> communicator = PITWALL_TRY(kvstore::Communicator::open(session));
  return std::unique_ptr<KVStore>(
      std::make_unique<kvstore::DistStore>(session, type, std::move(reducer), std::move(communicator),
                                           has("horovod") ? Use::sumsAlone : Use::store));
}

Result<std::unique_ptr<KVStore>> make(Session& session, const std::string& type) {
  const std::string name = lowerCase(type);
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const auto local = [&](std::unique_ptr<kvstore::Reducer> reducer) -> std::unique_ptr<KVStore> {
    return std::make_unique<kvstore::LocalStore>(session, type, std::move(reducer));
  };
  if (has("dist") || has("horovod")) return makeDist(session, type, name);
  if (has("nccl")) {
    Result<std::unique_ptr<kvstore::Reducer>> reducer = kvstore::makeNcclReducer(session);
    if (reducer.has_value()) return local(std::move(*reducer));
    return fail(reducer.error().code, fmt::format("kvstore '{}': {}; 'device' and 'local' sum without NCCL",
                                                  type, reducer.error().message));
  }
  if (has("device")) return local(deviceReducer(session));
  if (has("local")) return local(kvstore::makeHostReducer(session));
  return fail(ErrorCode::invalidInput,
              fmt::format("kvstore '{}': no such kind; there are local, device, nccl, and between processes "
                          "dist_sync, dist_device_sync, dist_async and horovod",
                          type));
}

}  // namespace

Result<std::unique_ptr<KVStore>> KVStore::create(Session& session, std::string_view type) {
  std::unique_ptr<KVStore> store = PITWALL_TRY(make(session, std::string(type)));
  session.meta(meta::kKvStore, type);
  return store;
}

Result<bool> KVStore::serve(Session& session) { return kvstore::serve(session); }

Status KVStore::pushPull(const StoreKey& key, std::span<const NDArray> values,
                         std::span<const NDArray> outputs, int priority) {
  PITWALL_TRY(push(key, values, priority));
  return pull(key, outputs.empty() ? values : outputs, priority);
}

Status KVStore::broadcast(const StoreKey& key, const NDArray& value, std::span<const NDArray> outputs,
                          int priority) {
  PITWALL_TRY(init(key, value));
  return pull(key, outputs, priority);
}

}  // namespace pitwall
