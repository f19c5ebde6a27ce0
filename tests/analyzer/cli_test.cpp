// Drives the real `pitwall` executable: exit codes, messages, files.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "db/machine.h"
#include "db/meta.h"
#include "db/reader.h"
#include "tests/support/read_all.h"
#include "tests/support/trace_text.h"

namespace pitwall {
namespace {

namespace fs = std::filesystem;
using test::readAll;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr char kTrace[] = R"(
meta trace.producer pitwall 0.1.0
meta process.usable_cpus 2
meta process.openmp_runtime libgomp
meta process.openmp_threads 1
meta runtime.engine ThreadedEnginePerDevice
meta runtime.backend onednn
tunable prefetch_threads 0 0 8 program
tunable prefetch_depth 1 1 64 program
repeat 12 6ms
  iteration 0 16
  span data_wait 0 2ms
  span data_work 0 2ms
  op conv1 Convolution forward 2100us 1400us pushed=2050us
  op conv1 Convolution backward 3500us 2ms pushed=3450us
end
)";

struct Ended {
  int code = -1;
  std::string out, err;
};

class Command : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / fmt::format("pitwall-cli-{}", getpid());
    fs::create_directories(folder_);
    trace_ = (folder_ / "run.pitwall").string();
    const auto status = test::makeTraceFile(kTrace, trace_);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  Ended pitwall(const std::string& arguments, const std::string& environment = "") {
    const std::string out = (folder_ / "out").string(), err = (folder_ / "err").string();
    const int status = std::system(
        fmt::format("env {} {} {} >{} 2>{}", environment, PITWALL_COMMAND, arguments, out, err).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readAll(out), readAll(err)};
  }

  // The single answer of SQLite's own JSON parser, an independent check.
  std::string askJson(const std::string& json, const std::string& expression) {
    auto trace = Trace::open(trace_);
    if (!trace.has_value()) return trace.error().message;
    const SqlParameter parameter{":json", json};
    auto rows = trace.value()->query("SELECT CAST(" + expression + " AS TEXT)", {&parameter, 1});
    if (!rows.has_value()) return rows.error().message;
    const auto* text = std::get_if<std::string>(&rows.value().rows.at(0).at(0));
    return text == nullptr ? "null" : *text;
  }

  fs::path folder_;
  std::string trace_;
};

