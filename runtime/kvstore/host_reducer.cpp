// The kind "local": sums on cpu(0).
#include "db/try.h"
#include "runtime/kvstore/reducer.h"

namespace pitwall::kvstore {
namespace {

class HostReducer final : public Reducer {
 public:
  explicit HostReducer(Session& session) : options_(SumOptions::of(session)) {}
  void added(Entry&) override {}
  Device homeOf(Entry&, std::span<const Value>) override { return cpu(0); }
  bool keepsSingle() const override { return true; }

  Status reduce(Entry& entry, std::span<const Value> values, const Value& into, int priority) override {
    return pushSum(entry, options_, values, into, priority);
  }

  Status broadcast(Entry& entry, const Value& from, std::span<const Value> outputs, int priority) override {
    for (const Value& output : outputs) PITWALL_TRY(pushCopy(entry, options_, from, output, priority));
    return {};
  }

  Status setCompression(const StoreCompression& compression) override {
    if (compression.type == "none") return {};
    return fail(
        ErrorCode::unsupported,
        "compression: the store 'local' sends nothing between devices; use 'device' or a kind between "
        "processes");
  }

 private:
  const SumOptions options_;
};

}  // namespace

std::unique_ptr<Reducer> makeHostReducer(Session& session) { return std::make_unique<HostReducer>(session); }

}  // namespace pitwall::kvstore
