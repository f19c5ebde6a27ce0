// Functions on sampled stacks, from a made-up trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "analyzer/analysis/stack_sums.h"
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
  EXPECT_EQ(code.busy_ns, 200 * kMs);
  EXPECT_EQ(code.samples, 25);
  const std::string text = reportAsText(result_.report);
  EXPECT_THAT(text, HasSubstr("FUNCTIONS, by the time that they take themselves"));
  EXPECT_THAT(text, HasSubstr("From 25 sampled stacks"));
  EXPECT_THAT(text, HasSubstr("250 ms, 230 ms are outside recorded operators"));
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

// Traces of stacks alone, of one sample each 10 ms unless a test says otherwise.
class CodeOf : public testing::Test {
 protected:
  using Part = std::pair<StackId, int>;  // so many samples of a stack; the last one counts for nothing

  void SetUp() override { sink_ = createTrace(result_.path = folder_ / "x.pitwall").value(); }
  ProcessId process(int pid, int rank = 0) { return sink_->process({pid, "python3", "", rank}); }
  StackId stack(StackId caller, const char* function, const char* file = "/p/train.py", int line = 1,
                const char* language = "python") {
    return sink_->stack({caller, sink_->frame({function, file, line, language})});
  }
  StackId state(StackId caller, const char* state) { return stack(caller, state, "", 0, kStateLanguage); }
  // Of the process's thread of that tid.
  ThreadId sample(ProcessId process, int tid, const std::vector<Part>& parts, TimeNs every_ns = 10 * kMs) {
    const ThreadId thread = sink_->thread({process, tid, "thread"});
    std::vector<CounterSample> samples;
    for (const auto& [stack, count] : parts) {
      for (int i = 0; i < count; ++i)
        samples.push_back({static_cast<TimeNs>(samples.size()) * every_ns, static_cast<double>(stack.value)});
    }
    samples.push_back({static_cast<TimeNs>(samples.size()) * every_ns, 0});
    sink_->counters(sink_->track({TrackKind::counter, process, thread, {}, "stack", kStackUnit}), samples);
    return thread;
  }
  const CodeReport& code() {
    EXPECT_TRUE(sink_->finish().has_value());
    result_.trace = Trace::open(result_.path).value();
    result_.report = analyzeTrace(*result_.trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).value();
    return result_.report.code;
  }

  test::TempFolder folder_;
  std::unique_ptr<TraceSink> sink_;
  test::Analyzed result_;
};

// A shell starts the program, which has workers that wait for work.
TEST_F(CodeOf, WaitsOfOtherProcessesAreNotTheProgram) {
  sample(process(1), 1, {{state({}, "waiting: child process"), 100}});
  const StackId load = stack({}, "load"),
                wait = state(stack({}, "wait", "/p/connection.py"), "waiting: files");
  // A third of its stacks could not be read.
  sample(process(2), 2, {{stack({}, "train"), 50}, {state(load, "waiting: files"), 16}, {{}, 34}});
  for (int pid = 3; pid < 11; ++pid) sample(process(pid), pid, {{wait, 90}, {stack({}, "decode"), 3}});
  const CodeReport& found = code();
  ASSERT_EQ(found.rows.size(), 3u);
  EXPECT_EQ(found.rows[0].function, "train");
  EXPECT_EQ(found.rows[1].function, "decode");  // work of workers counts
  EXPECT_EQ(found.rows[1].busyNs(), 8 * 30 * kMs);
  EXPECT_EQ(found.rows[2].function, "load");
  EXPECT_EQ(found.rows[2].waiting_ns, 160 * kMs);
  EXPECT_EQ(found.tree[0].total_ns, found.self_ns);
  EXPECT_EQ(found.samples, 50 + 8 * 3 + 16);
}

TEST_F(CodeOf, EachRankHasItsProgram) {
  for (int rank = 0; rank < 3; ++rank)
    sample(process(10 + rank, rank), 10 + rank, {{state(stack({}, "all_reduce"), "waiting: files"), 10}});
  EXPECT_EQ(code().self_ns, 300 * kMs);
}

TEST_F(CodeOf, StatesAloneAreNoSection) {
  sample(process(1), 1, {{state({}, "sleeping"), 10}});
  EXPECT_TRUE(code().rows.empty());
  EXPECT_THAT(reportAsText(result_.report), Not(HasSubstr("Functions, by")));
  EXPECT_THAT(reportAsHtml(result_.report), Not(HasSubstr("FUNCTIONS")));
  EXPECT_DOUBLE_EQ(result_.number("SELECT sum(self_ns) FROM analysis_code"), 100 * kMs);
}

