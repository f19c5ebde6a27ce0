// A store whose keys are the same in all processes of a job: sums are made over their devices, then over the processes.
#pragma once

#include <memory>
#include <string>

#include "runtime/kvstore/communicator.h"
#include "runtime/kvstore/compressor.h"
#include "runtime/kvstore/local_store.h"

namespace pitwall::kvstore {

class DistStore final : public LocalStore {
 public:
  enum class Use : std::uint8_t {
    store,      // as "dist_sync": every process updates its copy of a key by the same sum
    sumsAlone,  // as "horovod": pushPull() and broadcast() only
  };
  DistStore(Session& session, std::string type, std::unique_ptr<Reducer> reducer,
            std::shared_ptr<Communicator> communicator, Use use);

  int rank() const override { return communicator_->rank(); }
  int workers() const override { return communicator_->size(); }
  bool canOptimize() const override { return use_ == Use::store; }
  Status push(const StoreKey& key, std::span<const NDArray> values, int priority) override;
  Status pushPull(const StoreKey& key, std::span<const NDArray> values, std::span<const NDArray> outputs,
                  int priority) override;
  Status setUpdater(Updater updater) override;
  Status setOptimizer(const OptimizerChoice& choice) override;
  Status setCompression(const StoreCompression& compression) override;
  Status barrier() override;

 protected:
  bool sumsAreShared() const override { return true; }
  Status shareSum(Entry& entry, const Value& sum, int priority) override;
  Status shareFirst(Entry& entry, const Value& first) override;

 private:
  bool isInPlace(std::span<const NDArray> values, std::span<const NDArray> outputs) const;
  Status sumInPlace(const StoreKey& key, const NDArray& array, int priority);
  Status onlySums(const char* call) const;
  // A sum becomes the contents of `output` too, if there is one.
  void pushExchange(Entry& entry, const char* name, Exchange::Kind kind, const Value& array,
                    const Value& output, int priority);
  Status shareCompressed(Entry& entry, const Value& sum, int priority);
  // MPI reads memory of the host: what is on a GPU is exchanged in a copy there.
  template <class Share>
  Status shareOnHost(const Value& array, Phase phase, Share share);

  const std::shared_ptr<Communicator> communicator_;
  const Use use_;
  const SumOptions sums_;
  const std::int64_t part_;  // elements that one exchange has at most
  Compressor compressor_;
};

}  // namespace pitwall::kvstore
