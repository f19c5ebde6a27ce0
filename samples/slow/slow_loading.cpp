// Batches come from slow storage, one at a time, on the thread that trains.
#include <chrono>
#include <thread>

#include "samples/slow/slow.h"

namespace {

// Takes 10 ms for a batch without using a CPU, as a disk does.
class SlowStorage : public pitwall::data::BatchSource {
 public:
  explicit SlowStorage(const slow::Training& training) : training_(training) {}
  std::int64_t batchesPerEpoch() const override { return 1000; }
  pitwall::Status make(std::int64_t, std::int64_t, pitwall::data::Batch& batch) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    batch.items = training_.batch;
    batch.images.assign(static_cast<std::size_t>(training_.batch * training_.units), 0.5F);
    batch.labels.assign(static_cast<std::size_t>(training_.batch), 1.0F);
    batch.image_shape = {training_.batch, training_.units};
    return {};
  }

 private:
  slow::Training training_;
};

}  // namespace

int main(int argc, char** argv) {
  auto session = slow::must(pitwall::Session::open());
  const auto threads = session->tunable("prefetch_threads", slow::isFixed(argc, argv) ? 8 : 0, {0, 16});
  slow::Training training{.units = 64};
  training.own_code = [] { std::this_thread::sleep_for(std::chrono::milliseconds(4)); };
  const auto batches =
      slow::must(pitwall::data::makeBatches(*session, std::make_unique<SlowStorage>(training),
                                            {.threads = static_cast<int>(threads), .depth = 16}));
  slow::train(*session, training, batches.get());
  slow::must(session->finish());
}
