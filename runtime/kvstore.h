// Key-value store: arrays that several devices or processes share. Each device pushes its part of a sum, such as a gradient, and
// pulls the result: the sum, or the weight that was updated with it.
//
//   auto store = KVStore::create(session, "device");
//   store->init("fc1_weight", weight);
//   store->push("fc1_weight", gradients);   // of each device one
//   store->pull("fc1_weight", weights);     // to each device
//
// Without an updater or optimizer a push replaces the contents of the key by the sum of the pushed arrays; with one, the sum is the
// gradient by which the contents are updated. All calls but create() and barrier() return before the work is done: the engine orders
// it with the operators on the same arrays, so that layers whose gradients are ready are summed while other layers still compute.
// Failures while running surface where the arrays are waited for.
//
// Each sum, copy and compression is an operator of the trace, with the key as its layer: KVStoreReduce, KVStoreBroadcast,
// KVStoreCompress, KVStoreDecompress.
//
// Kinds, by name as MXNet chooses them (docs/kvstore.md): "local" sums on the CPU, "device" on the devices of the arrays, spread over
// them by size. A name of another kind that contains "local" or "device" is one of them. "dist_sync", "dist_device_sync" and "horovod" sum over the
// processes of an MPI job too: all call create() and destroy the store. "dist_async" keeps the keys on servers, other processes of the
// job: each push updates them when it arrives.
//
// Threads: one thread at a time. The session outlives the store.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"
#include "runtime/ndarray.h"
#include "runtime/optimizer_choice.h"
#include "runtime/session.h"

namespace pitwall {

// A number or a text. The keys of a store are all numbers or all texts.
class StoreKey {
 public:
  StoreKey(int number) : number_(number) {}                               // NOLINT: conversion is the purpose
  StoreKey(std::string text) : text_(std::move(text)), is_text_(true) {}  // NOLINT: the same
  StoreKey(const char* text) : StoreKey(std::string(text)) {}             // NOLINT: the same
  bool isText() const { return is_text_; }
  int number() const { return number_; }  // of a key that is no text
  std::string toString() const { return is_text_ ? text_ : std::to_string(number_); }
  friend auto operator<=>(const StoreKey&, const StoreKey&) = default;

 private:
  std::string text_;
  int number_ = 0;
  bool is_text_ = false;
};

// Gradients are sent as 2 bits for each element: +threshold, -threshold or 0. What is not sent is kept and added to the next gradient.
struct StoreCompression {
  std::string type = "none";  // or "2bit"
  float threshold = 0.5F;     // greater than 0
};

// Rows of an array: row i of `values` is, or becomes, row rows[i] of a key.
struct StoreRows {
  std::vector<std::int64_t> rows;
  NDArray values;  // shape {rows.size(), the key's other extents}
};

class KVStore {
 public:
  // Updates `stored` by the sum of a push, by pushing operators. Called by push(), on its thread.
  using Updater = std::function<Status(const StoreKey& key, const NDArray& sum, NDArray& stored)>;

  // Errors: invalidInput for a name of no kind, listing the kinds; unsupported for a kind that this build or machine does not have,
  // with what it needs.
  static Result<std::unique_ptr<KVStore>> create(Session& session, std::string_view type = "local");
  // In a server process of a job (docs/kvstore.md): holds the keys of the stores "dist_async" of its workers until all of them end, and
  // returns true: the program is done. In all other processes returns false at once. Programs call it once, before create().
  // Errors: io naming the rank that has ended or does not answer within PITWALL_KVSTORE_TIMEOUT.
  static Result<bool> serve(Session& session);
  virtual ~KVStore() = default;

  virtual const std::string& type() const = 0;  // as given to create()
  virtual int rank() const { return 0; }        // of this process among the workers
  virtual int workers() const { return 1; }     // processes that train

  // Adds a key with a copy of the array. Between processes: that of rank 0, in all of them; each calls it for the same keys in the
  // same order. Errors: invalidInput for a key that exists, for a text among numbers or the reverse, and for arrays other than of
  // float32; unsupported for a kind without it.
  virtual Status init(const StoreKey& key, const NDArray& value) = 0;

  // Sums the arrays, of each device one. Work with a higher priority starts first. Errors: notFound for an unknown key; invalidInput
  // for arrays of another shape, naming the key; those of the updater.
  virtual Status push(const StoreKey& key, std::span<const NDArray> values, int priority = 0) = 0;

  // Copies the contents of the key to each array, which is overwritten. Errors as push().
  virtual Status pull(const StoreKey& key, std::span<const NDArray> outputs, int priority = 0) = 0;

  // Both. Empty `outputs`: into `values`. Errors as push().
  virtual Status pushPull(const StoreKey& key, std::span<const NDArray> values,
                          std::span<const NDArray> outputs = {}, int priority = 0);

  // init() and pull().
  virtual Status broadcast(const StoreKey& key, const NDArray& value, std::span<const NDArray> outputs,
                           int priority = 0);

  // The same for some rows of a key. Rows of a push may repeat: they add up, and rows that are not named count as zeros.
  // Errors: as push(); invalidInput for a row that the key does not have; unsupported between processes.
  virtual Status pushRows(const StoreKey& key, std::span<const StoreRows> values, int priority = 0) = 0;
  virtual Status pullRows(const StoreKey& key, std::span<const StoreRows> outputs, int priority = 0) = 0;

  // Of one array.
  Status push(const StoreKey& key, const NDArray& value, int priority = 0) {
    return push(key, std::span(&value, 1), priority);
  }
  Status pull(const StoreKey& key, const NDArray& output, int priority = 0) {
    return pull(key, std::span(&output, 1), priority);
  }

  // What later pushes do with the sum; an empty one: replace the contents. Errors: unsupported for a kind that only sums.
  virtual Status setUpdater(Updater updater) = 0;
  // The optimizer that updates each key by its sum, at the rate of setRate() or, before that, of its options. Each key has its own
  // states and counts its own updates. Errors: invalidInput naming the option; unsupported for a kind that only sums.
  virtual Status setOptimizer(const OptimizerChoice& choice) = 0;
  virtual bool canOptimize() const { return true; }
  virtual void setRate(float rate) = 0;                 // of later updates
  virtual void setBatchSize(std::int64_t samples) = 0;  // sums are divided by it before an update; 1 at first

  // Of later pushes. Errors: invalidInput for another type or threshold; unsupported for a kind that sums without sending.
  virtual Status setCompression(const StoreCompression& compression) = 0;

  // Waits until every process has called it. Errors: those of the processes, naming the missing ones.
  virtual Status barrier() { return {}; }
};

}  // namespace pitwall
