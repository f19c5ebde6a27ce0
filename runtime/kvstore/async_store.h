// A store whose keys live on servers: each push updates them when it arrives, whatever the other workers do ("dist_async").
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/kvstore/local_store.h"
#include "runtime/kvstore/servers.h"

namespace pitwall::kvstore {

// A part of a key on one server, in elements of the row-major array.
struct KeyPart {
  int server;
  std::int64_t begin, count;
};

// Where a key lives: below `bound` elements on one server, by its number; else all servers have equal parts, as in MXNet.
std::vector<KeyPart> partsOnServers(std::int64_t key_number, std::int64_t elements, int servers,
                                    std::int64_t bound);

class AsyncStore final : public LocalStore {
 public:
  AsyncStore(Session& session, std::string type, std::unique_ptr<Reducer> reducer,
             std::shared_ptr<Servers> servers);

  int rank() const override { return servers_->rank(); }
  int workers() const override { return servers_->workers(); }
  Status init(const StoreKey& key, const NDArray& value) override;
  Status push(const StoreKey& key, std::span<const NDArray> values, int priority) override;
  Status pull(const StoreKey& key, std::span<const NDArray> outputs, int priority) override;
  Status pushRows(const StoreKey& key, std::span<const StoreRows> values, int priority) override;
  Status pullRows(const StoreKey& key, std::span<const StoreRows> outputs, int priority) override;
  Status setUpdater(Updater updater) override;
  Status setOptimizer(const OptimizerChoice& choice) override;
  void setRate(float rate) override { rate_ = rate; }
  void setBatchSize(std::int64_t samples) override { batch_size_ = samples; }
  Status setCompression(const StoreCompression& compression) override;
  Status barrier() override;

 protected:
  bool updates() const override { return true; }  // on the servers: a sum is not the contents
  Status shareFirst(Entry& entry, const Value& first) override;
  Device homeOf(Entry& entry, std::span<const Value> values) override;
  Status use(const StoreKey& key, Entry& entry, const NDArray& sum, int priority) override;

 private:
  struct Place {
    std::uint32_t number;  // of the key, by order of init()
    std::vector<KeyPart> parts;
  };
  Place placeOf(const StoreKey& key, std::int64_t elements);
  void pushRequests(Entry& entry, const char* name, ServerRequest::Kind kind, const Value* read,
                    const Value& written, int priority);
  Status request(ServerRequest request, void* data) const;

  const std::shared_ptr<Servers> servers_;
  const std::int64_t bound_;  // elements: MXNET_KVSTORE_BIGARRAY_BOUND
  std::map<const Entry*, Place> places_;
  StoreKey initialised_ = 0;  // the key that init() adds
  bool has_optimizer_ = false;
  float rate_ = -1;
  std::int64_t batch_size_ = 1;
};

}  // namespace pitwall::kvstore
