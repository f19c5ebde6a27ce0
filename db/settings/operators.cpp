// How operators and optimizers compute, whatever library does the work.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr SettingInfo kOperatorsSettings[] = {
    {.name = "MXNET_CPU_PARALLEL_RAND_COPY",
     .owner = "mxnet",
     .type = integer,
     .default_value = "1",
     .allowed = "1..",
     .unit = "generators",
     .meaning = "How many parallel random-number generators CPU operators share in turn.",
     .source = kEnvVar,
     .status = notApplicable,
     .note = "In Pitwall each use of randomness has its own generator, derived from the program's seed."},
    {.name = "MXNET_CPU_PARALLEL_SIZE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "200000",
     .allowed = "0..",
     .unit = "elements",
     .meaning =
         "Arrays with at least this many elements are processed by several OpenMP threads, smaller ones by "
         "one, because waking threads would take longer than the work.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "In MXNet 1.9.1 only copying and adding arrays use it. In Pitwall the element-wise work that is "
             "not left to oneDNN uses it."},
    {.name = "MXNET_ELIMINATE_COMMON_EXPR",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Simplifies a symbolic graph: operators of the same kind on the same inputs are computed once.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Of the executor."},
    {.name = "MXNET_ENABLE_OPERATOR_TUNING",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning = "A name that older texts give for MXNET_USE_OPERATOR_TUNING.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "MXNET_USE_OPERATOR_TUNING wins where both are set. MXNet does not read this name."},
    {.name = "MXNET_ENFORCE_DETERMINISM",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Allows only algorithms that give the same bits in every run, and makes it an error when there is "
         "none. Costs speed where the fastest algorithm adds in varying order, mainly in cuDNN.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Pitwall's kernels for CPUs give the same bits in every run with the same number of threads. "
             "With 1, an executor "
             "also leaves out what depends on a measurement (PITWALL_MEASURE_KERNELS). In MXNet 1.9.1 only "
             "cuDNN convolution, "
             "deconvolution and pooling use it."},
    {.name = "MXNET_OPTIMIZER_AGGREGATION_SIZE",
     .owner = "mxnet",
     .type = integer,
     .default_value = "4",
     .allowed = "1..60",
     .unit = "weights",
     .meaning =
         "How many weight arrays one update operator handles. Networks of many small layers spend much of "
         "the update on scheduling; a larger number makes fewer, longer operators.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "All optimizers; in MXNet 1.9.1 SGD and LARS, and LAMB, which caps it at 45."},
    {.name = "MXNET_OUTPUT_TUNING_DATA",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Prints what the operator tuning of MXNet measured at start-up.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "On standard error, when it is measured."},
    {.name = "MXNET_SAFE_ACCUMULATION",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning =
         "Adds long sums in a wider type than the data has, for example 16-bit inputs in 32 bits. Slower "
         "and more accurate.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Sums and means are in double in any case. On, softmax, log_softmax and LayerNorm are computed "
             "in double too, by the loops of the reference backend."},
    {.name = "MXNET_TUNING_WEIGHT_SCALE",
     .owner = "mxnet",
     .type = real,
     .default_value = "0.0",
     .meaning = "Scales the measured cost of operators in MXNet's operator tuning.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "A factor; 0 leaves the cost as measured."},
    {.name = "MXNET_USE_NUM_CORES_OPERATOR_TUNING",
     .owner = "mxnet",
     .type = integer,
     .allowed = "1..",
     .unit = "cores",
     .meaning =
         "Up to how many cores MXNet's operator tuning measures the cost of starting OpenMP threads; half "
         "of the logical processors when not set.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "In Pitwall the size of the team whose start is measured; all threads of OpenMP when not set."},
    {.name = "MXNET_USE_OPERATOR_TUNING",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "1",
     .meaning =
         "Whether MXNet measures at start-up, for each element-wise operator, from which size on several "
         "threads are faster than one. 0 switches it off and saves that time in every process.",
     .source = kEnvVar,
     .status = honoured,
     .since = "0.1.0",
     .note = "Of the oneDNN backend: the cost of an element when the first kernel of an operator is made, "
             "and of starting threads once, 2 ms together. MXNET_CPU_PARALLEL_SIZE, where it is set, holds "
             "for the operators that oneDNN does not compute. The document also has lists of types for this "
             "setting, which are refused."},
    {.name = "MXNET_VERBOSE_TUNING_INFO",
     .owner = "mxnet",
     .type = boolean,
     .default_value = "0",
     .meaning = "Prints what MXNet's operator tuning decides.",
     .source = kCode,
     .status = honoured,
     .since = "0.1.0",
     .note = "On standard error, for each operator when its first kernel is made."},
};
}  // namespace

std::span<const SettingInfo> operatorSettings() { return kOperatorsSettings; }

}  // namespace pitwall::settings