TEST_F(Command, AnalyzePrintsFindingsBreakdownAndWritesSettings) {
  const auto run = pitwall("analyze " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1. HIGH: The program waits for its input [input/bound]"));
  EXPECT_THAT(run.out, ContainsRegex("data wait +18\\.0 ms +2\\.00 ms +33\\.3 %"));
  EXPECT_THAT(run.out, ContainsRegex("total +54\\.0 ms +6\\.00 ms +100 %"));
  EXPECT_THAT(run.out, HasSubstr("conv1 Convolution"));
  EXPECT_THAT(readAll(folder_ / "run.env"), HasSubstr("\nexport PITWALL_TUNE_prefetch_threads=1\n"));
}

TEST_F(Command, SchemaPrintsUnitAndMeaningOfAnalysisTables) {
  const auto run = pitwall("query --schema " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("\nanalysis_iteration\n +An iteration\\."));
  EXPECT_THAT(run.out, ContainsRegex("\n +dur_ns +INTEGER +ns +duration\n"));
  EXPECT_THAT(run.out, ContainsRegex("\n +roof_share +REAL +ratio +the larger of both"));
}

TEST_F(Command, TheSameTraceGivesTheSameReport) {
  const auto first = pitwall("analyze " + trace_);
  EXPECT_EQ(first.out, pitwall("analyze " + trace_).out);
}

TEST_F(Command, JsonIsValidAndSaysTheSame) {
  const auto run = pitwall("analyze --format json " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(askJson(run.out, "json_valid(:json)"), "1");
  EXPECT_EQ(askJson(run.out, "json_extract(:json, '$.schema_version')"), "1");
  EXPECT_EQ(askJson(run.out, "json_extract(:json, '$.findings[0].id')"), "input/bound");
  EXPECT_EQ(askJson(run.out, "json_extract(:json, '$.findings[0].proposals[0].proposed')"), "1");
  std::string sum = "0";
  for (int i = 0; i < 8; ++i)
    sum += fmt::format(" + json_extract(:json, '$.breakdown.shares[{}].total_ns')", i);
  EXPECT_EQ(askJson(run.out, sum), askJson(run.out, "json_extract(:json, '$.breakdown.wall_ns')"));
  EXPECT_EQ(askJson(run.out, "json_array_length(:json, '$.breakdown.shares')"), "8");
}

TEST_F(Command, FindingsAreSavedInTheTrace) {
  ASSERT_EQ(pitwall("analyze " + trace_).code, 0);
  EXPECT_EQ(askJson("", "(SELECT group_concat(rule) FROM finding WHERE :json = '')"), "input/bound");
}

TEST_F(Command, FailOnDecidesTheExitCode) {
  EXPECT_EQ(pitwall("analyze --fail-on high " + trace_).code, 1);
  EXPECT_EQ(pitwall("analyze --fail-on high --disable input/bound " + trace_).code, 0);
  EXPECT_EQ(pitwall("analyze --fail-on info --set input/bound.share=0.9 " + trace_).code, 0);
}

TEST_F(Command, UsageErrorsAreTwo) {
  EXPECT_EQ(pitwall("").code, 2);
  EXPECT_EQ(pitwall("analyze").code, 2);
  EXPECT_EQ(pitwall("analyze --format yaml " + trace_).code, 2);
  EXPECT_EQ(pitwall("frobnicate").code, 2);
  auto run = pitwall("analyze --set input/bound.colour=3 " + trace_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("it has: high_share, share"));
  EXPECT_EQ(pitwall("analyze --set input/bound.share=much " + trace_).code, 2);
  run = pitwall("analyze --rules /nonexistent " + trace_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("/nonexistent"));
}

TEST_F(Command, HelpAndVersionAreNoErrors) {
  auto run = pitwall("--help");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("Exit codes:"));
  run = pitwall("--version");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, ContainsRegex("^pitwall [0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(Command, WhatIsNoTraceIsThree) {
  auto run = pitwall("analyze " + (folder_ / "none.pitwall").string());
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("none.pitwall"));

  std::ofstream(folder_ / "text.pitwall") << "hello, this is no database\n";
  run = pitwall("analyze " + (folder_ / "text.pitwall").string());
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("text.pitwall"));

  std::ofstream(folder_ / "empty.pitwall").close();
  EXPECT_EQ(pitwall("analyze " + (folder_ / "empty.pitwall").string()).code, 3);
  EXPECT_EQ(pitwall("analyze " + folder_.string()).code, 3);
}

TEST_F(Command, DamagedTracesAreThreeOrAnalyzedButNeverACrash) {
  const auto whole = readAll(trace_);
  for (const double part : {0.02, 0.3, 0.6, 0.9, 0.99}) {
    const auto size = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    std::ofstream(folder_ / "cut.pitwall", std::ios::binary) << whole.substr(0, size);
    const auto run = pitwall("analyze --no-env " + (folder_ / "cut.pitwall").string());
    EXPECT_EQ(run.code, 3) << part << run.out;
    EXPECT_THAT(run.err, HasSubstr("cut.pitwall"));
  }
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 97) {
    auto damaged = whole;
    for (std::size_t i = at; i < std::min(at + 64, damaged.size()); ++i)
      damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    std::ofstream(folder_ / "bad.pitwall", std::ios::binary) << damaged;
    const auto run = pitwall("analyze --no-env " + (folder_ / "bad.pitwall").string());
    EXPECT_TRUE(run.code == 0 || run.code == 3) << "byte " << at << ": " << run.code << " " << run.err;
  }
}

