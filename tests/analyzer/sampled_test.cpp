// What threads wait for and which native functions they execute, from made-up samples.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "analyzer/analysis/stack_sums.h"
#include "db/stacks.h"
#include "db/store.h"
#include "tests/analyzer/analyzed.h"
#include "tests/support/temp_folder.h"

namespace pitwall::sampled_test {
namespace {

constexpr TimeNs kMs = 1'000'000;
constexpr double kRuns = 0, kSync = 10;

// A process with one thread that uses half of a CPU for 2 s.
class SampledThreads : public testing::Test {
 protected:
  void SetUp() override {
    sink_ = createTrace(result_.path = folder_ / "x.pitwall").value();
    process_ = sink_->process({7, "python3", "python3 train.py", 0});
    thread_ = sink_->thread({process_, 7, "python3"});
    counter("cpu", "share", 50, [](int) { return 0.5; });
    std::vector<CounterSample> samples;
    for (int i = 0; i <= 40; ++i) samples.push_back({i * 50 * kMs, 0.5});
    sink_->counters(sink_->track({TrackKind::counter, process_, {}, {}, "cpu", "cores"}), samples);
  }
  // A sample every `every_ms`, for 2 s.
  template <class Value>
  void counter(const char* name, const char* unit, int every_ms, Value value) {
    std::vector<CounterSample> samples;
    for (int i = 0; i * every_ms <= 2000; ++i)
      samples.push_back({TimeNs{i} * every_ms * kMs, static_cast<double>(value(i * every_ms))});
    sink_->counters(sink_->track({TrackKind::counter, process_, thread_, {}, name, unit}), samples);
  }
  double stack(const char* function, const char* file, const char* language) {
    return sink_->stack({{}, sink_->frame({function, file, 1, language})}).value;
  }
  void analyze() {
    ASSERT_TRUE(sink_->finish().has_value());
    result_.trace = Trace::open(result_.path).value();
    result_.report = analyzeTrace(*result_.trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).value();
  }

  test::TempFolder folder_;
  std::unique_ptr<TraceSink> sink_;
  ProcessId process_;
  ThreadId thread_;
  test::Analyzed result_;
};

TEST_F(SampledThreads, NativeFunctionsAreNotPartsOfPythonsStacks) {
  const double step = stack("step", "/p/train.py", "python"),
               gemm = stack("sgemm_", "/x/libblas.so.3", "native"),
               python = stack("_PyEval", "/usr/bin/python3.11", "native");
  counter("stack", kStackUnit, 10, [&](int) { return step; });
  counter(kNativeFunctionTrack, kStackUnit, 10, [&](int ms) { return ms % 40 == 0 ? python : gemm; });
  analyze();
  EXPECT_NEAR(result_.number(
                  "SELECT share FROM analysis_native WHERE library = 'libblas.so.3' AND function = 'sgemm_'"),
              0.75, 0.01);
  EXPECT_NEAR(result_.number("SELECT share FROM analysis_native WHERE library = 'python3.11'"), 0.25, 0.01);
  EXPECT_EQ(result_.number("SELECT count(*) FROM analysis_code"), 1);
  EXPECT_EQ(result_.number("SELECT self_ns FROM analysis_code WHERE function = 'step'"), 2000 * kMs);
  EXPECT_EQ(analysis::sumStacks(*result_.trace).value().size(), 1u);
}

TEST_F(SampledThreads, NativeFunctionsOfOtherThreadsAreThoseOfTheirStacks) {
  const double work = stack("work", "/x/program", "native"),
               waits = stack("waiting: lock", "", kStateLanguage);
  counter("stack", kStackUnit, 10, [&](int ms) { return ms % 20 == 0 ? work : waits; });
  analyze();
  EXPECT_EQ(result_.number("SELECT count(*) FROM analysis_native"), 1);
  EXPECT_NEAR(result_.number("SELECT share FROM analysis_native WHERE function = 'work'"), 1, 1e-9);
}

TEST_F(SampledThreads, WaitsAreThoseOfTheSteadyIterations) {
  // It loads its libraries for a second; from then on it waits for the disk for half of the time.
  counter("state", "", 50, [](int ms) { return ms >= 1000 && ms % 100 == 0 ? kSync : kRuns; });
  for (int i = 0; i <= 10; ++i) sink_->iteration({i, (1000 + TimeNs{i} * 100) * kMs, 1});
  analyze();
  EXPECT_NEAR(result_.number("SELECT sync FROM analysis_wait"), 0.5, 0.05);
  EXPECT_NEAR(result_.number("SELECT span_share FROM analysis_wait"), 1, 0.01);
}

TEST_F(SampledThreads, WaitsWithoutIterationsAreThoseOfTheWholeRecording) {
  counter("state", "", 50, [](int ms) { return ms >= 1000 && ms % 100 == 0 ? kSync : kRuns; });
  analyze();
  // Half of the time it uses a CPU; the rest is what the states say.
  EXPECT_NEAR(result_.number("SELECT sync FROM analysis_wait"), 0.5, 0.05);
  EXPECT_LT(result_.number("SELECT samples FROM analysis_wait"), 50);
}

TEST_F(SampledThreads, StatesOfStacksCountWhereTheyAreMore) {
  const double syncs = stack("waiting: storage sync", "", kStateLanguage),
               locked = stack("waiting: interpreter lock", "", kStateLanguage);
  counter("state", "", 50, [](int) { return kRuns; });
  counter("stack", kStackUnit, 10, [&](int ms) {
    return ms % 40 == 0 ? syncs : ms % 40 == 10 ? locked : 0.0;
  });
  analyze();
  EXPECT_EQ(result_.number("SELECT samples FROM analysis_wait"), 201);
  EXPECT_NEAR(result_.number("SELECT sync FROM analysis_wait"), 0.25, 0.01);
  EXPECT_NEAR(result_.number("SELECT timed_wait FROM analysis_wait"), 0.25, 0.01);
}

// Of another tool's trace: its stacks do not say what a thread waits for.
TEST_F(SampledThreads, StacksAloneAreNoStates) {
  const double work = stack("work", "/x/program", "native");
  counter("stack", kStackUnit, 10, [&](int) { return work; });
  analyze();
  EXPECT_EQ(result_.number("SELECT count(*) FROM analysis_wait"), 0);
}

}  // namespace
}  // namespace pitwall::sampled_test
