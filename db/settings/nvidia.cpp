// CUDA and NCCL. This version of the runtime computes on the CPU only; these are for GPU programs that
// Pitwall analyzes.
#include "db/settings/catalogue.h"

namespace pitwall::settings {

namespace {
using enum SettingType;
using enum SettingStatus;

constexpr std::string_view kCuda = "CUDA programming guide, environment variables";
constexpr std::string_view kNccl = "NCCL user guide, environment variables";

constexpr SettingInfo kNvidiaSettings[] = {
    {.name = "CUDA_DEVICE_MAX_CONNECTIONS",
     .owner = "cuda",
     .type = text,
     .default_value = "8",
     .meaning =
         "Hardware queues between host and GPU. With more streams than queues, unrelated streams wait for "
         "each other; 1 is set on purpose by some distributed programs to fix an order.",
     .source = kCuda,
     .status = external},
    {.name = "CUDA_INJECTION64_PATH",
     .owner = "cuda",
     .type = text,
     .meaning = "A library that the CUDA driver loads into the program at its first call; profilers enter a "
                "program this way without changing it.",
     .source = "CUPTI, injection",
     .status = external},
    {.name = "CUDA_LAUNCH_BLOCKING",
     .owner = "cuda",
     .type = text,
     .default_value = "0",
     .meaning =
         "1 makes every kernel launch wait until the kernel has finished. It is for finding the kernel "
         "that fails; left on, host and GPU never work at the same time.",
     .source = kCuda,
     .status = external},
    {.name = "CUDA_MODULE_LOADING",
     .owner = "cuda",
     .type = text,
     .default_value = "LAZY",
     .meaning =
         "When kernels are loaded onto the GPU: LAZY at their first use, which makes the first iterations "
         "slow, EAGER all at start-up.",
     .source = kCuda,
     .status = external},
    {.name = "CUDA_VISIBLE_DEVICES",
     .owner = "cuda",
     .type = text,
     .meaning = "Which GPUs the program sees and in what order: 0,2. An empty value hides all of them.",
     .source = kCuda,
     .status = external},
    {.name = "NCCL_DEBUG",
     .owner = "nccl",
     .type = text,
     .meaning = "How much NCCL logs: VERSION, WARN, INFO, TRACE. INFO shows the path of the data between "
                "GPUs (peer-to-peer, shared memory, InfiniBand, sockets), the first thing to check when "
                "communication is slow.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_IB_DISABLE",
     .owner = "nccl",
     .type = text,
     .default_value = "0",
     .meaning = "1 forbids InfiniBand, so that machines talk over slower sockets. Set in some images and "
                "forgotten.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_IB_HCA",
     .owner = "nccl",
     .type = text,
     .meaning = "Which InfiniBand adapters NCCL uses.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_INSPECTOR_DUMP_DIR",
     .owner = "nccl",
     .type = text,
     .meaning = "The folder that NCCL's inspector plugin writes its records of collectives into.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS",
     .owner = "nccl",
     .type = text,
     .unit = "microseconds",
     .meaning = "How often NCCL's inspector plugin writes its records.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_INSPECTOR_DUMP_VERBOSE",
     .owner = "nccl",
     .type = text,
     .default_value = "0",
     .meaning = "Adds details of each collective to the records of NCCL's inspector plugin.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_INSPECTOR_ENABLE",
     .owner = "nccl",
     .type = text,
     .default_value = "0",
     .meaning = "Switches NCCL's inspector plugin on, which measures each collective.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_P2P_DISABLE",
     .owner = "nccl",
     .type = text,
     .default_value = "0",
     .meaning = "1 forbids direct transfers between GPUs of one machine; everything then goes through host "
                "memory.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_PROFILER_PLUGIN",
     .owner = "nccl",
     .type = text,
     .meaning = "A library to which NCCL reports its activity.",
     .source = kNccl,
     .status = external},
    {.name = "NCCL_SOCKET_IFNAME",
     .owner = "nccl",
     .type = text,
     .meaning = "Which network interfaces NCCL uses; a wrong guess can choose a slow one.",
     .source = kNccl,
     .status = external},
    {.name = "NVIDIA_TF32_OVERRIDE",
     .owner = "cuda",
     .type = text,
     .meaning =
         "0 forbids NVIDIA's libraries to compute 32-bit products in the shorter TF32 format, whatever "
         "the program asked for.",
     .source = "cuBLAS and cuDNN, TF32",
     .status = external},
};
}  // namespace

std::span<const SettingInfo> nvidiaSettings() { return kNvidiaSettings; }

}  // namespace pitwall::settings
