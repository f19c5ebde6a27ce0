// CUDA and cuDNN as MXNet uses them, and what its graphs do on a GPU.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr std::string_view kNoTensorRt = "Pitwall has no TensorRT subgraphs.";

constexpr SettingInfo kGpuSettings[] = {
    {.name = "MXNET_CUDA_ALLOW_TENSOR_CORE",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Whether GPU operators may use Tensor Cores, the matrix units of newer NVIDIA GPUs. Read once per "
         "process.",
     .source = kEnvVar,
     .status = planned},
    {.name = "MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES",
     .owner = "mxnet",
     .type = integer,
     .default_value = "0",
     .allowed = "0..",
     .unit = "lines",
     .meaning = "How many captured CUDA graphs are announced in the log.",
     .source = kCode,
     .status = planned},
    {.name = "MXNET_CUDA_GRAPHS_VERBOSE",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Logs what is captured into CUDA graphs and when they are launched.",
     .source = kCode,
     .status = planned},
    {.name = "MXNET_CUDA_LIB_CHECKING",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Whether start-up warns about a CUDA library that differs from the one MXNet was built with or "
         "that is too old.",
     .source = kEnvVar,
     .status = planned},
    {.name = "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Lets operators on 32-bit data convert to 16 bits on the way in so that Tensor Cores can compute "
         "them. Faster, less precise. Needs MXNET_CUDA_ALLOW_TENSOR_CORE=1.",
     .source = kEnvVar,
     .status = planned},
    {.name = "MXNET_CUDNN_ALGO_VERBOSE_LEVEL",
     .owner = "mxnet",
     .type = integer,
     .default_value = "0",
     .allowed = "0..2",
     .meaning = "How much is logged about the cuDNN algorithms that were tried and chosen.",
     .source = kMaster,
     .status = planned},
    {.name = "MXNET_CUDNN_ALLOW_*",
     .owner = "mxnet",
     .type = boolean,
     .meaning = "Allow or forbid single kinds of cuDNN algorithms: with lower precision, with a "
                "deterministic result and so on.",
     .source = kMaster,
     .status = planned},
    {.name = "MXNET_CUDNN_AUTOTUNE_DEFAULT",
     .owner = "mxnet",
     .type = integer,
     .default_value = "1",
     .allowed = "0..2",
     .meaning =
         "How the cuDNN algorithm of a convolution is chosen: 0 by cuDNN's guess, 1 by measuring those "
         "that fit a limited workspace, 2 by measuring all. Measuring pays when shapes stay the same; with "
         "a new shape in every batch it happens again and again, and 0 is better.",
     .source = kEnvVar,
     .status = planned,
     .note = "In MXNet from 1.5 to 1.9.1 the test of the workspace limit is the wrong way round for "
             "Convolution."},
    {.name = "MXNET_CUDNN_HEUR_MODE",
     .owner = "mxnet",
     .type = integer,
     .allowed = "0..",
     .meaning = "Which of cuDNN's heuristics proposes algorithms when nothing is measured.",
     .source = kMaster,
     .status = planned},
    {.name = "MXNET_CUDNN_LIB_CHECKING",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Whether start-up warns about a cuDNN library that differs from the one MXNet was built with or "
         "that is too old.",
     .source = kEnvVar,
     .status = planned},
    {.name = "MXNET_ENABLE_CUDA_GRAPHS",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Captures a bulk segment into a CUDA graph after its first run and replays it with one launch. "
         "Helps when many short kernels leave the GPU waiting for the host.",
     .source = kCode,
     .status = planned,
     .note = "Needs CUDA 10.2; operators that cannot be captured run between the graphs."},
    {.name = "MXNET_FC_TRUE_FP16",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Lets fully connected layers on 16-bit data also add in 16 bits: faster on some GPUs, less "
                "precise.",
     .source = kEnvVar,
     .status = planned},
    {.name = "MXNET_FUSION_SIZE_WARNING",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning = "Warns when a fused operator has too many inputs and outputs to be compiled.",
     .source = kCode,
     .status = planned},
    {.name = "MXNET_FUSION_VERBOSE",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Prints the code that was generated for fused operators.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "On standard error, when an executor is bound: the functions of each chain."},
    {.name = "MXNET_GPU_CUDNN_DROPOUT_STATE_COPY",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4",
     .allowed = "1..",
     .unit = "states",
     .meaning = "How many random states for cuDNN's dropout the operators of one GPU share in turn.",
     .source = kEnvVar,
     .status = planned},
    {.name = "MXNET_GPU_PARALLEL_RAND_COPY",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4",
     .allowed = "1..",
     .unit = "generators",
     .meaning = "How many parallel random-number generators the operators of one GPU share in turn.",
     .source = kEnvVar,
     .status = planned},
    {.name = "MXNET_RTC_VERBOSE",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Prints how long the search for operators to fuse took.",
     .source = kCode,
     .status = planned},
    {.name = "MXNET_TENSORRT_MAX_BATCH_SIZE",
     .owner = "mxnet",
     .type = integer,
     .allowed = "1..",
     .unit = "items",
     .meaning = "The largest batch that subgraphs given to TensorRT are prepared for.",
     .source = kCode,
     .status = notApplicable,
     .note = kNoTensorRt},
    {.name = "MXNET_TENSORRT_VERBOSE",
     .owner = "mxnet",
     .type = boolean,
     .meaning = "Logs what TensorRT does with its subgraphs.",
     .source = kCode,
     .status = notApplicable,
     .note = kNoTensorRt},
    {.name = "MXNET_USE_FUSION",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Fuses neighbouring element-wise operators of a graph into one GPU kernel, compiled when first "
         "used. Saves launches and memory traffic; costs time at start-up.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "In Pitwall of the executor on CPUs, in inference and training: chains run as one kernel, and "
             "nothing is compiled; not in training with MXNET_BACKWARD_DO_MIRROR or MXNET_MEMORY_OPT. GPU "
             "only in MXNet; symbolic programs there, and Gluon ones hybridized with static_alloc."},
};
}  // namespace

std::span<const SettingInfo> gpuSettings() { return kGpuSettings; }

}  // namespace pitwall::settings
