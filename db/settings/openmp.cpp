// OpenMP threads: the standard's variables, and those of GNU's and LLVM's (also Intel's) libraries.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr std::string_view kGomp = "GCC 12, libgomp manual, environment variables";
constexpr std::string_view kLlvm =
    "LLVM OpenMP runtime, environment variables; Intel's libiomp5 reads the same";
constexpr std::string_view kGnuOnly = "Only libgomp, GCC's OpenMP library, reads it.";
constexpr std::string_view kLlvmOnly =
    "Only libomp and libiomp5 read it; libgomp, which GCC and Debian's oneDNN use, ignores it.";

constexpr SettingInfo kOpenmpSettings[] = {
    {.name = "GOMP_CPU_AFFINITY",
     .owner = "libgomp",
     .type = text,
     .meaning =
         "Binds OpenMP threads to the listed processors, in order: \"0 2 4 6\" or \"0-3\". Binding keeps a "
         "thread beside its cached data. A list with one processor squeezes all threads onto it.",
     .source = kGomp,
     .status = external,
     .note = "Only libgomp reads it (libomp in part). OMP_PLACES with OMP_PROC_BIND says the same for every "
             "library."},
    {.name = "GOMP_SPINCOUNT",
     .owner = "libgomp",
     .type = text,
     .unit = "turns",
     .meaning =
         "How many turns of a busy loop a thread of libgomp takes before it goes to sleep while it waits "
         "for work. A number, or INFINITE. Not set, OMP_WAIT_POLICY decides: billions of turns when ACTIVE, "
         "none when PASSIVE, a few hundred thousand otherwise, and few when there are more threads than "
         "processors.",
     .source = kGomp,
     .status = external,
     .note = kGnuOnly},
    {.name = "GOMP_STACKSIZE",
     .owner = "libgomp",
     .type = text,
     .unit = "kilobytes",
     .meaning = "Stack of the threads that libgomp starts; OMP_STACKSIZE is the portable name.",
     .source = kGomp,
     .status = external,
     .note = kGnuOnly},
    {.name = "KMP_AFFINITY",
     .owner = "llvm-openmp",
     .type = text,
     .meaning =
         "How threads are bound to processors. granularity=fine,compact,1,0 fills one thread per core "
         "before using second hyper-threads, neighbours close together; it is what MXNet's performance "
         "document suggests for Intel processors.",
     .source = kPerf,
     .status = external,
     .note = "Only libomp and libiomp5 read it. With libgomp say OMP_PLACES=cores OMP_PROC_BIND=close."},
    {.name = "KMP_BLOCKTIME",
     .owner = "llvm-openmp",
     .type = text,
     .default_value = "200",
     .unit = "milliseconds",
     .meaning =
         "How long a thread stays awake, spinning, after its share of a parallel region before it sleeps. "
         "0 or 1 frees the core at once for others; a large value makes the next region start faster.",
     .source = kLlvm,
     .status = external,
     .note = kLlvmOnly},
    {.name = "KMP_DUPLICATE_LIB_OK",
     .owner = "llvm-openmp",
     .type = text,
     .default_value = "FALSE",
     .meaning =
         "Lets a process continue when it has loaded this OpenMP library twice. It hides the real fault: "
         "two sets of threads that compete for the same cores.",
     .source = kLlvm,
     .status = external,
     .note = kLlvmOnly},
    {.name = "KMP_HW_SUBSET",
     .owner = "llvm-openmp",
     .type = text,
     .meaning = "Which part of the machine the threads may use, as in 1s,4c,1t: one socket, four cores, one "
                "thread each.",
     .source = kLlvm,
     .status = external,
     .note = kLlvmOnly},
    {.name = "KMP_SETTINGS",
     .owner = "llvm-openmp",
     .type = text,
     .default_value = "FALSE",
     .meaning = "Prints the library's settings when a program starts.",
     .source = kLlvm,
     .status = external,
     .note = kLlvmOnly},
    {.name = "KMP_STACKSIZE",
     .owner = "llvm-openmp",
     .type = text,
     .unit = "bytes",
     .meaning = "Stack of the threads that the library starts; OMP_STACKSIZE is the portable name.",
     .source = kLlvm,
     .status = external,
     .note = kLlvmOnly},
    {.name = "KMP_TOPOLOGY_METHOD",
     .owner = "llvm-openmp",
     .type = text,
     .default_value = "all",
     .meaning = "How the library finds out about sockets, cores and hyper-threads.",
     .source = kLlvm,
     .status = external,
     .note = kLlvmOnly},
    {.name = "OMP_CANCELLATION",
     .owner = "openmp",
     .type = text,
     .default_value = "FALSE",
     .meaning = "Whether a parallel region may be left early. Deep-learning libraries do not use it.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_DISPLAY_AFFINITY",
     .owner = "openmp",
     .type = text,
     .default_value = "FALSE",
     .meaning = "Prints a line per thread with the processors it is bound to.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_DISPLAY_ENV",
     .owner = "openmp",
     .type = text,
     .default_value = "FALSE",
     .meaning = "Prints the OpenMP settings in effect when the program starts; the quickest way to see which "
                "library it uses and whether it accepted a setting. VERBOSE adds the library's own.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_DYNAMIC",
     .owner = "openmp",
     .type = text,
     .default_value = "FALSE",
     .meaning =
         "Allows the library to use fewer threads than asked for when the machine is busy. Timings then "
         "vary from run to run.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_MAX_ACTIVE_LEVELS",
     .owner = "openmp",
     .type = text,
     .unit = "levels",
     .meaning =
         "How deep parallel regions may nest with more than one thread. 1 keeps an operator that calls a "
         "threaded library from starting threads of threads.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_MAX_TASK_PRIORITY",
     .owner = "openmp",
     .type = text,
     .default_value = "0",
     .meaning = "The highest priority that OpenMP tasks may have. Deep-learning libraries do not use tasks.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_NESTED",
     .owner = "openmp",
     .type = text,
     .default_value = "FALSE",
     .meaning = "The old name for allowing nested parallel regions; OMP_MAX_ACTIVE_LEVELS replaces it.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_NUM_THREADS",
     .owner = "openmp",
     .type = text,
     .unit = "threads",
     .meaning =
         "How many threads compute one operator. Not set, every logical processor gets one. The document "
         "suggests half the virtual CPUs, that is one thread per physical core, because two hyper-threads "
         "share the units that convolutions keep busy. More threads than processors the process may really "
         "use (containers!) make every operator wait for threads that are not running. A list such as 4,2 "
         "gives a number per nesting level.",
     .source = kPerf,
     .status = external,
     .note = "Multiplied by MXNET_CPU_WORKER_NTHREADS when several operators run at once."},
    {.name = "OMP_PLACES",
     .owner = "openmp",
     .type = text,
     .meaning =
         "The places that threads may be bound to: threads, cores, sockets, or a list of processors as in "
         "{0,1},{2,3}. cores gives each thread its own core. Takes effect together with "
         "OMP_PROC_BIND.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_PROC_BIND",
     .owner = "openmp",
     .type = text,
     .meaning =
         "Whether threads stay where they are: false lets them move, close packs neighbours together, "
         "spread places them far apart, primary puts all in one place. close with OMP_PLACES=cores is what "
         "KMP_AFFINITY=granularity=fine,compact,1,0 is for libgomp. Several programs on one machine that "
         "all bind from the first core on compete for it.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_SCHEDULE",
     .owner = "openmp",
     .type = text,
     .meaning =
         "How loops that leave it open share their turns among threads: static, dynamic, guided, auto, "
         "with an optional chunk size as in dynamic,4. Most deep-learning libraries fix their schedule and "
         "ignore it.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_STACKSIZE",
     .owner = "openmp",
     .type = text,
     .meaning =
         "Stack of the threads that the library starts, with a unit letter: 8M. Too small a stack ends in "
         "a crash inside an operator.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_THREAD_LIMIT",
     .owner = "openmp",
     .type = text,
     .unit = "threads",
     .meaning = "The most OpenMP threads the whole program may have, nested regions included.",
     .source = kOpenMp,
     .status = external},
    {.name = "OMP_WAIT_POLICY",
     .owner = "openmp",
     .type = text,
     .meaning =
         "What threads do between parallel regions: ACTIVE spins and starts the next region sooner, "
         "PASSIVE sleeps and leaves the processor to others. On a machine shared with other work, spinning "
         "threads are pre-empted in the middle of a region and all others wait for them: PASSIVE is then "
         "several times faster. On a quiet machine it costs a wake-up per region.",
     .source = kOpenMp,
     .status = external,
     .note = "libgomp, when it is not set, spins for a while and then sleeps."},
};
}  // namespace

std::span<const SettingInfo> openmpSettings() { return kOpenmpSettings; }

}  // namespace pitwall::settings
