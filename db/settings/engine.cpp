// Scheduling: engine type, numbers of threads, bulk segments.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr SettingInfo kEngineSettings[] = {
    {.name = "MXNET_CPU_NNPACK_NTHREADS",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4",
     .allowed = "1..1024",
     .unit = "threads",
     .meaning =
         "Threads of convolutions by Winograd's algorithm, which for 3 x 3 windows needs fewer "
         "multiplications. In MXNet "
         "they are computed by NNPACK, in Pitwall by oneDNN, where an executor's measurements find it faster "
         "(PITWALL_MEASURE_KERNELS).",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Not set, Pitwall uses as many threads as for other operators. MXNet reads it only when it was "
             "built "
             "with NNPACK."},
    {.name = "MXNET_CPU_PRIORITY_NTHREADS",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4",
     .allowed = "1..1024",
     .unit = "threads",
     .meaning =
         "Threads of the pool that runs CPU operators marked as urgent, highest priority first; summing "
         "gradients for a key-value store is the typical one. The pool is separate from the normal "
         "workers, so urgent work never queues behind a long convolution.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Only ThreadedEnginePerDevice has this pool; there is one for all CPU device indices."},
    {.name = "MXNET_CPU_WORKER_NTHREADS",
     .owner = "mxnet",
     .type = integer,
     .default_value = "1",
     .allowed = "1..1024",
     .unit = "threads",
     .meaning =
         "How many operators may run at the same time on the CPU. Each such worker starts its own OpenMP "
         "team, so raising this multiplies the number of busy threads: two workers with OMP_NUM_THREADS=8 "
         "keep 16 threads busy. More than one helps only when the program has operators that do not wait "
         "for each other and each is too small to fill all cores.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note =
         "Per CPU device index. ThreadedEngine ignores it (its pool has a fixed size), NaiveEngine has no "
         "workers."},
    {.name = "MXNET_ENGINE_INFO",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Prints a line whenever the program waits for a variable and when the operator it waits for is "
         "dispatched. For debugging the engine itself.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "On standard error; a Pitwall trace holds the same facts for every wait and operator."},
    {.name = "MXNET_ENGINE_TYPE",
     .owner = "mxnet",
     .type = choice,
     .default_value = "ThreadedEnginePerDevice",
     .allowed = "NaiveEngine|ThreadedEngine|ThreadedEnginePerDevice",
     .meaning =
         "Which scheduler runs the operators. ThreadedEnginePerDevice gives each device its own workers; "
         "ThreadedEngine shares one pool among all; NaiveEngine runs each operator at once on the calling "
         "thread, one after another. The last is meant for finding the operator that crashes; when it is "
         "left on, nothing overlaps and nothing is bulked.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note =
         "The document says to set it back to empty after debugging, but MXNet 1.9.1 stops with an error on "
         "an empty value. Here empty means the default, as documented."},
    {.name = "MXNET_EXEC_BULK_EXEC_INFERENCE",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Whether inference hands whole stretches of operators to a worker as one unit (a bulk segment) "
         "instead of one by one. Bulking saves scheduling time per operator; switching it off gives every "
         "operator its own place in the schedule.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "A Pitwall trace shows every operator inside a bulk segment, so it need not be switched off for "
             "profiling as it must be for MXNet's own profiler."},
    {.name = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN",
     .owner = "mxnet",
     .type = integer,
     .default_value = "15",
     .allowed = "0..100000",
     .unit = "operators",
     .meaning =
         "The largest number of operators in one bulk segment while training. Larger segments cost less "
         "scheduling per operator; smaller ones let independent operators start earlier. 0 and 1 mean no "
         "bulking.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "The two settings ending in _FWD and _BWD replace it for their direction. Where none is set, a "
             "pass on a GPU is one segment."},
    {.name = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD",
     .owner = "mxnet",
     .type = integer,
     .allowed = "0..100000",
     .unit = "operators",
     .meaning =
         "The largest number of operators in one bulk segment of the backward pass. When it is not set, "
         "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN decides.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD",
     .owner = "mxnet",
     .type = integer,
     .allowed = "0..100000",
     .unit = "operators",
     .meaning =
         "The largest number of operators in one bulk segment of the forward pass while training. When it "
         "is not set, MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN decides.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_EXEC_BULK_EXEC_TRAIN",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Whether training groups operators into bulk segments, each scheduled as one unit. Networks of "
         "many small operators gain most, because scheduling is then a large part of their time.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Recording a trace never changes what is bulked; in MXNet 1.9.1 collecting aggregate statistics "
             "switches bulking off."},
    {.name = "MXNET_GPU_COPY_NTHREADS",
     .owner = "mxnet",
     .type = integer,
     .default_value = "2",
     .allowed = "1..1024",
     .unit = "threads",
     .meaning =
         "Threads per GPU that move data between host and device. They have their own pool and stream, "
         "so copies can run beside computation.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "MXNet's documents up to 1.2 gave the default as 1."},
    {.name = "MXNET_GPU_WORKER_NSTREAMS",
     .owner = "mxnet",
     .type = integer,
     .default_value = "1",
     .allowed = "1..2",
     .unit = "streams",
     .meaning =
         "CUDA streams that each GPU worker gives to an operator. With 2, a convolution can compute the "
         "gradients of its data and of its weights at the same time, at the price of more device memory.",
     .source = kEnvVar,
     .status = notApplicable,
     .note =
         "Pitwall computes the two gradients by two operators, which the workers of a GPU run side by side."},
    {.name = "MXNET_GPU_WORKER_NTHREADS",
     .owner = "mxnet",
     .type = integer,
     .default_value = "2",
     .allowed = "1..1024",
     .unit = "threads",
     .meaning =
         "How many operators may be in flight on each GPU. Every worker thread owns a CUDA stream; the "
         "priority pool of the GPU has as many again. More workers help when kernels are too small to fill "
         "the device.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "MXNET_MP_OPENCV_NUM_THREADS",
     .owner = "mxnet",
     .type = integer,
     .default_value = "0",
     .allowed = "0..",
     .unit = "threads",
     .meaning =
         "Threads that OpenCV may use inside each worker process of a Python data loader. Below 1, OpenCV "
         "runs single-threaded there, which is right while there are as many workers as cores.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = "Pitwall loads data with threads, not forked processes, and does not use OpenCV."},
    {.name = "MXNET_MP_WORKER_NTHREADS",
     .owner = "mxnet",
     .type = integer,
     .default_value = "1",
     .allowed = "1..",
     .unit = "threads",
     .meaning = "Replaces MXNET_CPU_WORKER_NTHREADS in the forked worker processes of a Python data loader. "
                "Raising it while there are many workers makes them compete for cores.",
     .source = kEnvVar,
     .status = notApplicable,
     .note =
         "Pitwall loads data with threads, not forked processes; the tunables of a program's prefetcher take "
         "its place."},
    {.name = "MXNET_OMP_MAX_THREADS",
     .owner = "mxnet",
     .type = integer,
     .allowed = "1..1024",
     .unit = "threads",
     .meaning =
         "An upper limit for the OpenMP threads of one operator. Unlike OMP_NUM_THREADS it leaves other "
         "OpenMP code of the process alone. When neither is set, MXNet takes half of the logical "
         "processors on x86, one per physical core.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0"},
};
}  // namespace

std::span<const SettingInfo> engineSettings() { return kEngineSettings; }

}  // namespace pitwall::settings
