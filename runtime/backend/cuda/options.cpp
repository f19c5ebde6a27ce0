#include "runtime/backend/cuda/options.h"

#include "db/machine.h"

namespace pitwall::cuda {

namespace {

// The settings of MXNet 2, in the order of cuDNN's numerical notes; nullptr: another setting decides, or none.
constexpr const char* kAllowed[] = {"MXNET_CUDNN_ALLOW_TENSOR_CORE",
                                    nullptr,  // converts the inputs to 16 bits
                                    "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION",
                                    "MXNET_CUDNN_ALLOW_FFT",
                                    "MXNET_CUDNN_ALLOW_NONDETERMINISTIC",
                                    "MXNET_CUDNN_ALLOW_WINOGRAD",
                                    "MXNET_CUDNN_ALLOW_WINOGRAD_TILE_4x4",
                                    "MXNET_CUDNN_ALLOW_WINOGRAD_TILE_6x6",
                                    "MXNET_CUDNN_ALLOW_WINOGRAD_TILE_13x13"};
constexpr unsigned kTensorCore = 0, kConverts = 1, kNondeterministic = 4;

}  // namespace

CudaOptions CudaOptions::of(const Settings& settings) {
  CudaOptions options;
  options.cached_kernels = settings.integer("MXNET_MKLDNN_CACHE_NUM");
  options.tensor_cores = settings.boolean("MXNET_CUDA_ALLOW_TENSOR_CORE");
  options.converts = options.tensor_cores && settings.boolean("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION");
  options.dense_adds_in_16_bits = settings.boolean("MXNET_FC_TRUE_FP16");
  for (unsigned note = 0; note < std::size(kAllowed); ++note)
    if (kAllowed[note] != nullptr && !settings.boolean(kAllowed[note])) options.forbidden_notes |= 1U << note;
  if (!options.tensor_cores) options.forbidden_notes |= 1U << kTensorCore;
  if (!options.converts) options.forbidden_notes |= 1U << kConverts;
  if (settings.boolean("MXNET_ENFORCE_DETERMINISM")) options.forbidden_notes |= 1U << kNondeterministic;
  options.autotune = static_cast<Autotune>(settings.integer("MXNET_CUDNN_AUTOTUNE_DEFAULT"));
  if (settings.isSet("MXNET_CUDNN_HEUR_MODE"))
    options.heuristics = static_cast<int>(settings.integer("MXNET_CUDNN_HEUR_MODE"));
  options.verbose = static_cast<int>(settings.integer("MXNET_CUDNN_ALGO_VERBOSE_LEVEL"));
  options.checks_cuda = settings.boolean("MXNET_CUDA_LIB_CHECKING");
  options.checks_cudnn = settings.boolean("MXNET_CUDNN_LIB_CHECKING");
  options.choices_file = settings.text("PITWALL_KERNEL_CHOICES");
  if (const std::string folder = cacheFolder(); options.choices_file.empty() && !folder.empty())
    options.choices_file = folder + "/kernels.txt";
  return options;
}

}  // namespace pitwall::cuda
