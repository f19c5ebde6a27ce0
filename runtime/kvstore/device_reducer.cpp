// The kind "device": sums each key on one of the devices.
#include "db/try.h"
#include "runtime/kvstore/compressor.h"
#include "runtime/kvstore/homes.h"
#include "runtime/kvstore/reducer.h"

namespace pitwall::kvstore {
namespace {

class DeviceReducer final : public Reducer {
 public:
  explicit DeviceReducer(Session& session) : options_(SumOptions::of(session)) {}
  void added(Entry& entry) override { homes_.added(entry); }
  Device homeOf(Entry& entry, std::span<const Value> values) override { return homes_.of(entry, values); }
  bool keepsSingle() const override { return !compressor_.isActive(); }

  Status reduce(Entry& entry, std::span<const Value> values, const Value& into, int priority) override {
    if (compressor_.isActive()) return compressor_.reduce(entry, options_, values, into, priority);
    return pushSum(entry, options_, values, into, priority);
  }

  Status broadcast(Entry& entry, const Value& from, std::span<const Value> outputs, int priority) override {
    for (const Value& output : outputs) PITWALL_TRY(pushCopy(entry, options_, from, output, priority));
    return {};
  }

  Status setCompression(const StoreCompression& compression) override { return compressor_.set(compression); }

 private:
  const SumOptions options_;
  Homes homes_;
  Compressor compressor_;
};

}  // namespace

std::unique_ptr<Reducer> makeDeviceReducer(Session& session) {
  return std::make_unique<DeviceReducer>(session);
}

}  // namespace pitwall::kvstore
