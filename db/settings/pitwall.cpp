// Pitwall's own settings.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr std::string_view kOwn = "Pitwall";

constexpr SettingInfo kPitwallSettings[] = {
    {.name = "PITWALL_BACKEND",
     .owner = "pitwall",
     .type = choice,
     .allowed = "onednn|reference|null",
     .meaning = "Which backend computes the operators: onednn, the fast one; reference, simple loops to "
                "compare with; null, "
                "which computes nothing and serves to examine scheduling only. Not set, the best one of this "
                "build that MXNET_MKLDNN_ENABLED allows.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_KERNEL_CHOICES",
     .owner = "pitwall",
     .type = text,
     .meaning = "The file in which the choices of PITWALL_MEASURE_KERNELS are kept for later processes, a "
                "line each. "
                "Absent: kernels.txt in $XDG_CACHE_HOME/pitwall (~/.cache/pitwall). A file that cannot be "
                "written is "
                "left as it is.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_KVSTORE_BUCKET_BYTES",
     .owner = "pitwall",
     .type = integer,
     .default_value = "4194304",
     .allowed = "0..1073741824",
     .unit = "bytes",
     .meaning = "Arrays that a key-value store between processes sums are exchanged together up to this "
                "size. Larger "
                "ones are exchanged alone; with 0 all are.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_KVSTORE_SHARED_MEMORY",
     .owner = "pitwall",
     .type = boolean,
     .default_value = "1",
     .meaning = "Whether ranks that all run on one machine sum arrays through memory that they share (0.5 MB "
                "each). 0, or ranks on several machines: by messages of MPI.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_KVSTORE_STALENESS",
     .owner = "pitwall",
     .type = integer,
     .default_value = "-1",
     .allowed = "-1..1000000",
     .unit = "pushes",
     .meaning =
         "By how many pushes of a key a worker of a store dist_async may be ahead of the slowest worker: its "
         "next pushes and pulls of the key wait. With -1 none waits.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_KVSTORE_TIMEOUT",
     .owner = "pitwall",
     .type = real,
     .default_value = "60",
     .allowed = "0.1..86400",
     .unit = "seconds",
     .meaning =
         "How long a key-value store between processes waits for a rank that does not push a key or gives no "
         "sign of life, before all ranks end with an error that names it.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_MEASURE_KERNELS",
     .owner = "pitwall",
     .type = boolean,
     .default_value = "1",
     .meaning = "Whether an executor for inference chooses the implementation of a convolution by running "
                "those that "
                "oneDNN has, once for each shape on a machine: directly, on blocked data, and by Winograd's "
                "algorithm, whose results differ in the last digits. 0 takes oneDNN's first choice.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_RECORD_GPU",
     .owner = "pitwall",
     .type = choice,
     .default_value = "1",
     .allowed = "0|counters|kernels|managed|1",
     .meaning = "What the injection library and Pitwall's runtime record of GPUs, by CUPTI: 1 everything; "
                "kernels only what the GPU "
                "does (kernels, copies, memory sets, graphs), without calls of CUDA, waits and memory, at "
                "the least cost; managed everything and the migrations and page faults of managed memory; "
                "counters the achieved occupancy and other hardware counters of each kernel, for "
                "which kernels run one after the other, so that times mean nothing; 0 nothing, "
                "which leaves CUPTI to another tool.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_RECORD_LAST",
     .owner = "pitwall",
     .type = text,
     .unit = "s",
     .meaning = "What the injection library keeps when it ends: events of the last seconds only. Absent or "
                "not a number: all of them. `pitwall record --last` sets it.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_RECORD_ONLY",
     .owner = "pitwall",
     .type = text,
     .meaning = "NVTX domains that the injection library records, separated by commas. Absent: all. "
                "`pitwall record --only` sets it.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_RECORD_UNTIL",
     .owner = "pitwall",
     .type = text,
     .unit = "s",
     .meaning = "The second of CLOCK_MONOTONIC after which the injection library records nothing. Absent or "
                "not a number: to the end. `pitwall record --duration` sets it.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_TRACE",
     .owner = "pitwall",
     .type = text,
     .meaning = "Records the run into this trace file, whatever program it is, as long as it uses Pitwall's "
                "runtime. %p stands for the process id, %r for the rank set by MPI, Slurm or torchrun, "
                "%% for a percent sign; such a name is made unique, a plain one is replaced. A file that "
                "cannot be written is reported and the program continues without recording.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_TRACE_CORPUS",
     .owner = "pitwall",
     .type = text,
     .meaning =
         "A folder of traces that other tools have written, for tests that read such files. Tests that "
         "need it are skipped when it is not set.",
     .source = kOwn,
     .status = external,
     .note = "Read by Pitwall's own tests, not by programs."},
    {.name = "PITWALL_TUNE_*",
     .owner = "pitwall",
     .type = text,
     .meaning =
         "Sets a number that the program has declared as tunable, for example "
         "PITWALL_TUNE_batch_size=64 for the tunable batch_size. A value outside the declared range is "
         "reported and the program's own value is used. The trace lists a program's tunables.",
     .source = kOwn,
     .status = honoured,
     .since = "0.1.0"},
    {.name = "PITWALL_UPDATE_GOLDEN",
     .owner = "pitwall",
     .type = text,
     .meaning = "When set, tests that compare their output with a stored file write the file anew instead.",
     .source = kOwn,
     .status = external,
     .note = "Read by Pitwall's own tests, not by programs."},
};
}  // namespace

std::span<const SettingInfo> pitwallSettings() { return kPitwallSettings; }

}  // namespace pitwall::settings
