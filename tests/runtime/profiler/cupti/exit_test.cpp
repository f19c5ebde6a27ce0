// Programs that use CUDA without a GPU (fake/), from beginning to end: a recording lasts to the end of the process, and
// does not change how it ends.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "db/meta.h"
#include "db/reader.h"
#include "tests/support/temp_folder.h"

namespace pitwall::cupti::exit_test {
namespace {

class CuptiAtTheEnd : public ::testing::Test {
 protected:
  // Its exit code, or minus the signal. In a forked child the parent's recording is leaked.
  int run(const std::string& how, const std::string& environment = "") {
    const std::string line = "cd '" + folder_.path().string() +
                             "' && exec env ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH='" FAKE_CUDA "' " +
                             environment + " PITWALL_TRACE=injected.pitwall '" FAKE_CUDA "/fake_program' '" +
                             how + "'";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int runInjected(const std::string& how, const std::string& more = "") {
    return run(how, "CUDA_INJECTION64_PATH='" PITWALL_INJECT_LIBRARY "' " + more);
  }

  // Recorded, without those that were lost for lack of a buffer. -1: no trace, or not a complete one.
  std::int64_t kernels(const std::string& name) {
    const auto trace = Trace::open(folder_ / name);
    if (!trace.has_value() || !(*trace)->isComplete()) return -1;
    const auto rows =
        (*trace)->query("SELECT count(*) FROM event WHERE kind = 'kernel' AND name = 'fake_kernel'");
    return rows.has_value() ? std::get<std::int64_t>(rows->rows.at(0).at(0)) : -1;
  }

  std::string notes(const std::string& name) {
    const auto trace = Trace::open(folder_ / name);
    return trace.has_value() ? (*trace)->meta(meta::kRecorderNotes).value_or("") : "";
  }

  test::TempFolder folder_;
};

TEST_F(CuptiAtTheEnd, NothingIsLostAndTheExitCodeIsTheProgramsOwn) {
  for (const char* how : {"return", "exit", "quick_exit", "fork"}) {
    SCOPED_TRACE(how);
    EXPECT_EQ(runInjected(how), 7);
    EXPECT_EQ(kernels("injected.pitwall"), 100);
    std::filesystem::remove(folder_ / "injected.pitwall");
  }
}

// CUPTI delivers no record of the device; the driver describes it.
TEST_F(CuptiAtTheEnd, DevicesAndTheOccupancyOfTheirKernels) {
  ASSERT_EQ(runInjected("return"), 7);
  const auto trace = Trace::open(folder_ / "injected.pitwall");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ((*trace)->meta("device.gpu.0.num_sms").value_or(""), "132");
  EXPECT_EQ((*trace)->meta("device.gpu.0.compute_major").value_or(""), "9");
  EXPECT_EQ((*trace)->meta("device.gpu.0.total_global_mem").value_or(""), "8589934592");
  const auto devices = (*trace)->query("SELECT name FROM device WHERE kind = 'gpu'");
  ASSERT_TRUE(devices.has_value() && devices->rows.size() == 1U);
  EXPECT_EQ(std::get<std::string>(devices->rows[0][0]), "fake GPU");
  const auto rows = (*trace)->query("SELECT theoretical_occupancy, limiter FROM kernel");
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->rows.size(), 1U);
  EXPECT_DOUBLE_EQ(std::get<double>(rows->rows[0][0]), 0.5);  // 64 registers: 32 of 64 warps
  EXPECT_EQ(std::get<std::string>(rows->rows[0][1]), "registers");
}

// The driver is not initialised yet when it loads the injection library.
TEST_F(CuptiAtTheEnd, MigrationsOfManagedMemoryAreAFindingUnlessTheProgramAsksForThem) {
  const auto finding = [this] {
    auto trace = Trace::open(folder_ / "injected.pitwall");
    if (!trace.has_value()) return std::string("no trace");
    const auto report = analyzeTrace(**trace);
    if (!report.has_value()) return report.error().message;
    for (const Finding& one : report->findings)
      if (one.id == "memory/unified") return one.verdict;
    return std::string();
  };
  ASSERT_EQ(runInjected("managed", "PITWALL_RECORD_GPU=managed"), 7);
  EXPECT_THAT(finding(), ::testing::HasSubstr("100 migrations move 6.2 MiB of managed memory on demand"));
  std::filesystem::remove(folder_ / "injected.pitwall");
  ASSERT_EQ(runInjected("prefetched", "PITWALL_RECORD_GPU=managed"), 7);
  EXPECT_EQ(finding(), "");
  const auto trace = Trace::open(folder_ / "injected.pitwall");
  ASSERT_TRUE(trace.has_value());
  const auto rows = (*trace)->query("SELECT count(*) FROM event WHERE kind = 'copy'");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(std::get<std::int64_t>(rows->rows.at(0).at(0)), 100);
  std::filesystem::remove(folder_ / "injected.pitwall");
  ASSERT_EQ(runInjected("managed"), 7);
  EXPECT_EQ(finding(), "") << "not recorded";
}

// Counting waits for each kernel, which ends the capture of a stream.
TEST_F(CuptiAtTheEnd, KernelsOfCapturedStreamsAreNotCounted) {
  ASSERT_EQ(runInjected("captured", "PITWALL_RECORD_GPU=counters"), 7);
  const auto trace = Trace::open(folder_ / "injected.pitwall");
  ASSERT_TRUE(trace.has_value());
  const auto rows = (*trace)->query("SELECT count(*) FROM event WHERE kind = 'kernel'");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(std::get<std::int64_t>(rows->rows.at(0).at(0)), 100) << "of 200";
}

// The trace says that its times are not the program's, and nothing is concluded from them.
TEST_F(CuptiAtTheEnd, CountedKernelsWithTheOccupancyThatTheyAchieved) {
  ASSERT_EQ(runInjected("managed", "PITWALL_RECORD_GPU=counters"), 7);
  auto trace = Trace::open(folder_ / "injected.pitwall");
  ASSERT_TRUE(trace.has_value() && (*trace)->isComplete());
  const auto report = analyzeTrace(**trace);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto rows = (*trace)->query("SELECT name, count, occupancy, achieved_occupancy FROM analysis_kernel");
  ASSERT_TRUE(rows.has_value() && rows->rows.size() == 1U);
  EXPECT_EQ(std::get<std::string>(rows->rows[0][0]), "fake_kernel");
  EXPECT_EQ(std::get<std::int64_t>(rows->rows[0][1]), 200);
  EXPECT_DOUBLE_EQ(std::get<double>(rows->rows[0][2]), 0.5) << "4 blocks of 8 warps, of 64";
  EXPECT_NEAR(std::get<double>(rows->rows[0][3]), 0.4, 1e-9);
  const auto launches = (*trace)->query(
      "SELECT count(*) FROM event k JOIN dependency d ON d.target = k.correlation JOIN event c ON "
      "c.correlation = "
      "d.source WHERE k.kind = 'kernel' AND c.kind = 'api'");
  ASSERT_TRUE(launches.has_value());
  EXPECT_EQ(std::get<std::int64_t>(launches->rows.at(0).at(0)), 200);
  for (const Finding& finding : report->findings)
    EXPECT_EQ(finding.id.substr(0, 8), "quality/") << finding.id << ": " << finding.verdict;
  EXPECT_TRUE(std::any_of(report->findings.begin(), report->findings.end(),
                          [](const Finding& finding) { return finding.id == "quality/serialised"; }));
}

TEST_F(CuptiAtTheEnd, WithoutPermissionToCountKernelsAreRecordedAsUsual) {
  ASSERT_EQ(runInjected("return", "PITWALL_RECORD_GPU=counters FAKE_CUPTI_COUNTERS=forbidden"), 7);
  EXPECT_EQ(kernels("injected.pitwall"), 100);
  EXPECT_THAT(notes("injected.pitwall"), ::testing::HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  auto trace = Trace::open(folder_ / "injected.pitwall");
  ASSERT_TRUE(trace.has_value());
  EXPECT_FALSE((*trace)->meta(meta::kSerialisedKernels).has_value());
}

TEST_F(CuptiAtTheEnd, AlsoByCallsThatRunNoHandlers) {
  EXPECT_EQ(runInjected("_exit"), 7);
  EXPECT_EQ(runInjected("exec"), 7);
  if (std::string(PITWALL_SANITIZED) != "") GTEST_SKIP() << "a sanitizer wants to be loaded first";
  std::filesystem::remove(folder_ / "injected.pitwall");
  EXPECT_EQ(runInjected("_exit", "LD_PRELOAD='" PITWALL_INJECT_LIBRARY "'"), 7);
  EXPECT_EQ(kernels("injected.pitwall"), 100);
}

TEST_F(CuptiAtTheEnd, WhileThreadsAreInCalls) {
  EXPECT_EQ(runInjected("threads"), 7);
  EXPECT_GE(kernels("injected.pitwall"), 100);
}

// CUPTI has one client: the other tool is left alone, everything else is recorded, and the trace says what is missing.
TEST_F(CuptiAtTheEnd, BesideAnotherToolThatUsesCupti) {
  EXPECT_EQ(runInjected("return", "FAKE_CUPTI_TAKEN=1"), 7);
  EXPECT_EQ(kernels("injected.pitwall"), 0);
  EXPECT_THAT(notes("injected.pitwall"), ::testing::HasSubstr("another tool uses CUPTI"));
  std::filesystem::remove(folder_ / "injected.pitwall");
  EXPECT_EQ(runInjected("taken over"), 7);
  EXPECT_GE(kernels("injected.pitwall"), 0);
  EXPECT_THAT(notes("injected.pitwall"), ::testing::HasSubstr("took CUPTI over"));
}

TEST_F(CuptiAtTheEnd, OfARecordingOfTheProgramItself) {
  for (const char* how : {"own open", "own closed", "own removed"}) {
    SCOPED_TRACE(how);
    EXPECT_EQ(run(how), 7);
    EXPECT_EQ(kernels("own.pitwall"), 100);
  }
  EXPECT_EQ(run("own again"), 7) << "without a call of CUDA between the recordings";
  EXPECT_EQ(kernels("again.pitwall"), 100);
}

}  // namespace
}  // namespace pitwall::cupti::exit_test
