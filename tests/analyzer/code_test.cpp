// Functions on sampled stacks, from a made-up trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "analyzer/emit.h"
#include "db/meta.h"
#include "db/store.h"
#include "tests/analyzer/analyzed.h"
#include "tests/support/temp_folder.h"

namespace pitwall::code_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TimeNs kMs = 1'000'000;

class Code : public testing::Test {
 protected:
  // A process with a first thread and a second one, sampled every 10 ms; iterations from 100 ms on.
  void SetUp() override {
    auto sink = createTrace(result_.path = folder_ / "x.pitwall").value();
    sink->meta(meta::kStackHz, "100");
    const ProcessId process = sink->process({7, "python3", "python3 train.py", 0});
    const ThreadId first = sink->thread({process, 7, "python3"}),
                   second = sink->thread({process, 8, "feeder"});
    const auto stack = [&](StackId caller, const char* function, const char* file, int line,
                           const char* language = "python") {
      return sink->stack({caller, sink->frame({function, file, line, language})});
    };
    const StackId imports = stack(stack({}, "<module>", "/p/train.py", 3), "_find_and_load",
                                  "<frozen importlib._bootstrap>", 1100);
    const StackId module = stack({}, "<module>", "/p/train.py", 40);
    const StackId step = stack(module, "Trainer.step", "/p/train.py", 12);
    const StackId step_later = stack(module, "Trainer.step", "/p/train.py", 14);
    const StackId recursive = stack(step, "Trainer.step", "/p/train.py", 12);
    const StackId read =
        stack(stack(module, "load", "/p/data.py", 5), "waiting: storage read", "", 0, "state");
    const StackId locked = stack(step, "waiting: interpreter lock", "", 0, "state");
    const StackId feeder = stack(stack({}, "feed", "/p/data.py", 9), "waiting: lock", "", 0, "state");
    const auto track = [&](ThreadId thread) {
      return sink->track({TrackKind::counter, process, thread, {}, "stack", kStackUnit});
    };
    std::vector<CounterSample> samples;
    const auto add = [&](StackId of, int count) {
      for (int i = 0; i < count; ++i)
        samples.push_back({static_cast<TimeNs>(samples.size()) * 10 * kMs, static_cast<double>(of.value)});
    };
    add(imports, 10);    // 0 .. 100 ms
    add(step, 3);        // .. 130
    add(step_later, 2);  // .. 150
    add(recursive, 1);   // .. 160
    add(locked, 4);      // .. 200
    add(read, 5);        // .. 250
    add({}, 5);          // unknown, .. 300
    add(step, 1);
    samples.push_back({900 * kMs, 0});  // a gap in which nothing was sampled
    samples.push_back({910 * kMs, 1e30});
    samples.push_back({920 * kMs, -5});
    samples.push_back({930 * kMs, 0});
    sink->counters(track(first), samples);
    samples.clear();
    add(feeder, 20);
    add({}, 1);
    sink->counters(track(second), samples);
    sink->iteration({0, 100 * kMs, 1});
    sink->iteration({1, 200 * kMs, 1});
    // An operator of the first thread over two samples.
    Event event;
    event.kind = EventKind::operatorRun;
    event.start_ns = event.pushed_ns = event.ready_ns = 110 * kMs;
    event.dur_ns = 20 * kMs;
    event.name = sink->string("Convolution");
    sink->events(sink->track({TrackKind::thread, process, first, {}, "", ""}), {&event, 1});
    ASSERT_TRUE(sink->finish().has_value());
    result_.trace = Trace::open(result_.path).value();
    result_.report = analyzeTrace(*result_.trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).value();
  }
  double one(const std::string& column, const std::string& where) {
    return result_.number("SELECT sum(" + column + ") FROM analysis_code WHERE " + where) / kMs;
  }

  test::TempFolder folder_;
  test::Analyzed result_;
};

