// Drives the real `pitwall` executable: what is measured beside a trace, the roofline and trials.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "db/machine.h"
#include "db/meta.h"
#include "db/reader.h"
#include "tests/analyzer/command.h"

namespace pitwall::cli_trials_test {
namespace {

namespace fs = std::filesystem;
using test::Command;
using testing::ContainsRegex;
using testing::HasSubstr;

// The speed of the machine is not tested, only that there are numbers with units, and the path of the
// file.
TEST_F(Command, CalibrateStoresTheRooflineOfTheMachine) {
  const auto cache = folder_ / "cache";
  const auto run = pitwall("env --calibrate", "XDG_CACHE_HOME=" + cache.string());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("float32 multiply-adds, 1 CPU +[0-9.]+ GFLOP/s"));
  EXPECT_THAT(run.out, ContainsRegex("memory, copy .* +[0-9.]+ GB/s"));
  EXPECT_THAT(run.out, ContainsRegex("Stored in .*cache/pitwall/roof-.*[.]txt"));
  std::vector<fs::path> kept;
  for (const auto& entry : fs::directory_iterator(cache / "pitwall")) kept.push_back(entry.path());
  ASSERT_EQ(kept.size(), 1U);
  const auto roofline = readRoofline(kept[0].string());
  for (const char* key : {meta::kRooflineCpus, meta::kRooflineFlop, meta::kRooflineFlopOne,
                          meta::kRooflineCopy, meta::kRooflineTriad}) {
    ASSERT_EQ(roofline.count(key), 1U) << key;
    EXPECT_GT(std::stod(roofline.at(key)), 0) << key;
  }
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.find("Stored") == 0 ? 0 : line.size(), 80U) << line;

  EXPECT_EQ(pitwall("env --calibrate OMP_NUM_THREADS").code, 2);
  std::ofstream(folder_ / "file") << "in the way";
  const auto refused = pitwall("env --calibrate", "XDG_CACHE_HOME=" + (folder_ / "file").string());
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("cannot write the roofline"));
}

TEST_F(Command, TrialsShowWhichNumberOfThreadsIsFastest) {
  const auto trial = [&](int threads, int us, const std::string& process) {
    const auto path = (folder_ / fmt::format("{}-{}.pitwall", process, threads)).string();
    const auto status = test::makeTraceFile(
        fmt::format(
            "meta trace.producer pitwall 0.1.0\nmeta process.openmp_runtime libgomp\n"
            "meta process.openmp_threads {}\nmeta runtime.engine NaiveEngine\nmeta runtime.backend onednn\n"
            "setting OMP_NUM_THREADS {} environment\n"
            "repeat 12 {}us\n  iteration 0 16\n  op conv1 Convolution forward 10us {}us\nend\n",
            threads, threads, us, us - 20),
        path);
    EXPECT_TRUE(status.has_value());
    return path;
  };
  const auto present = trial(4, 6000, "a"), one = trial(1, 9000, "a"), two = trial(2, 5000, "a");
  const auto with_trials = pitwall("analyze --no-env --trial " + one + " --trial " + two + " " + present);
  EXPECT_EQ(with_trials.code, 0) << with_trials.err;
  EXPECT_THAT(with_trials.out, HasSubstr("With 2 OpenMP threads an iteration took 5.00 ms"));
  EXPECT_THAT(with_trials.out, HasSubstr("OMP_NUM_THREADS"));
  const auto few = pitwall("analyze --no-env --verbose --trial " + one + " " + present);
  EXPECT_THAT(few.out, HasSubstr("threads/knee: fewer than 3"));
  EXPECT_EQ(pitwall("analyze --no-env --trial " + (folder_ / "none").string() + " " + present).code, 3);
}

TEST_F(Command, TrialsMayBeLogsOfOneDnn) {
  const auto log = [&](int threads, double scale) {
    const auto path = (folder_ / fmt::format("{}.log", threads)).string();
    std::ofstream out(path);
    out << "onednn_verbose,info,oneDNN v2.6.3 (commit N/A)\n"
        << fmt::format("onednn_verbose,info,cpu,runtime:OpenMP,nthr:{}\n", threads);
    for (int i = 0; i < 12; ++i) {
      out << fmt::format(
          "onednn_verbose,exec,cpu,matmul,jit,forward_training,src_f32::blocked:ab:f0,,,2x2:2x2,{}\n"
          "onednn_verbose,exec,cpu,eltwise,jit:avx2,forward_training,data_f32::blocked:ab:f0,,,2x2,{}\n",
          2 * scale, scale);
    }
    return path;
  };
  const auto present = log(4, 1.5), one = log(1, 2), two = log(2, 1);
  const auto with_trials = pitwall("analyze --no-env --trial " + one + " --trial " + two + " " + present);
  EXPECT_EQ(with_trials.code, 0) << with_trials.err;
  EXPECT_THAT(with_trials.out, HasSubstr("With 2 OpenMP threads an iteration took 3.00 ms"));
}

}  // namespace
}  // namespace pitwall::cli_trials_test
