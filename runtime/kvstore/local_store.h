// A store whose keys live in this process. Kinds between processes build on it: what they sum is shared before it is used.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore.h"
#include "runtime/kvstore/reducer.h"
#include "runtime/optimizer.h"

namespace pitwall::kvstore {

class LocalStore : public KVStore {
 public:
  LocalStore(Session& session, std::string type, std::unique_ptr<Reducer> reducer);

  const std::string& type() const override { return type_; }
  Status init(const StoreKey& key, const NDArray& value) override;
  Status push(const StoreKey& key, std::span<const NDArray> values, int priority) override;
  Status pull(const StoreKey& key, std::span<const NDArray> outputs, int priority) override;
  Status pushRows(const StoreKey& key, std::span<const StoreRows> values, int priority) override;
  Status pullRows(const StoreKey& key, std::span<const StoreRows> outputs, int priority) override;
  Status setUpdater(Updater updater) override;
  Status setOptimizer(const OptimizerChoice& choice) override;
  void setRate(float rate) override;
  void setBatchSize(std::int64_t samples) override { batch_size_ = samples; }
  Status setCompression(const StoreCompression& compression) override;

 protected:
  // Whether the sum of this process's arrays becomes one with those of others; the array of a single value is then copied.
  virtual bool sumsAreShared() const { return false; }
  // Pushes the exchange of a sum, in place. In the order of the calls on all processes.
  virtual Status shareSum(Entry&, const Value&, int /*priority*/) { return {}; }
  // Pushes the exchange of the first contents of a key, in place.
  virtual Status shareFirst(Entry&, const Value&) { return {}; }

  Session& session() const { return session_; }
  Reducer& reducer() const { return *reducer_; }
  bool has(const StoreKey& key) const { return entries_.contains(key); }
  // init() without an exchange.
  Status add(const StoreKey& key, const NDArray& value);
  // Whether a sum is not the new contents.
  virtual bool updates() const { return updater_ != nullptr || optimizer_ != nullptr; }
  // Of the contents of a key, and of its sums.
  virtual Device homeOf(Entry& entry, std::span<const Value> values) {
    return reducer_->homeOf(entry, values);
  }
  // Pushes the update of a key by a sum.
  virtual Status use(const StoreKey& key, Entry& entry, const NDArray& sum, int priority);
  // Errors: invalidInput naming the key for arrays of another shape or type.
  static Result<std::vector<Value>> valuesOf(const Entry& entry, std::span<const NDArray> arrays);
  // Errors: notFound.
  Result<Entry*> find(const StoreKey& key);

 private:
  Status checkKey(const StoreKey& key) const;
  Status moveHome(Entry& entry, Device home);
  Result<NDArray> reduced(Entry& entry, std::span<const Value> values, int priority);

  Session& session_;
  const std::string type_;
  const std::unique_ptr<Reducer> reducer_;
  const SumOptions options_;
  std::map<StoreKey, Entry> entries_;
  Updater updater_;
  std::unique_ptr<Optimizer> optimizer_;
  float rate_ = -1;  // of setRate()
  std::int64_t batch_size_ = 1;
};

}  // namespace pitwall::kvstore