TEST_F(Command, AForeignDatabaseAndANewerTraceAreThree) {
  // application_id is at byte 68 of a SQLite file, user_version at byte 60; both big-endian.
  auto bytes = readAll(trace_);
  std::copy_n("\x12\x34\x56\x78", 4, bytes.begin() + 68);
  std::ofstream(folder_ / "foreign.pitwall", std::ios::binary) << bytes;
  auto run = pitwall("analyze " + (folder_ / "foreign.pitwall").string());
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("foreign.pitwall"));

  bytes = readAll(trace_);
  std::copy_n("\x00\x00\x7f\x7f", 4, bytes.begin() + 60);
  std::ofstream(folder_ / "newer.pitwall", std::ios::binary) << bytes;
  run = pitwall("analyze " + (folder_ / "newer.pitwall").string());
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("newer"));
}

TEST_F(Command, AKilledRecordingIsAnalyzedAndSaysSo) {
  ASSERT_TRUE(test::makeTraceFile(std::string(kTrace) + "incomplete\n", trace_).has_value());
  const auto run = pitwall("analyze " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("incomplete"));
}

TEST_F(Command, AnUnwritableSettingsFileIsTwoAndTheReportIsStillPrinted) {
  const auto run = pitwall("analyze --env /nonexistent/run.env " + trace_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.out, HasSubstr("input/bound"));
  EXPECT_THAT(run.err, HasSubstr("/nonexistent/run.env"));
}

TEST_F(Command, AReadOnlyFolderOnlyCostsTheSettingsAndTheSaving) {
  fs::create_directory(folder_ / "shelf");
  const auto path = folder_ / "shelf" / "run.pitwall";
  fs::copy_file(trace_, path);
  fs::permissions(path, fs::perms::owner_read);
  fs::permissions(folder_ / "shelf", fs::perms::owner_read | fs::perms::owner_exec);
  const auto run = pitwall("analyze " + path.string());
  fs::permissions(folder_ / "shelf", fs::perms::owner_all);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("input/bound"));
  if (geteuid() != 0) {  // root may write everywhere
    EXPECT_THAT(run.out, HasSubstr("not saved in the trace"));
    EXPECT_THAT(run.err, HasSubstr("run.env"));
  }
}

TEST_F(Command, AFullStandardOutputIsTwoAndSaysSo) {
  const auto err = folder_ / "err";
  for (const std::string& command :
       {"analyze --no-env " + trace_, std::string("rules list"), std::string("rules show input/bound"),
        std::string("env"), "compare " + trace_ + " " + trace_}) {
    const int status =
        std::system(fmt::format("{} {} >/dev/full 2>{}", PITWALL_COMMAND, command, err.string()).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << command;
    EXPECT_THAT(readAll(err), HasSubstr("cannot write to standard output")) << command;
  }
}

TEST_F(Command, AReportNeverReplacesATraceOrWhatIsRead) {
  const auto before = readAll(trace_);
  const auto other = (folder_ / "other.pitwall").string();
  fs::copy_file(trace_, other);
  auto run = pitwall("analyze --no-env -o " + trace_ + " " + other);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("trace or another database"));
  for (const char* command : {"analyze --no-env -o {0} {0}", "compare -o {0} {1} {0}"}) {
    run = pitwall(fmt::format(fmt::runtime(command), trace_, other));
    EXPECT_EQ(run.code, 2) << command;
    EXPECT_THAT(run.err, HasSubstr("it is the trace that is read")) << command;
  }
  EXPECT_EQ(readAll(trace_).size(), before.size());
  EXPECT_TRUE(Trace::open(trace_).has_value());
  const auto foreign = folder_ / "foreign.json";
  std::ofstream(foreign) << R"([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}])";
  const auto json = readAll(foreign);
  for (const char* command : {"analyze --no-env", "export"})
    EXPECT_EQ(pitwall(fmt::format("{} -o {} {}", command, foreign.string(), foreign.string())).code, 2);
  EXPECT_EQ(readAll(foreign), json);
}

