// Memory: pools, the planner of graphs, workspaces, recomputation.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr std::string_view kPoolTypes = "Naive|Round|Unpooled";

constexpr SettingInfo kMemorySettings[] = {
    {.name = "MXNET_BACKWARD_DO_MIRROR",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Trades time for memory: cheap results of the forward pass are thrown away and computed again "
         "when the backward pass needs them. Its documentation expects 30 to 50 % less device memory at "
         "about 95 % of "
         "the speed; the memory can go into a larger batch.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Of the executor; in MXNet 1.9.1 too Gluon and imperative programs ignore it. About every "
             "second result that the backward pass reads is computed again, by convolutions too: half the "
             "memory at about 0.88 of the speed (ResNet-50). Large results of BatchNorms are computed again "
             "without it too. A node's attribute __force_mirroring__ asks for it alone."},
    {.name = "MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "2097152",
     .allowed = "1..1073741824",
     .unit = "bytes",
     .meaning =
         "In the naive pool of CPU memory, requests above this size are rounded up to a multiple of it, so "
         "that nearly equal large blocks can replace each other. 1 switches the rounding off.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0",
     .note = "The twin of MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE; MXNet 1.9.1 has no pool of CPU memory."},
    {.name = "MXNET_CPU_MEM_POOL_PAGE_SIZE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4096",
     .allowed = "32..1073741824",
     .unit = "bytes",
     .meaning = "The smallest block of the pool of CPU memory; sizes are rounded up to multiples of "
                "it. For the Round pool it must be a power of two.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0",
     .note = "MXNet 1.9.1 has no pool of CPU memory."},
    {.name = "MXNET_CPU_MEM_POOL_RESERVE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "5",
     .allowed = "0..100",
     .unit = "%",
     .meaning =
         "The share of host memory that the pool leaves to others: when less is free, the pool gives its "
         "cached blocks back before it asks the system for more.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF",
     .owner = "mxnet",
     .type = integer,
     .default_value = "24",
     .allowed = "20..34",
     .unit = "log2 of bytes",
     .meaning =
         "In the Round pool of CPU memory, sizes below 2 to this power are rounded up to the next power of "
         "two, larger ones to the next multiple of 2 to this power. A lower value wastes less of large "
         "blocks and reuses them less often.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0",
     .note = "MXNet 1.9.1 has no pool of CPU memory."},
    {.name = "MXNET_CPU_MEM_POOL_TYPE",
     .owner = "mxnet",
     .type = choice,
     .default_value = "Naive",
     .allowed = kPoolTypes,
     .meaning =
         "What happens to CPU memory that an array no longer needs. Naive keeps a block for the next "
         "request of the same size; Round rounds sizes up so that blocks fit more requests, which suits "
         "programs whose shapes vary; Unpooled gives every block back to the system at once.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0",
     .note = "MXNet 1.9.1 has no pool of CPU memory."},
    {.name = "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4096",
     .allowed = "32..1073741824",
     .unit = "bytes",
     .meaning = "The smallest block of the pool of pinned host memory, the memory that a GPU can copy from "
                "without help of the CPU.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_CPU_PINNED_MEM_POOL_RESERVE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "5",
     .allowed = "0..100",
     .unit = "%",
     .meaning = "The share of host memory that the pool of pinned memory leaves to others.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF",
     .owner = "mxnet",
     .type = integer,
     .default_value = "24",
     .allowed = "20..34",
     .unit = "log2 of bytes",
     .meaning =
         "Where the Round pool of pinned host memory changes from powers of two to multiples of a fixed "
         "size.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_CPU_PINNED_MEM_POOL_TYPE",
     .owner = "mxnet",
     .type = choice,
     .default_value = "Naive",
     .allowed = kPoolTypes,
     .meaning = "How freed pinned host memory is kept. Pinning is slow, so a pool pays more here than for "
                "ordinary memory.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_CPU_TEMP_COPY",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4",
     .allowed = "1..",
     .unit = "workspaces",
     .meaning =
         "How many scratch buffers CPU operators share in turn. Two operators that are given the same "
         "buffer cannot run at the same time, so more buffers allow more parallelism and take more memory.",
     .source = kEnvVar,
     .status = notApplicable,
     .note =
         "Pitwall's operators take their scratch memory from the pool and never wait for each other's. In "
         "MXNet 1.9.1 the count is per thread that pushes operators."},
    {.name = "MXNET_EXEC_ENABLE_INPLACE",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "true",
     .meaning =
         "Whether the planner of a symbolic graph may let an operator overwrite an input that no operator "
         "reads afterwards, which saves a buffer.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Of the executor. Dead in MXNet since 2016: no code reads it, in-place is always on."},
    {.name = "MXNET_EXEC_INPLACE_GRAD_SUM_CAP",
     .owner = "mxnet",
     .type = integer,
     .default_value = "8",
     .allowed = "0..",
     .unit = "gradients",
     .meaning =
         "When fewer gradients than this flow into one array they are summed by one operator; from this "
         "number on they are added one after another into the same buffer, slower but smaller.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "Of the executor."},
    {.name = "MXNET_EXEC_NUM_TEMP",
     .owner = "mxnet",
     .type = integer,
     .default_value = "1",
     .allowed = "1..",
     .unit = "workspaces",
     .meaning = "How many temporary workspaces per device the planner of symbolic graphs may use. Fewer save "
                "memory, more allow operators to run in parallel.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Another name of NNVM_EXEC_NUM_TEMP, which wins. Dead in MXNet since 2016: the function that "
             "reads it is never called."},
    {.name = "MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "2097152",
     .allowed = "1..",
     .unit = "bytes",
     .meaning =
         "In the naive pool of GPU memory, requests above this size are rounded up to a multiple of it, "
         "which keeps the driver's memory from fragmenting. 1 switches the rounding off.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_GPU_MEM_POOL_PAGE_SIZE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4096",
     .allowed = "32..",
     .unit = "bytes",
     .meaning = "The smallest block of the pool of GPU memory. A power of two for the Round pool.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_GPU_MEM_POOL_RESERVE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "5",
     .allowed = "0..100",
     .unit = "%",
     .meaning =
         "The share of GPU memory that the pool tries to leave to kernels and libraries. A larger value "
         "helps when kernels fail to launch for lack of memory after some iterations.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "In MXNet 1.9.1 it only makes the pool give its cached blocks back first; it never refuses an "
             "allocation."},
    {.name = "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF",
     .owner = "mxnet",
     .type = integer,
     .default_value = "24",
     .allowed = "20..34",
     .unit = "log2 of bytes",
     .meaning =
         "In the Round pool of GPU memory, sizes below 2 to this power are rounded up to the next power of "
         "two, larger ones to the next multiple of 2 to this power.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_GPU_MEM_POOL_TYPE",
     .owner = "mxnet",
     .type = choice,
     .default_value = "Naive",
     .allowed = kPoolTypes,
     .meaning =
         "How freed GPU memory is kept: Naive for requests of exactly that size, Round in rounded sizes "
         "that fit more requests, Unpooled not at all. Round is the cure when memory grows because batches "
         "or sequences differ in length.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "MXNet 1.9.1 stops with an error when it is set but empty."},
    {.name = "MXNET_GPU_TEMP_COPY",
     .owner = "mxnet",
     .type = integer,
     .default_value = "1",
     .allowed = "1..",
     .unit = "workspaces",
     .meaning = "How many scratch buffers the operators of one GPU share in turn.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = "Pitwall's operators take their scratch memory from the pool and never wait for each other's."},
    {.name = "MXNET_MEMORY_OPT",
     .owner = "mxnet",
     .type = integer,
     .default_value = "0",
     .allowed = "0..",
     .meaning =
         "The later name of MXNET_BACKWARD_DO_MIRROR: lets the graph recompute results in the backward "
         "pass to save memory.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0",
     .note = "Any value but 0 turns it on, as either name does."},
    {.name = "MXNET_MEM_PLAN_VERBOSE_LOGGING",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Prints, for each node of a graph, which buffers the memory planner chose for inputs and outputs "
         "and how large they are.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "When an executor is bound, on standard error."},
    {.name = "MXNET_USE_NAIVE_STORAGE_MANAGERS",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Switches every memory pool off at once; each array gets its memory from the system and returns "
         "it there. For finding memory errors with tools that do not see through pools.",
     .source = kMaster,
     .status = honoured,
     .since = "0.1.0",
     .note = "As MXNET_CPU_MEM_POOL_TYPE=Unpooled, whatever that is set to."},
    {.name = "NNVM_AUTO_SEARCH_MATCH_RANGE",
     .owner = "nnvm",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Lets the memory planner try several match ranges and keep the smallest plan. Binding a graph "
         "takes longer; running it does not.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "Of the executor. The sweep that the document ascribes to NNVM_EXEC_MATCH_RANGE happens only "
             "when this is on."},
    {.name = "NNVM_EXEC_MATCH_RANGE",
     .owner = "nnvm",
     .type = integer,
     .default_value = "16",
     .allowed = "0..",
     .meaning =
         "How different in size a free buffer may be (as a factor) for the memory planner of a graph to "
         "reuse it. 0 forbids sharing between nodes, which helps when looking for a wrong result.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Of the executor. The document says that all values up to this one are tried; MXNet 1.9.1 does "
             "so only with "
             "NNVM_AUTO_SEARCH_MATCH_RANGE=1."},
    {.name = "NNVM_EXEC_NUM_TEMP",
     .owner = "nnvm",
     .type = integer,
     .default_value = "1",
     .allowed = "1..",
     .unit = "colours",
     .meaning =
         "Into how many independent paths (colours) the memory planner splits a graph. Buffers are shared "
         "only within a path: more paths allow more parallelism and need more memory.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note =
         "Of the executor, whose kernels run one after the other: more paths only need more memory there."},
};
}  // namespace

std::span<const SettingInfo> memorySettings() { return kMemorySettings; }

}  // namespace pitwall::settings