TEST_F(Code, SelfAndTotalTimesByFunctionAndState) {
  EXPECT_DOUBLE_EQ(one("self_ns", "function = 'Trainer.step' AND state = 'running'"), 60);
  EXPECT_DOUBLE_EQ(one("total_ns", "function = 'Trainer.step' AND state = 'running'"), 60);
  EXPECT_DOUBLE_EQ(one("self_ns", "state = 'waiting: interpreter lock'"), 40);
  EXPECT_DOUBLE_EQ(one("self_ns", "function = 'load' AND state = 'waiting: storage read'"), 50);
  EXPECT_DOUBLE_EQ(one("total_ns", "function = '<module>' AND state = 'running'"), 160);
  EXPECT_DOUBLE_EQ(one("self_ns", "function = '<module>'"), 0);
  EXPECT_DOUBLE_EQ(one("self_ns", "thread = 'feeder' AND is_main = 0"), 200);
  // Neither unknown stacks nor gaps count.
  EXPECT_DOUBLE_EQ(one("self_ns", "thread = 'python3'"), 250);
  EXPECT_EQ(
      result_.number("SELECT line FROM analysis_code WHERE function = 'Trainer.step' AND state = 'running'"),
      12);
  EXPECT_NEAR(result_.number("SELECT sum(share) FROM analysis_code WHERE thread = 'python3'"), 1, 1e-9);
}

TEST_F(Code, TimeOutsideRecordedEventsAndBeforeTheFirstIteration) {
  EXPECT_DOUBLE_EQ(one("self_ns - outside_events_ns", "function = 'Trainer.step' AND state = 'running'"), 20);
  EXPECT_DOUBLE_EQ(one("startup_ns", "function = '_find_and_load'"), 100);
  EXPECT_DOUBLE_EQ(one("startup_ns", "function = 'Trainer.step'"), 0);
  const auto& startup = result_.report.code.startup;
  ASSERT_EQ(startup.size(), 1u);
  EXPECT_EQ(startup[0].line, 3);
  EXPECT_EQ(startup[0].total_ns, 100 * kMs);
  EXPECT_TRUE(startup[0].imports);
}

TEST_F(Code, TheReportNamesFunctionsAndStartUp) {
  const auto& code = result_.report.code;
  ASSERT_GE(code.rows.size(), 3u);
  EXPECT_EQ(code.rows[0].function, "Trainer.step");
  EXPECT_EQ(code.rows[0].running_ns, 60 * kMs);
  EXPECT_EQ(code.rows[0].lock_ns, 40 * kMs);
  EXPECT_EQ(code.self_ns, 250 * kMs);
  const std::string text = reportAsText(result_.report);
  EXPECT_THAT(text, HasSubstr("OWN CODE"));
  EXPECT_THAT(text, HasSubstr("train.py:12"));
  EXPECT_THAT(text, HasSubstr("train.py:3 100 ms (imports)"));
  EXPECT_THAT(text, Not(HasSubstr("feed ")));  // a thread that waits for work
  const std::string html = reportAsHtml(result_.report);
  EXPECT_THAT(html, HasSubstr("<title>Trainer.step: "));
  EXPECT_THAT(html, HasSubstr("&lt;module&gt;"));
}

TEST_F(Code, TheTreeAddsUp) {
  const auto& tree = result_.report.code.tree;
  ASSERT_GT(tree.size(), 3u);
  EXPECT_EQ(tree[0].total_ns, 250 * kMs);
  std::vector<TimeNs> below(tree.size());
  for (std::size_t i = 1; i < tree.size(); ++i) {
    ASSERT_LT(tree[i].parent, i);
    below[tree[i].parent] += tree[i].total_ns;
  }
  for (std::size_t i = 0; i < tree.size(); ++i) EXPECT_LE(below[i], tree[i].total_ns);
  EXPECT_EQ(below[0], tree[0].total_ns);
}

}  // namespace
}  // namespace pitwall::code_test
