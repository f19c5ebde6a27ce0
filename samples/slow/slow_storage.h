// Batches from slow storage, such as a disk or a network; no CPU is used meanwhile.
#pragma once

#include "runtime/data.h"
#include "samples/slow/timed_model.h"

namespace slow {

class SlowStorage : public data::BatchSource {
 public:
  // The time of batch `index`.
  explicit SlowStorage(std::function<Milliseconds(std::int64_t index)> time) : time_(std::move(time)) {}
  std::int64_t batchesPerEpoch() const override { return 1000; }
  Status make(std::int64_t, std::int64_t index, data::Batch& batch) override {
    sleepFor(time_(index));
    batch.items = 1;
    batch.images.assign(16, 0.5F);
    batch.labels.assign(1, 1.0F);
    batch.image_shape = {1, 16};
    return {};
  }

 private:
  std::function<Milliseconds(std::int64_t index)> time_;
};

// Trains with batches that `threads` threads load ahead of it (0: the training thread), `depth` at most. A
// step takes `step_time`.
inline int trainFromStorage(int threads, int depth, std::function<Milliseconds(std::int64_t index)> time,
                            Milliseconds step_time) {
  auto session = openTimed();
  data::PrefetchOptions prefetch;
  prefetch.threads = static_cast<int>(session->tunable("prefetch_threads", threads, {0, 16}));
  prefetch.depth = static_cast<int>(session->tunable("prefetch_depth", depth, {1, 64}));
  const auto batches =
      must(data::makeBatches(*session, std::make_unique<SlowStorage>(std::move(time)), prefetch));
  {
    TimedModel model(*session);
    data::Batch batch;
    for (int step = 0; step < 12; ++step) {
      session->markIteration(1);
      must(batches->next(batch));
      model.push("Layer", Phase::forward, step_time);
      model.wait();
    }
  }
  must(session->finish());
  return 0;
}

}  // namespace slow
