// What the settings say about backends in general.
#pragma once

#include <cstdint>

namespace pitwall {

struct BackendOptions {
  std::int64_t cached_kernels = -1;         // MXNET_MKLDNN_CACHE_NUM: per operator kind; -1 = unbounded
  std::int64_t parallel_elements = 200000;  // MXNET_CPU_PARALLEL_SIZE: fewer elements are done by one thread
};

}  // namespace pitwall
