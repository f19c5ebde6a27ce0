#include "analyzer/simulate/loading.h"

#include <algorithm>
#include <random>

namespace pitwall::simulate {
namespace {

constexpr std::size_t kIterations = 4096;
constexpr unsigned kSeed = 20260101;  // results are the same each time

// The recorded times in blocks: slow ones that follow each other stay together.
class Drawn {
 public:
  Drawn(const std::vector<TimeNs>& times, unsigned seed) : times_(times), random_(seed) {}

  TimeNs next() {
    if (left_ == 0) {
      at_ = random_() % times_.size();
      left_ = std::max<std::size_t>(1, times_.size() / 4);
    }
    --left_;
    return times_[at_++ % times_.size()];
  }

 private:
  const std::vector<TimeNs>& times_;
  std::mt19937 random_;
  std::size_t at_ = 0, left_ = 0;
};

}  // namespace

double settledIterationNs(const Pipeline& pipeline) {
  const auto workers = static_cast<std::size_t>(std::max<std::int64_t>(1, pipeline.workers));
  const auto depth = std::max(workers, static_cast<std::size_t>(std::max<std::int64_t>(1, pipeline.depth)));
  std::vector<TimeNs> free(workers), taken(kIterations);
  Drawn make(pipeline.make_ns, kSeed), train(pipeline.train_ns, kSeed + 1);
  constexpr std::size_t kSettling = kIterations / 4;
  TimeNs now = 0, settled = 0;
  for (std::size_t i = 0; i < kIterations; ++i) {
    if (i == kSettling) settled = now;
    // The worker that is free first makes the batch, once there is a place for it.
    const auto worker = std::min_element(free.begin(), free.end());
    const TimeNs begin = std::max(*worker, i >= depth ? taken[i - depth] : 0);
    *worker = begin + make.next();
    taken[i] = std::max(now, *worker);
    now = taken[i] + train.next();
  }
  return static_cast<double>(now - settled) / static_cast<double>(kIterations - kSettling);
}

}  // namespace pitwall::simulate
