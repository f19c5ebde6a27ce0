// Sums and copies over several GPUs: one communicator for each list of GPUs, one stream for each GPU, and the end of the work.
//
// Communicators that share GPUs must not wait for each other: what is put on the streams has one order, the same on all of them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/mutex.h"
#include "runtime/gpu.h"
#include "runtime/gpu/work.h"
#include "runtime/operator_function.h"

namespace pitwall {

// Threads: every call from any thread.
class GpuExchange {
 public:
  // GPUs that exchange arrays.
  struct Peers {
    std::vector<int> devices;
    std::vector<GpuStream> streams;  // of each device
    std::unique_ptr<GpuCollectives> collectives;
  };

  // Up to `most_together` collectives start together. `platform` and `work` outlive it. Errors: those of
  // GpuPlatform::collectivesVersion().
  static Result<std::unique_ptr<GpuExchange>> open(GpuPlatform& platform, GpuWork& work, int most_together);
  // Precondition: all collectives are complete.
  ~GpuExchange();
  GpuExchange(const GpuExchange&) = delete;
  GpuExchange& operator=(const GpuExchange&) = delete;

  const std::string& version() const { return version_; }

  // These GPUs, in ascending order; the first call for a list opens its communicator. They live as long as the exchange. Errors: those
  // of GpuPlatform::openCollectives() and of the driver.
  Result<const Peers*> peers(const std::vector<int>& devices);

  // Puts it on the streams, with others of these GPUs that have come meanwhile. Its arrays are ready: no work on them is open.
  // Completes when all GPUs have done it.
  void run(const Peers& peers, GpuCollective collective, Completion completion);

 private:
  GpuExchange(GpuPlatform& platform, GpuWork& work, int most_together, std::string version)
      : platform_(platform), work_(work), most_together_(most_together), version_(std::move(version)) {}

  struct Request {
    const Peers* peers;
    GpuCollective collective;
    Completion completion;
  };
  std::vector<Request> takeTogether();
  void put(std::vector<Request> requests);
  Result<GpuStream> streamOf(int device) PITWALL_REQUIRES(mutex_);

  GpuPlatform& platform_;
  GpuWork& work_;
  const int most_together_;
  const std::string version_;
  Mutex mutex_;
  std::map<int, GpuStream> streams_ PITWALL_GUARDED_BY(mutex_);
  std::map<std::vector<int>, std::unique_ptr<Peers>> peers_ PITWALL_GUARDED_BY(mutex_);
  std::deque<Request> waiting_ PITWALL_GUARDED_BY(mutex_);
  bool busy_ PITWALL_GUARDED_BY(mutex_) = false;  // a thread puts what waits
};

}  // namespace pitwall
