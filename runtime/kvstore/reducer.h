// How the arrays of several devices become one, and one becomes theirs.
#pragma once

#include <memory>
#include <span>

#include "runtime/kvstore/entry.h"

namespace pitwall::kvstore {

class Reducer {
 public:
  virtual ~Reducer() = default;

  // A new entry, which stays where it is in memory.
  virtual void added(Entry& entry) = 0;

  // The device of the entry's contents, now that the arrays of a push are known; the same at every call for an entry.
  virtual Device homeOf(Entry& entry, std::span<const Value> values) = 0;

  // Whether the sum of one array is that array.
  virtual bool keepsSingle() const = 0;

  // Pushes `into` := the sum of the values. `into` is on the entry's device.
  virtual Status reduce(Entry& entry, std::span<const Value> values, const Value& into, int priority) = 0;
  // Pushes outputs := `from`.
  virtual Status broadcast(Entry& entry, const Value& from, std::span<const Value> outputs, int priority) = 0;

  // Errors: invalidInput, unsupported; as KVStore::setCompression().
  virtual Status setCompression(const StoreCompression& compression) = 0;
};

// On cpu(0), as MXNet's "local".
std::unique_ptr<Reducer> makeHostReducer(Session& session);
// Each key on one of the devices, as MXNet's "device".
std::unique_ptr<Reducer> makeDeviceReducer(Session& session);
// Along trees of links between the devices: "device" with MXNET_KVSTORE_USETREE.
std::unique_ptr<Reducer> makeTreeReducer(Session& session);
// By NCCL between GPUs: "nccl". Errors: those of Session::gpuExchange().
Result<std::unique_ptr<Reducer>> makeNcclReducer(Session& session);

}  // namespace pitwall::kvstore
