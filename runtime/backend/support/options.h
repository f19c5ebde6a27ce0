// Settings of all backends.
#pragma once

#include <cstdint>

namespace pitwall {

struct BackendOptions {
  std::int64_t cached_kernels = -1;         // MXNET_MKLDNN_CACHE_NUM: per operator kind; -1 = unbounded
  std::int64_t parallel_elements = 200000;  // MXNET_CPU_PARALLEL_SIZE: fewer elements use one thread
};

}  // namespace pitwall