TEST_F(CodeOf, StartUpIsThatOfTheSlowestProcess) {
  const StackId first = stack({}, "<module>", "/p/train.py", 3),
                second = stack({}, "<module>", "/p/train.py", 5);
  sample(process(1, 0), 1, {{first, 12}, {second, 8}});
  sample(process(2, 1), 2, {{first, 14}, {second, 9}, {{}, 40}});
  sink_->iteration({0, 1000 * kMs, 1});
  const CodeReport& found = code();
  EXPECT_EQ(found.startup_ns, 230 * kMs);
  EXPECT_THAT(
      reportAsText(result_.report),
      HasSubstr("Before the first iteration, 230 ms (slowest of 2 processes): train.py:3\n   140 ms,"));
  EXPECT_THAT(reportAsText(result_.report),
              Not(HasSubstr("outside recorded")));  // nothing is recorded otherwise
  EXPECT_DOUBLE_EQ(result_.number("SELECT sum(total_ns) FROM analysis_startup WHERE process = 1"), 200 * kMs);
}

// python3 -m train, python3 -c "...", and a native thread.
TEST_F(CodeOf, StartUpOfModulesAndCommands) {
  const StackId runpy =
      stack(stack({}, "_run_module_as_main", "<frozen runpy>", 198), "_run_code", "<frozen runpy>", 88);
  sample(process(1), 1,
         {{stack(runpy, "<module>", "/p/train.py", 7), 3},
          {stack(stack({}, "<module>", "<string>", 2), "load", "/p/data.py", 9), 2},
          {stack({}, "_start", "/usr/bin/program", 0, "native"), 5}});
  sink_->iteration({0, 1000 * kMs, 1});
  const auto& startup = code().startup;
  ASSERT_EQ(startup.size(), 2u);
  EXPECT_EQ(startup[0].file, "/p/train.py");
  EXPECT_EQ(startup[0].line, 7);
  EXPECT_EQ(startup[1].file, "<string>");
  EXPECT_EQ(startup[1].line, 2);
}

TEST_F(CodeOf, RecordersOfDifferentRates) {
  sink_->meta(meta::kStackHz, "100");
  sample(process(1), 1, {{stack({}, "often"), 10}});
  sample(process(2), 2, {{stack({}, "rarely"), 10}}, 1000 * kMs);
  code();
  EXPECT_DOUBLE_EQ(result_.number("SELECT self_ns FROM analysis_code WHERE function = 'often'"), 100 * kMs);
  EXPECT_DOUBLE_EQ(result_.number("SELECT self_ns FROM analysis_code WHERE function = 'rarely'"),
                   10000 * kMs);
}

TEST_F(CodeOf, EventsThatOverlapCoverEachSampleOnce) {
  const ProcessId process = this->process(1);
  const ThreadId thread = sample(process, 1, {{stack({}, "f"), 100}});
  const std::pair<TimeNs, TimeNs> ranges[] = {{-50, 60},
                                              {100, 100},
                                              {150, 10},
                                              {195, 15},
                                              {400, 0},
                                              {405, 4},
                                              {950, std::numeric_limits<TimeNs>::max() / kMs}};
  std::vector<Event> events;
  for (const auto& [start_ms, dur_ms] : ranges) {
    Event event;
    event.kind = EventKind::operatorRun;
    event.start_ns = event.pushed_ns = event.ready_ns = start_ms * kMs;
    event.dur_ns = dur_ms * kMs;
    events.push_back(event);
  }
  sink_->events(sink_->track({TrackKind::thread, process, thread, {}, "", ""}), events);
  ASSERT_TRUE(sink_->finish().has_value());
  const auto trace = Trace::open(result_.path).value();
  const auto sums = analysis::sumStacks(*trace).value();
  // Of the samples at 0, 10, ... 990 ms: that at 0, those from 100 to 200, and those from 950.
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].sampled_ns, 1000 * kMs);
  EXPECT_EQ(sums[0].stacks.begin()->second.outside_ns, (100 - 1 - 11 - 5) * 10 * kMs);
}

TEST_F(CodeOf, TimesOfADamagedTraceDoNotOverflow) {
  constexpr TimeNs kFirst = std::numeric_limits<TimeNs>::min(), kLast = std::numeric_limits<TimeNs>::max();
  const double f = stack({}, "f").value;
  const CounterSample samples[] = {{kFirst, f}, {-1, f}, {0, f}, {kLast - 1, f}, {kLast, f}};
  sink_->counters(sink_->track({TrackKind::counter, process(1), {}, {}, "stack", kStackUnit}), samples);
  ASSERT_TRUE(sink_->finish().has_value());
  const auto trace = Trace::open(result_.path).value();
  const auto sums = analysis::sumStacks(*trace).value();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].sampled_ns, 2);
}

TEST(FlameChart, ALongNameIsCut) {
  Report report;
  report.code.tree = {{"", "", 0, 10}, {std::string(1'000'000, 'x'), "python", 0, 10}};
  EXPECT_LT(reportAsHtml(report).size(), 40'000u);
}

}  // namespace
}  // namespace pitwall::code_test