TEST_F(Command, WhatContradictsItselfIsTwo) {
  const auto file = (folder_ / "x").string();
  EXPECT_THAT(pitwall("analyze --no-env --env " + file + " " + trace_).err, HasSubstr("--env excludes"));
  EXPECT_THAT(pitwall("analyze --no-env --env-format fish " + trace_).err, HasSubstr("excludes --no-env"));
  EXPECT_THAT(pitwall("analyze --env " + file + " -o " + file + " " + trace_).err,
              HasSubstr("give the settings their own file"));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_THAT(pitwall("analyze -o '' " + trace_).err, HasSubstr("an empty name"));
  EXPECT_THAT(pitwall("analyze --rule-config " + folder_.string() + " " + trace_).err,
              HasSubstr("it is a folder"));
  EXPECT_THAT(pitwall("analyze --rule-config " + file + " " + trace_).err,
              HasSubstr("there is no such file"));
  EXPECT_THAT(pitwall("rules check " + file).err, HasSubstr("there is no such file"));
  EXPECT_THAT(pitwall("compare --fail-on-regression much " + trace_ + " " + trace_).err,
              HasSubstr("'much' is not a percentage"));
  EXPECT_THAT(pitwall("frobnicate").err, HasSubstr("'frobnicate' is not a command of 'pitwall'"));
  EXPECT_THAT(pitwall("rules frob").err, HasSubstr("'frob' is not a command of 'pitwall rules'"));
}

TEST_F(Command, ABadRuleIsTwoAndNamesItsLine) {
  fs::create_directory(folder_ / "rules");
  const auto file = folder_ / "rules" / "mine.toml";
  const std::string head = "id = \"my/rule\"\ntitle = \"Mine\"\nseverity = \"low\"\n";
  const std::string tail = "verdict = \"{n} operators\"\nguard = \"never\"\n";
  std::ofstream(file) << head << "measure = \"SELECT count(*) AS n FROM analysis_operator\"\n" << tail;
  EXPECT_EQ(pitwall("rules check " + file.string()).code, 0);
  auto run = pitwall("analyze --rules " + (folder_ / "rules").string() + " " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("2 operators"));

  std::ofstream(file) << head << "measure = \"SELECT count(*) AS n FROM nowhere\"\n" << tail;
  run = pitwall("rules check " + file.string());
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("mine.toml:4: "));
  run = pitwall("analyze --rules " + (folder_ / "rules").string() + " " + trace_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("mine.toml:4: "));
}

TEST_F(Command, RulesAreListedAndShown) {
  EXPECT_THAT(pitwall("rules list").out, HasSubstr("input/bound"));
  EXPECT_THAT(pitwall("rules show input/bound").out, HasSubstr("input/bound.share = 0.05"));
  EXPECT_EQ(pitwall("rules show no/rule").code, 2);
}

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

TEST_F(Command, EnvExplainsSettings) {
  auto run = pitwall("env", "MXNET_CPU_WORKER_NTHREADS=3");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("MXNET_CPU_WORKER_NTHREADS +3\\* +1 +honoured"));
  run = pitwall("env MXNET_CPU_WORKER_NTHREADS", "MXNET_CPU_WORKER_NTHREADS=3");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("value +3 \\(environment\\)"));
  run = pitwall("env MXNET_CPU_WORKER_NTHREADS", "MXNET_CPU_WORKER_NTHREADS=many");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("MXNET_CPU_WORKER_NTHREADS"));
  run = pitwall("env MXNET_CPU_WORKER_THREADS");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("MXNET_CPU_WORKER_NTHREADS"));
}

}  // namespace
}  // namespace pitwall
