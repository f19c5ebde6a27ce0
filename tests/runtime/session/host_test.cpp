// The facts that a session determines about the machine.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "db/meta.h"
#include "runtime/devices.h"
#include "runtime/session/cpu_limits.h"
#include "runtime/session/host_facts.h"
#include "runtime/session/openmp.h"

namespace pitwall::session {
namespace {

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() /
            ("pitwall_cgroup_" + std::to_string(getpid()) + "_" +
             testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  std::filesystem::path root_;
};

TEST_F(CgroupTest, NothingThereIsNoLimit) { EXPECT_EQ(cgroupCpus(root_), std::nullopt); }

TEST_F(CgroupTest, Version2) {
  write("proc/self/cgroup", "0::/a/b");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  EXPECT_EQ(cgroupCpus(root_), std::nullopt);
  write("sys/fs/cgroup/a/cpu.max", "250000 100000");
  EXPECT_EQ(cgroupCpus(root_), 2.5) << "a group above limits too";
  write("sys/fs/cgroup/a/b/cpu.max", "150000 100000");
  EXPECT_EQ(cgroupCpus(root_), 1.5);
}

TEST_F(CgroupTest, Version2InAContainer) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(cgroupCpus(root_), 0.5);
}

TEST_F(CgroupTest, Version1) {
  write("proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/x");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroupCpus(root_), std::nullopt);
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "300000");
  EXPECT_EQ(cgroupCpus(root_), 3.0);
}

TEST_F(CgroupTest, Version1WhereTheHostsPathIsNotVisible) {
  write("proc/self/cgroup", "4:cpu,cpuacct:/docker/abc");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "200000");
  EXPECT_EQ(cgroupCpus(root_), 2.0);
}

TEST_F(CgroupTest, CpusetIsNotCpu) {
  write("proc/self/cgroup", "4:cpuset:/");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "200000");
  EXPECT_EQ(cgroupCpus(root_), std::nullopt);
}

TEST(UsableCpus, IsTheSmallerOfMaskAndQuotaButNeverNone) {
  EXPECT_EQ(usableCpus(8, std::nullopt), 8);
  EXPECT_EQ(usableCpus(8, 2.0), 2);
  EXPECT_EQ(usableCpus(8, 1.5), 2);
  EXPECT_EQ(usableCpus(8, 0.1), 1);
  EXPECT_EQ(usableCpus(2, 16.0), 2);
  EXPECT_EQ(usableCpus(0, std::nullopt), 1);
}

TEST(AffinityCpus, FollowsTheMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(affinityCpus(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(affinityCpus(), 1);
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

TEST(ProcField, FindsKeysAndToleratesTheRest) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("pitwall_proc_" + std::to_string(getpid()));
  std::ofstream(path)
      << "no colon here\n: no key\nmodel name\t: Some CPU: 3 GHz\nMemTotal:   123 kB\nempty:\n";
  EXPECT_EQ(procField(path, "model name"), "Some CPU: 3 GHz");
  EXPECT_EQ(procField(path, "MemTotal"), "123 kB");
  EXPECT_EQ(procField(path, "empty"), "");
  EXPECT_EQ(procField(path, "absent"), "");
  EXPECT_EQ(procField(path + ".absent", "x"), "");
  std::filesystem::remove(path);
}

TEST(OpenMp, RuntimesByTheirFiles) {
  EXPECT_EQ(openMpRuntimeOf("/usr/lib/x86_64-linux-gnu/libgomp.so.1"), "libgomp");
  EXPECT_EQ(openMpRuntimeOf("/venv/torch.libs/libgomp-a34b3233.so.1.0.0"), "libgomp");
  EXPECT_EQ(openMpRuntimeOf("/usr/lib/llvm-14/lib/libomp.so.5"), "libomp");
  EXPECT_EQ(openMpRuntimeOf("/opt/intel/lib/libiomp5.so"), "libiomp5");
  EXPECT_EQ(openMpRuntimeOf("/usr/lib/libompstub.so"), "");
  EXPECT_EQ(openMpRuntimeOf("/usr/lib/libgompertz.so"), "");
  EXPECT_EQ(openMpRuntimeOf("/home/libgomp.so/program"), "");
  EXPECT_EQ(openMpRuntimeOf(""), "");
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
}  // namespace pitwall::session
