// Fewer OpenMP threads for a while.
#pragma once

#include <omp.h>

namespace pitwall::onednn {

// The calling thread's parallel regions have at most so many threads until it is destroyed; 0 = no limit.
class OpenMpLimit {
 public:
  explicit OpenMpLimit(int threads) {
    const int most = omp_get_max_threads();
    if (threads == 0 || threads >= most) return;
    before_ = most;
    omp_set_num_threads(threads);
  }
  OpenMpLimit(const OpenMpLimit&) = delete;
  OpenMpLimit& operator=(const OpenMpLimit&) = delete;
  ~OpenMpLimit() {
    if (before_ != 0) omp_set_num_threads(before_);
  }

 private:
  int before_ = 0;
};

}  // namespace pitwall::onednn
