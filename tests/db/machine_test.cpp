// Facts of a machine from a folder with the layout of /sys, and the stored roofline.
#include "db/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pitwall::machine_test {
namespace {

namespace fs = std::filesystem;

class MachineTest : public testing::Test {
 protected:
  MachineTest()
      : root_(fs::path(testing::TempDir()) /
              ("pitwall-machine-" + std::to_string(getpid()) + "-" +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~MachineTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  const fs::path root_;
};

TEST_F(MachineTest, KindsOfCores) {
  EXPECT_EQ(coreKinds(root_.string()), 0) << "nothing reported";
  write("sys/devices/system/cpu/online", "0-3");
  EXPECT_EQ(coreKinds(root_.string()), 1);
  write("sys/devices/system/cpu/cpu0/cpu_capacity", "1024");
  write("sys/devices/system/cpu/cpu1/cpu_capacity", "1024");
  EXPECT_EQ(coreKinds(root_.string()), 1);
  write("sys/devices/system/cpu/cpu2/cpu_capacity", "446");
  EXPECT_EQ(coreKinds(root_.string()), 2) << "big and little";
  write("sys/devices/cpu_core/cpus", "0-1");
  write("sys/devices/cpu_atom/cpus", "2-3");
  EXPECT_EQ(coreKinds(root_.string()), 2) << "performance and efficiency";
  write("sys/devices/cpu_lowpower/cpus", "4");
  EXPECT_EQ(coreKinds(root_.string()), 3);
}

TEST_F(MachineTest, CachesForDataAreFacts) {
  EXPECT_TRUE(cacheFacts(root_.string()).empty());
  const auto cache = [this](const std::string& index, const char* level, const char* type, const char* size) {
    const std::string folder = "sys/devices/system/cpu/cpu0/cache/index" + index + "/";
    write(folder + "level", level), write(folder + "type", type), write(folder + "size", size);
  };
  cache("0", "1", "Data", "32K");
  cache("1", "1", "Instruction", "64K");
  cache("2", "2", "Unified", "1024K");
  cache("3", "3", "Unified", "36M");
  const MachineFacts facts{
      {meta::kL1CacheBytes, "32768"}, {meta::kL2CacheBytes, "1048576"}, {meta::kL3CacheBytes, "37748736"}};
  EXPECT_EQ(cacheFacts(root_.string()), facts);
  cache("4", "nine", "Unified", "much");
  EXPECT_EQ(cacheFacts(root_.string()), facts) << "what cannot be read is left out";
}

TEST_F(MachineTest, TheProcessorIsNamedAsTheKernelNamesIt) {
  EXPECT_EQ(cpuModel(root_.string()), "") << "no such file";
  write("proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Some CPU: 3 GHz\nmodel name\t: another\n");
  EXPECT_EQ(cpuModel(root_.string()), "Some CPU: 3 GHz");
  write("proc/cpuinfo", "model name");
  EXPECT_EQ(cpuModel(root_.string()), "") << "cut off";
  write("proc/cpuinfo", "model name\t:\n");
  EXPECT_EQ(cpuModel(root_.string()), "") << "empty";
}

TEST_F(MachineTest, RooflineIsKeptByProcessorInTheCacheFolder) {
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string saved = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", root_.c_str(), 1);
  const std::string path = rooflinePath("AMD EPYC 9B14 (96-Core)");
  EXPECT_EQ(path, (root_ / "pitwall/roof-amd-epyc-9b14-96-core.txt").string());
  EXPECT_NE(rooflinePath("another"), path);
  EXPECT_EQ(rooflinePath(""), (root_ / "pitwall/roof-unknown.txt").string());
  setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
  EXPECT_EQ(rooflinePath("x").find("relative"), std::string::npos);
  before != nullptr ? setenv("XDG_CACHE_HOME", saved.c_str(), 1) : unsetenv("XDG_CACHE_HOME");

  EXPECT_TRUE(readRoofline(path).empty()) << "none was measured";
  const MachineFacts roofline{{"roof.cpus", "2"}, {"roof.flop_per_second", "1.5e+11"}};
  ASSERT_TRUE(saveRoofline(path, roofline).has_value());
  EXPECT_EQ(readRoofline(path), roofline);
  std::ofstream(path, std::ios::app) << "host.name evil\nroof.copy_bytes_per_second many\nroof.cpus\n\n";
  EXPECT_EQ(readRoofline(path), roofline) << "lines that are not of a roofline are ignored";
}

TEST_F(MachineTest, AFolderThatCannotBeMadeIsNamed) {
  write("file", "");
  const auto status = saveRoofline((root_ / "file/pitwall/roof.txt").string(), {});
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("file/pitwall/roof.txt"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace pitwall::machine_test
