// The facts that a session determines about the machine.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "db/meta.h"
#include "db/usable_cpus.h"
#include "runtime/devices.h"
#include "runtime/session/host_facts.h"
#include "runtime/session/openmp.h"

namespace pitwall::session::host_test {
namespace {

TEST(AffinityCpus, FollowsTheMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(static_cast<int>(host::affinityCpus().size()), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(host::affinityCpus().size(), 1U);
  EXPECT_EQ(hostFacts().at(meta::kUsableCpus), "1");
  EXPECT_EQ(hostFacts().at(meta::kUsableCores), "1");
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(HostFacts, FitTheMachine) {
  const auto facts = hostFacts();
  EXPECT_EQ(facts.at(meta::kLogicalCpus), std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
  const int logical = std::stoi(facts.at(meta::kLogicalCpus));
  const int cores = std::stoi(facts.at(meta::kPhysicalCores));
  EXPECT_GE(cores, 1);
  EXPECT_LE(cores, logical);
  EXPECT_GE(std::stoi(facts.at(meta::kSockets)), 1);
  EXPECT_GE(std::stoi(facts.at(meta::kNumaNodes)), 1);
  EXPECT_LE(std::stoi(facts.at(meta::kUsableCores)), cores);
  EXPECT_GT(std::stoll(facts.at(meta::kMemoryBytes)), 64 << 20);
  EXPECT_EQ(facts.at(meta::kHostOs).substr(0, 6), "Linux ");
  EXPECT_FALSE(facts.at(meta::kHostName).empty());
}

TEST(OpenMp, ThisProcessHasOne) {
  // Each compiler links its own; both may be loaded, since oneDNN uses the one it was built with.
  EXPECT_NE(loadedOpenMpRuntimes(), "none");
}

TEST(Devices, GpusOrASentenceThatSaysWhyNot) {
  const auto gpus = gpuInfo();
  if (gpus.has_value()) {
    ASSERT_FALSE(gpus->empty());
    for (const GpuInfo& gpu : *gpus) {
      EXPECT_EQ(gpu.device.kind, "gpu");
      EXPECT_FALSE(gpu.device.name.empty());
      EXPECT_GT(gpu.device.memory_bytes, 0);
      EXPECT_GT(gpu.multiprocessors, 0);
      EXPECT_GE(gpu.compute_major, 3);
    }
    EXPECT_EQ(gpuDevices()->size(), gpus->size());
    return;
  }
  EXPECT_EQ(gpus.error().code, ErrorCode::unsupported);
  EXPECT_EQ(gpus.error().message.rfind("no GPU can be used: ", 0), 0U) << gpus.error().message;
  EXPECT_EQ(gpuDevices().error().message, gpus.error().message);
  if (!std::filesystem::exists("/dev/nvidiactl")) {
    const bool names_cause = gpus.error().message.find("no NVIDIA driver") != std::string::npos ||
                             gpus.error().message.find("built without CUDA") != std::string::npos;
    EXPECT_TRUE(names_cause) << gpus.error().message;
  }
}

}  // namespace
}  // namespace pitwall::session::host_test
