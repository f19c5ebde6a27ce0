// Settings of the backend "cuda".
#pragma once

#include <cstdint>
#include <string>

#include "db/settings.h"
#include "runtime/backend/cuda/engine_choice.h"

namespace pitwall::cuda {

struct CudaOptions {
  std::int64_t cached_kernels = -1;    // MXNET_MKLDNN_CACHE_NUM
  bool tensor_cores = true;            // MXNET_CUDA_ALLOW_TENSOR_CORE: float32 is multiplied as TF32
  bool converts = false;               // MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION: or as float16
  bool dense_adds_in_16_bits = false;  // MXNET_FC_TRUE_FP16
  std::uint32_t forbidden_notes =
      0;  // MXNET_CUDNN_ALLOW_*, MXNET_ENFORCE_DETERMINISM; bit i: cuDNN's numerical note i
  Autotune autotune = Autotune::limited;  // MXNET_CUDNN_AUTOTUNE_DEFAULT
  int heuristics = -1;                    // MXNET_CUDNN_HEUR_MODE; -1: that which cuDNN recommends
  int verbose = 0;                        // MXNET_CUDNN_ALGO_VERBOSE_LEVEL
  bool checks_cuda = true;   // MXNET_CUDA_LIB_CHECKING: whether a library of another version is named
  bool checks_cudnn = true;  // MXNET_CUDNN_LIB_CHECKING
  std::string choices_file;  // PITWALL_KERNEL_CHOICES; "" = none

  static CudaOptions of(const Settings& settings);
};

// What an engine may use where a limit holds: the default of the operators' attribute `workspace`, 1024 MB.
constexpr std::int64_t kWorkspaceLimit = std::int64_t{1024} << 20;

}  // namespace pitwall::cuda
