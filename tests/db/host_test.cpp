// What is read of the machine and of control groups, from folders with the layout of /proc and /sys.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "db/cgroup.h"
#include "db/host_facts.h"
#include "db/meta.h"
#include "db/proc_files.h"
#include "db/usable_cpus.h"
#include "tests/support/temp_folder.h"

namespace pitwall::host::host_test {
namespace {

using testing::ElementsAre;

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(ProcFiles, FieldsAndLists) {
  const std::string status =
      "Name:\tvoluntary_ctxt_switches:\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
  EXPECT_EQ(fieldOf(status, "voluntary_ctxt_switches"), 12);
  EXPECT_EQ(fieldOf(status, "nonvoluntary_ctxt_switches"), 3);
  EXPECT_FALSE(fieldOf(status, "VmRSS").has_value());
  EXPECT_THAT(parseCpuList("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parseCpuList("x,-1,5,9999999999999,2-"), ElementsAre(5));
}

TEST(ProcFiles, MoreRepeatedFilesThanStayOpenAreReadAllTheSame) {
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = open();
  std::vector<RepeatedFile> files(RepeatedFile::kMostOpen + 50);
  for (int round = 0; round < 2; ++round) {
    for (RepeatedFile& file : files) {
      std::string text;
      ASSERT_TRUE(file.readInto(AT_FDCWD, "/proc/self/stat", text));
      EXPECT_TRUE(text.starts_with(std::to_string(getpid())));
    }
  }
  EXPECT_EQ(open() - before, RepeatedFile::kMostOpen);
  files.clear();
  EXPECT_EQ(open(), before);
}

// What it says now, each time; and not of a process that ended.
TEST(ProcFiles, AFileReadAgain) {
  const test::TempFolder folder;
  RepeatedFile file;
  std::string text;
  EXPECT_FALSE(file.readInto(AT_FDCWD, (folder / "stat").c_str(), text));
  write(folder / "stat", "a longer record\n");
  ASSERT_TRUE(file.readInto(AT_FDCWD, (folder / "stat").c_str(), text));
  EXPECT_EQ(text, "a longer record\n");
  write(folder / "stat", "another\n");
  ASSERT_TRUE(file.readInto(AT_FDCWD, (folder / "stat").c_str(), text));
  EXPECT_EQ(text, "another\n");
  write(folder / "stat", std::string(1 << 20, 'x'));
  EXPECT_FALSE(file.readInto(AT_FDCWD, (folder / "stat").c_str(), text)) << "more than a record";

  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const std::string path = "/proc/" + std::to_string(child) + "/stat";
  RepeatedFile stat;
  EXPECT_TRUE(stat.readInto(AT_FDCWD, path.c_str(), text));
  EXPECT_TRUE(text.starts_with(std::to_string(child) + " "));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(stat.readInto(AT_FDCWD, path.c_str(), text));
}

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

TEST_F(CgroupTest, NothingThereIsNoLimit) { EXPECT_EQ(cgroupCpus(5, root_), std::nullopt); }

TEST_F(CgroupTest, Version2) {
  write("proc/5/cgroup", "0::/a/b");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  EXPECT_EQ(cgroupCpus(5, root_), std::nullopt);
  write("sys/fs/cgroup/a/cpu.max", "250000 100000");
  EXPECT_EQ(cgroupCpus(5, root_), 2.5) << "a group above limits too";
  write("sys/fs/cgroup/a/b/cpu.max", "150000 100000");
  EXPECT_EQ(cgroupCpus(5, root_), 1.5);
}

TEST_F(CgroupTest, Version2InAContainer) {
  write("proc/5/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(cgroupCpus(5, root_), 0.5);
}

TEST_F(CgroupTest, Version1) {
  write("proc/5/cgroup", "5:memory:/x\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/x");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroupCpus(5, root_), std::nullopt);
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "300000");
  EXPECT_EQ(cgroupCpus(5, root_), 3.0);
}

TEST_F(CgroupTest, Version1WhereTheHostsPathIsNotVisible) {
  write("proc/5/cgroup", "4:cpu,cpuacct:/docker/abc");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "200000");
  EXPECT_EQ(cgroupCpus(5, root_), 2.0);
}

TEST_F(CgroupTest, CpusetIsNotCpu) {
  write("proc/5/cgroup", "4:cpuset:/");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "200000");
  EXPECT_EQ(cgroupCpus(5, root_), std::nullopt);
}

TEST(AffinityCpus, OfThisThreadAndOfNoProcess) {
  EXPECT_FALSE(affinityCpus().empty());
  EXPECT_EQ(affinityCpus(getpid()), affinityCpus());
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  ASSERT_EQ(waitpid(ended, nullptr, 0), ended);
  EXPECT_TRUE(affinityCpus(ended).empty());
}

TEST(UsableCpus, IsTheSmallerOfMaskAndQuotaButNeverNone) {
  EXPECT_EQ(usableCpus(8, std::nullopt), 8);
  EXPECT_EQ(usableCpus(8, 2.0), 2);
  EXPECT_EQ(usableCpus(8, 1.5), 2);
  EXPECT_EQ(usableCpus(8, 0.1), 1);
  EXPECT_EQ(usableCpus(2, 16.0), 2);
  EXPECT_EQ(usableCpus(0, std::nullopt), 1);
}

TEST(Cgroup, TightestQuotaOfBothVersions) {
  const test::TempFolder root;
  const std::string at = root.path().string();
  write(at + "/proc/5/cgroup", "0::/a/b\n");
  write(at + "/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  write(at + "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write(at + "/sys/fs/cgroup/a/memory.max", "1048576\n");
  write(at + "/sys/fs/cgroup/a/b/memory.max", "max\n");
  write(at + "/sys/fs/cgroup/a/b/cpu.stat", "usage_usec 10\nthrottled_usec 25\n");
  EXPECT_EQ(cgroupCpus(5, at), 1.5);
  EXPECT_EQ(cgroupMemory(5, at), 1048576);
  EXPECT_EQ(throttledNs(cgroupStatFile(5, at)), 25000);

  write(at + "/proc/6/cgroup",
        "3:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n");  // the path of the host: not seen here
  write(at + "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  write(at + "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write(at + "/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_throttled 3\nthrottled_time 77\n");
  write(at + "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroupCpus(6, at), 0.5);
  EXPECT_FALSE(cgroupMemory(6, at).has_value());
  EXPECT_EQ(throttledNs(cgroupStatFile(6, at)), 77);

  EXPECT_FALSE(cgroupCpus(7, at).has_value());
  EXPECT_EQ(cgroupStatFile(7, at), "");
}

TEST(Cgroup, ProcessesKilledForMemoryInBothVersions) {
  const test::TempFolder root;
  const std::string at = root.path().string();
  write(at + "/proc/5/cgroup", "0::/a\n");
  write(at + "/sys/fs/cgroup/a/memory.events", "low 0\nhigh 2\nmax 9\noom 4\noom_kill 3\noom_group_kill 0\n");
  EXPECT_EQ(oomKillFile(5, at), at + "/sys/fs/cgroup/a/memory.events");
  EXPECT_EQ(oomKills(oomKillFile(5, at)), 3);
  write(at + "/proc/6/cgroup", "4:memory:/b\n");
  write(at + "/sys/fs/cgroup/memory/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  EXPECT_EQ(oomKills(oomKillFile(6, at)), 2);
  write(at + "/sys/fs/cgroup/memory/b/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\n");  // old kernels
  EXPECT_EQ(oomKillFile(6, at), "");
  EXPECT_FALSE(oomKills("").has_value());
  write(at + "/proc/vmstat", "nr_free_pages 12\noom_kill 7\n");
  EXPECT_EQ(hostOomKills(at), 7);
  EXPECT_FALSE(hostOomKills(at + "/none").has_value());
}

TEST(HostFacts, TopologyModelAndMemory) {
  const test::TempFolder root;
  const std::string at = root.path().string();
  write(at + "/sys/devices/system/cpu/online", "0-3\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = at + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    write(folder + "physical_package_id", std::to_string(cpu / 2) + "\n");
    write(folder + "core_id", "0\n");
  }
  write(at + "/sys/devices/system/node/online", "0-1\n");
  write(at + "/sys/devices/system/node/node0/cpulist", "0-1\n");
  write(at + "/sys/devices/system/node/node1/cpulist", "2-3\n");
  write(at + "/proc/cpuinfo", "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\n");
  write(at + "/proc/meminfo", "MemTotal:       16 kB\n");
  const auto facts = hostFacts(at);
  EXPECT_EQ(facts.at(meta::kLogicalCpus), "4");
  EXPECT_EQ(facts.at(meta::kPhysicalCores), "2");
  EXPECT_EQ(facts.at(meta::kSockets), "2");
  EXPECT_EQ(facts.at(meta::kNumaNodes), "2");
  EXPECT_EQ(facts.at(meta::kNumaCpus), "0-1;2-3");
  EXPECT_EQ(facts.at(meta::kCpuModel), "A CPU @ 2 GHz");
  EXPECT_EQ(facts.at(meta::kMemoryBytes), "16384");
  EXPECT_EQ(coresOf({0, 1}, at), 1);
}

}  // namespace
}  // namespace pitwall::host::host_test
