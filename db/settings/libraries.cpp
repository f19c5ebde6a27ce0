// Libraries that compute or allocate for the program on the CPU: oneDNN, MKL, OpenBLAS, allocators.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr std::string_view kOneDnn = "oneDNN 2.6, run-time controls";
constexpr std::string_view kOldName =
    "DNNL was oneDNN's name before. Version 2 reads this where the variable of the same name with ONEDNN_ is "
    "not "
    "set.";
constexpr std::string_view kMkl = "Intel oneMKL, developer guide";
constexpr std::string_view kNotLinked =
    "Pitwall does not link it; it matters to other programs that Pitwall analyzes.";
constexpr std::string_view kVerboseMeaning =
    "Prints a line per oneDNN computation with its kind, implementation, shapes and time in milliseconds: 1 "
    "for "
    "executions, 2 for creations too, 0 for none. Printing costs time, so the sum is not the speed of the "
    "program.";
constexpr std::string_view kIsaMeaning =
    "The highest instruction set that oneDNN may use: SSE41, AVX, AVX2, AVX512_CORE, AVX512_CORE_VNNI, "
    "AVX512_CORE_BF16, AVX512_CORE_AMX, or ALL. Useful to reproduce results of an older machine; left set by "
    "accident it makes everything slower.";

constexpr SettingInfo kLibrariesSettings[] = {
    {.name = "DNNL_CPU_ISA_HINTS",
     .owner = "onednn",
     .type = text,
     .default_value = "NO_HINTS",
     .meaning = "Advice for choosing implementations; PREFER_YMM keeps to 256-bit registers, which spares "
                "processors that lower their clock for wider ones.",
     .source = kOneDnn,
     .status = external,
     .note = kOldName},
    {.name = "DNNL_DEFAULT_FPMATH_MODE",
     .owner = "onednn",
     .type = text,
     .default_value = "STRICT",
     .meaning = "The former name of ONEDNN_DEFAULT_FPMATH_MODE.",
     .source = kOneDnn,
     .status = external,
     .note = kOldName},
    {.name = "DNNL_JIT_DUMP",
     .owner = "onednn",
     .type = text,
     .default_value = "0",
     .meaning = "The former name of ONEDNN_JIT_DUMP.",
     .source = kOneDnn,
     .status = external,
     .note = kOldName},
    {.name = "DNNL_JIT_PROFILE",
     .owner = "onednn",
     .type = text,
     .meaning = "The former name of ONEDNN_JIT_PROFILE.",
     .source = kOneDnn,
     .status = external,
     .note = kOldName},
    {.name = "DNNL_MAX_CPU_ISA",
     .owner = "onednn",
     .type = text,
     .default_value = "ALL",
     .meaning = kIsaMeaning,
     .source = kOneDnn,
     .status = external,
     .note = kOldName},
    {.name = "DNNL_PRIMITIVE_CACHE_CAPACITY",
     .owner = "onednn",
     .type = text,
     .default_value = "1024",
     .unit = "primitives",
     .meaning = "The former name of ONEDNN_PRIMITIVE_CACHE_CAPACITY.",
     .source = kOneDnn,
     .status = external,
     .note = kOldName},
    {.name = "DNNL_VERBOSE",
     .owner = "onednn",
     .type = text,
     .default_value = "0",
     .meaning = kVerboseMeaning,
     .source = kOneDnn,
     .status = external,
     .note = kOldName},
    {.name = "DNNL_VERBOSE_TIMESTAMP",
     .owner = "onednn",
     .type = text,
     .default_value = "0",
     .meaning = "The former name of ONEDNN_VERBOSE_TIMESTAMP.",
     .source = kOneDnn,
     .status = external,
     .note = kOldName},
    {.name = "LD_PRELOAD",
     .owner = "glibc",
     .type = text,
     .meaning =
         "Libraries that the dynamic loader puts before all others. Here it serves to replace the memory "
         "allocator (libtcmalloc, libjemalloc) or to force one of two OpenMP libraries.",
     .source = "ld.so(8)",
     .status = external},
    {.name = "MALLOC_CONF",
     .owner = "jemalloc",
     .type = text,
     .meaning = "Options of the allocator jemalloc, for example oversize_threshold:1,background_thread:true, "
                "metadata_thp:auto. Acts only when the program uses jemalloc, linked or through LD_PRELOAD.",
     .source = "jemalloc(3)",
     .status = external},
    {.name = "MALLOC_MMAP_MAX_",
     .owner = "glibc",
     .type = text,
     .default_value = "65536",
     .unit = "blocks",
     .meaning =
         "How many large blocks glibc's allocator takes from the system directly, to give each back as it is "
         "freed. "
         "0: large blocks come from the heap too and are used again, without a page fault for each page.",
     .source = "mallopt(3)",
     .status = external},
    {.name = "MALLOC_TRIM_THRESHOLD_",
     .owner = "glibc",
     .type = text,
     .default_value = "131072",
     .unit = "bytes",
     .meaning = "Free memory at the top of the heap from which on glibc's allocator gives it back to the "
                "system. When not "
                "set it adapts to the program, up to 64 MiB.",
     .source = "mallopt(3)",
     .status = external},
    {.name = "MKLDNN_VERBOSE",
     .owner = "onednn",
     .type = text,
     .default_value = "0",
     .meaning = kVerboseMeaning,
     .source = "MXNet, profiler tutorial",
     .status = external,
     .note = "The name of oneDNN's first versions. oneDNN 2.6, which Debian 12 has, no longer reads it: set "
             "ONEDNN_VERBOSE or DNNL_VERBOSE."},
    {.name = "MKL_DYNAMIC",
     .owner = "mkl",
     .type = text,
     .default_value = "TRUE",
     .meaning = "Lets Intel's MKL use fewer threads than specified when it expects that to be faster.",
     .source = kMkl,
     .status = external,
     .note = kNotLinked},
    {.name = "MKL_NUM_THREADS",
     .owner = "mkl",
     .type = text,
     .unit = "threads",
     .meaning =
         "Threads of Intel's MKL; not set, it follows OMP_NUM_THREADS. A number that differs from the rest "
         "of the program leaves cores idle or has them shared.",
     .source = kMkl,
     .status = external,
     .note = kNotLinked},
    {.name = "MKL_VERBOSE",
     .owner = "mkl",
     .type = text,
     .default_value = "0",
     .meaning = "Prints a line per call of MKL with its arguments, time and threads.",
     .source = kMkl,
     .status = external,
     .note = kNotLinked},
    {.name = "ONEDNN_CPU_ISA_HINTS",
     .owner = "onednn",
     .type = text,
     .default_value = "NO_HINTS",
     .meaning = "Advice for choosing implementations; PREFER_YMM keeps to 256-bit registers, which spares "
                "processors that lower their clock for wider ones.",
     .source = kOneDnn,
     .status = external},
    {.name = "ONEDNN_DEFAULT_FPMATH_MODE",
     .owner = "onednn",
     .type = text,
     .default_value = "STRICT",
     .meaning =
         "How far oneDNN may lower the precision of 32-bit computations: STRICT not at all, BF16, F16, "
         "TF32 or ANY to those formats. On processors with matrix units BF16 can be several times faster; "
         "the results differ, so try the accuracy before keeping it.",
     .source = kOneDnn,
     .status = external,
     .min_version = "2.5",
     .note = "oneDNN 2.4 and older do not read it."},
    {.name = "ONEDNN_JIT_DUMP",
     .owner = "onednn",
     .type = text,
     .default_value = "0",
     .meaning = "Writes the machine code that oneDNN generates into files, to be disassembled.",
     .source = kOneDnn,
     .status = external},
    {.name = "ONEDNN_JIT_PROFILE",
     .owner = "onednn",
     .type = text,
     .meaning =
         "Reports generated code of oneDNN to profilers (VTune, perf), so that its functions have names "
         "in their reports. A sum of bits; 6 is for perf.",
     .source = kOneDnn,
     .status = external},
    {.name = "ONEDNN_MAX_CPU_ISA",
     .owner = "onednn",
     .type = text,
     .default_value = "ALL",
     .meaning = kIsaMeaning,
     .source = kOneDnn,
     .status = external},
    {.name = "ONEDNN_PRIMITIVE_CACHE_CAPACITY",
     .owner = "onednn",
     .type = text,
     .default_value = "1024",
     .unit = "primitives",
     .meaning =
         "How many prepared computations oneDNN itself keeps, for all its users in the process. Programs "
         "whose shapes vary a lot may need more; 0 keeps none.",
     .source = kOneDnn,
     .status = external,
     .note = "The runtime's own cache in front of it is bounded by MXNET_MKLDNN_CACHE_NUM."},
    {.name = "ONEDNN_VERBOSE",
     .owner = "onednn",
     .type = text,
     .default_value = "0",
     .meaning = kVerboseMeaning,
     .source = kOneDnn,
     .status = external,
     .min_version = "2.1",
     .note = "Since oneDNN 2.1. Version 3 also takes words such as profile_exec or dispatch."},
    {.name = "ONEDNN_VERBOSE_TIMESTAMP",
     .owner = "onednn",
     .type = text,
     .default_value = "0",
     .meaning = "Puts a time before each of oneDNN's verbose lines, without which they cannot be placed on a "
                "timeline.",
     .source = kOneDnn,
     .status = external},
    {.name = "OPENBLAS_NUM_THREADS",
     .owner = "openblas",
     .type = text,
     .unit = "threads",
     .meaning =
         "Threads of the linear-algebra library OpenBLAS. Built with its own threads it ignores OpenMP, "
         "and its threads come on top of the program's.",
     .source = "OpenBLAS, run-time variables",
     .status = external,
     .note = kNotLinked},
    {.name = "PYTORCH_CUDA_ALLOC_CONF",
     .owner = "pytorch",
     .type = text,
     .meaning =
         "Options of PyTorch's allocator of GPU memory; expandable_segments:True reduces fragmentation "
         "when sizes vary.",
     .source = "PyTorch, CUDA semantics",
     .status = external,
     .note = kNotLinked},
    {.name = "TORCH_USE_CUDA_DSA",
     .owner = "pytorch",
     .type = text,
     .meaning = "Device-side assertions of PyTorch, for debugging; they slow kernels down.",
     .source = "PyTorch, CUDA semantics",
     .status = external,
     .note = kNotLinked},
};
}  // namespace

std::span<const SettingInfo> librarySettings() { return kLibrariesSettings; }

}  // namespace pitwall::settings
