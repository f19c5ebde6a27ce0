// Which kind of store a name means.
#include "runtime/kvstore.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "db/meta.h"
#include "db/try.h"
#include "runtime/kvstore/local_store.h"

namespace pitwall {
namespace {

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

Result<std::unique_ptr<KVStore>> make(Session& session, const std::string& type) {
  const std::string name = lowerCase(type);
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const auto local = [&](std::unique_ptr<kvstore::Reducer> reducer) -> std::unique_ptr<KVStore> {
    return std::make_unique<kvstore::LocalStore>(session, type, std::move(reducer));
  };
  if (has("nccl"))
    return fail(ErrorCode::unsupported,
                fmt::format("kvstore '{}': this version has no operators of GPUs, which NCCL connects; use "
                            "'device'",
                            type));
  if (has("device")) {
    const bool along_trees = session.settings().boolean("MXNET_KVSTORE_USETREE");
    return local(along_trees ? kvstore::makeTreeReducer(session) : kvstore::makeDeviceReducer(session));
  }
  if (has("local")) return local(kvstore::makeHostReducer(session));
  return fail(ErrorCode::invalidInput,
              fmt::format("kvstore '{}': no such kind; there are local and device", type));
}

}  // namespace

Result<std::unique_ptr<KVStore>> KVStore::create(Session& session, std::string_view type) {
  std::unique_ptr<KVStore> store = PITWALL_TRY(make(session, std::string(type)));
  session.meta(meta::kKvStore, type);
  return store;
}

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
