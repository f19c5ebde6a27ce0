// Settings of all backends.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/backend/support/operator_tuning.h"

namespace pitwall {

struct BackendOptions {
  std::int64_t cached_kernels = -1;  // MXNET_MKLDNN_CACHE_NUM: per operator kind; -1 = unbounded
  bool measure_kernels = false;      // PITWALL_MEASURE_KERNELS
  std::string kernel_choices_file;   // PITWALL_KERNEL_CHOICES; "" = none
  int winograd_threads = 0;          // MXNET_CPU_NNPACK_NTHREADS; 0 = as many as other operators
  bool library_rnn = true;           // MXNET_USE_MKLDNN_RNN; false: the reference backend's loops
  bool safe_accumulation = false;    // MXNET_SAFE_ACCUMULATION: softmax and LayerNorm in double
  bool plain_dense_weights =
      false;              // MXNET_MKLDNN_FORCE_FC_AB_FORMAT: FullyConnected reads row-major weights
  bool compares = false;  // MXNET_MKLDNN_DEBUG: with the reference backend's results
  std::int64_t parallel_elements = 200000;  // MXNET_CPU_PARALLEL_SIZE: fewer elements use one thread
  bool fixed_parallel_elements = false;     // that was set: it holds instead of what tuning finds
  std::int64_t library_parallel_elements =
      0;  // the same for functions of each element that oneDNN computes; 0 = it decides
  OperatorTuningOptions tuning = {};
};

}  // namespace pitwall
