// The critical path over threads, launches and streams, on small hand-written traces and on random ones.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "analyzer/analysis.h"
#include "db/reader.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::test::critical_path_test {
namespace {

class Path {
 public:
  explicit Path(const std::string& text) {
    EXPECT_TRUE(makeTraceFile(text, folder_ / "t.pitwall").has_value());
    auto trace = Trace::open(folder_ / "t.pitwall");
    EXPECT_TRUE(trace.has_value());
    trace_ = std::move(trace).value();
    auto report = analyzeTrace(*trace_, {.rule_folders = {PITWALL_RULE_FOLDER}});
    EXPECT_TRUE(report.has_value());
    summary = std::move(report.value().critical_path);
  }
  PathSummary summary;  // of the report

  std::string text(const std::string& sql) const {
    auto rows = trace_->query(sql);
    EXPECT_TRUE(rows.has_value()) << sql;
    std::string out;
    for (const auto& row : rows->rows) {
      for (const auto& value : row) {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) out += fmt::format("{} ", *integer);
        if (const auto* real = std::get_if<double>(&value)) out += fmt::format("{} ", *real);
        if (const auto* text = std::get_if<std::string>(&value)) out += *text + " ";
      }
      if (!out.empty()) out.back() = '\n';
    }
    return out;
  }
  std::int64_t number(const std::string& sql) const { return std::atoll(text(sql).c_str()); }
  // Steps in us: "call cudaLaunchKernel 5".
  std::string steps() const {
    return text(
        "SELECT part, CASE title WHEN part THEN '-' ELSE title END, dur_ns / 1000 FROM "
        "analysis_critical_step");
  }
  std::int64_t slackUs(const std::string& title) const {
    return number(fmt::format("SELECT slack_min_ns / 1000 FROM analysis_critical WHERE title = '{}'", title));
  }

 private:
  const TempFolder folder_;
  std::unique_ptr<Trace> trace_;
};

TEST(CriticalPath, AnIdleStreamWaitsForItsLaunch) {
  const Path path(
      "work kernel first 20us 10us launch=5us\n"
      "work kernel second 40us 10us launch=32us\n"
      "call cudaDeviceSynchronize 38us 15us\n");
  EXPECT_EQ(path.steps(),
            "call cudaLaunchKernel 5\nnothing - 22\ncall cudaLaunchKernel 5\nlaunch delay - 3\n"
            "kernel second 10\ncall cudaDeviceSynchronize 3\n");
  EXPECT_EQ(path.slackUs("second"), 0);
  EXPECT_EQ(path.slackUs("first"), 2) << "until the second's launch";
  EXPECT_EQ(path.number("SELECT host_ns + nothing_ns FROM analysis_critical_path"), 35'000);
}

// No thread runs them: one that begins after another has ended did not wait for it.
TEST(CriticalPath, AsynchronousOperatorsDoNotWaitForEachOther) {
  const Path path(
      "op - Produce forward 0 10us\n"
      "op - First forward 10us 20us on=cpu_1_asynchronous\n"
      "op - Second forward 40us 20us pushed=35us on=cpu_1_asynchronous\n");
  const auto steps = [&path](const char* name) {
    return path.number(
        fmt::format("SELECT count(*) FROM analysis_critical_step WHERE title LIKE '%{}%'", name));
  };
  EXPECT_EQ(steps("Second"), 1);
  EXPECT_EQ(steps("First"), 0);
  EXPECT_EQ(path.number("SELECT count(*) FROM analysis_thread WHERE thread LIKE '%worker%'"), 1);
  EXPECT_EQ(path.number("SELECT count(*) FROM analysis_thread WHERE thread LIKE '%asynchronous%'"), 0);
}

TEST(CriticalPath, QueuedWorkWaitsForItsStream) {
  const Path path(
      "work kernel first 20us 30us launch=5us\n"
      "work kernel second 52us 20us launch=10us\n"
      "call cudaStreamSynchronize 20us 55us\n");
  EXPECT_EQ(path.steps(),
            "call cudaLaunchKernel 5\nlaunch delay - 10\nkernel first 30\ndevice delay - 2\n"
            "kernel second 20\ncall cudaStreamSynchronize 3\n");
  EXPECT_EQ(path.slackUs("first"), 0);
  EXPECT_EQ(path.text("SELECT missing FROM analysis_critical_path"), "\n");
}

TEST(CriticalPath, AStreamMayWaitForAnother) {
  const std::string two =
      "work kernel first 20us 30us launch=5us stream=1\n"
      "work kernel second 51us 10us launch=10us stream=2\n";
  // Where streams wait for each other's events, the one that ended just before was waited for.
  const Path waiting(two + "call cudaStreamWaitEvent 16us 1us\ncall cudaStreamSynchronize 20us 45us\n");
  EXPECT_NE(waiting.steps().find("kernel first 30\ndevice delay - 1\nkernel second 10"), std::string::npos);
  EXPECT_EQ(waiting.slackUs("first"), 0);
  const Path apart(two + "call cudaStreamSynchronize 20us 45us\n");
  EXPECT_NE(apart.steps().find("launch delay - 36\nkernel second 10"), std::string::npos);
  EXPECT_EQ(apart.slackUs("first"), 15) << "until the end";
}

TEST(CriticalPath, NestedEventsAndThreads) {
  // The backward thread continues where the main thread had nothing more to do.
  const Path path(
      "call outer 0us 20us\ncall inner 5us 5us\n"
      "call backward 30us 10us on=autograd\n"
      "work kernel k 36us 30us launch=34us call=2us\n"
      "op - step none 70us 10us on=main\n");
  EXPECT_EQ(path.steps(),
            "call outer 5\ncall inner 5\ncall outer 10\nnothing - 14\ncall cudaLaunchKernel 2\n"
            "nothing - 34\noperator step 10\n");
  // A copy that its call waits for.
  const Path copy(
      "work copy Memcpy~HtoD 12us 20us launch=10us call=24us\nwork kernel k 60us 5us launch=40us\n");
  EXPECT_EQ(copy.steps(),
            "call cudaMemcpyAsync 2\ncopy Memcpy HtoD 20\ncall cudaMemcpyAsync 2\nnothing - 6\n"
            "call cudaLaunchKernel 5\nlaunch delay - 15\nkernel k 5\n");
  EXPECT_EQ(copy.slackUs("Memcpy HtoD"), 0);
}

TEST(CriticalPath, WhatIsMissingIsSaid) {
  const Path device("work kernel a 0us 10us\nwork kernel b 12us 10us\nwork kernel c 100us 10us stream=2\n");
  EXPECT_EQ(device.steps(), "kernel a 10\ndevice delay - 2\nkernel b 10\nnothing - 78\nkernel c 10\n");
  EXPECT_NE(
      device.text("SELECT missing FROM analysis_critical_path").find("no calls or operators of host threads"),
      std::string::npos);
  const Path some("work kernel a 10us 10us launch=0us\nwork kernel b 22us 10us\ncall cudaMalloc 40us 2us\n");
  const auto said = some.text("SELECT missing FROM analysis_critical_path");
  EXPECT_NE(said.find("1 of 2 kernels and copies have no launch"), std::string::npos) << said;
  EXPECT_NE(said.find("no call that waits for a device"), std::string::npos);
  const Path host("op - Convolution forward 0us 10us\nop - Pooling forward 10us 5us\n");
  EXPECT_NE(host.text("SELECT missing FROM analysis_critical_path").find("no device work"),
            std::string::npos);
}

// A program of one thread that launches kernels on streams and now and then waits for one of them; what its
// times would be if one kernel took longer follows from the rules that made them.
struct Program {
  struct Launch {
    std::int64_t stream = 0, gap = 0, call = 0, lag = 0, length = 0;  // ns; stream: a number
    bool waits = false;                                               // for all, after it
    bool in_trace = true;                                             // the launch is in the trace
  };
  std::vector<Launch> launches;
  std::string text;  // of the trace, made by run() with nothing late

  std::int64_t run(std::size_t late = SIZE_MAX, std::int64_t by = 0) {
    std::int64_t now = 0, end = 0, ends[3] = {}, last_end = 0;
    if (late == SIZE_MAX) text.clear(), released_.assign(launches.size(), SIZE_MAX);
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const auto& launch = launches[i];
      const auto called = now + launch.gap;
      now = called + launch.call;
      auto& free = ends[launch.stream];
      const auto start = std::max(called, free) + launch.call + launch.lag;
      free = start + launch.length + (i == late ? by : 0);
      all.push_back(free);
      last_end = std::max(last_end, free);
      if (late == SIZE_MAX) {
        text +=
            fmt::format("work kernel k{} {}ns {}ns stream={}", i, start, launch.length, launch.stream + 1);
        text += launch.in_trace ? fmt::format(" launch={}ns call={}ns\n", called, launch.call) : "\n";
      }
      if (launch.waits) {
        // For the work that ended last when nothing was late.
        if (late == SIZE_MAX && last_end > now + 1000)
          released_[i] = static_cast<std::size_t>(std::max_element(all.begin(), all.end()) - all.begin());
        const auto begun = now + 1000;
        const auto ready = released_[i] == SIZE_MAX ? begun : std::max(begun, all[released_[i]]);
        now = ready + 2000;
        if (late == SIZE_MAX)
          text += fmt::format("call cudaDeviceSynchronize {}ns {}ns\n", begun, now - begun);
      }
      end = std::max({end, now, last_end});
    }
    return end;
  }

 private:
  std::vector<std::size_t> released_;
};

Program randomProgram(unsigned seed, bool all_launches) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
  };
  Program program;
  for (int i = 0; i < 60; ++i) {
    program.launches.push_back({pick(0, 2), pick(0, 9000), pick(1000, 6000), pick(1000, 5000),
                                pick(1000, 30'000), pick(0, 7) == 0, all_launches || pick(0, 9) > 0});
  }
  return program;
}

TEST(CriticalPath, StepsFollowEachOtherAndSumToTheSpan) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    auto program = randomProgram(seed, seed % 2 == 0);
    const auto end = program.run();
    const Path path(program.text);
    EXPECT_EQ(path.number("SELECT begin_ns + span_ns FROM analysis_critical_path"), end);
    EXPECT_EQ(path.number(
                  "SELECT count(*) FROM (SELECT start_ns, lag(start_ns + dur_ns) OVER (ORDER BY start_ns) AS "
                  "before FROM analysis_critical_step) WHERE before IS NOT NULL AND before <> start_ns"),
              0)
        << "without gaps";
    for (const char* whole :
         {"SELECT sum(dur_ns) FROM analysis_critical_step", "SELECT sum(on_path_ns) FROM analysis_critical",
          "SELECT device_ns + host_ns + delay_ns + nothing_ns FROM analysis_critical_path"})
      EXPECT_EQ(path.number(whole), path.summary.span_ns) << whole;
    TimeNs rows = 0;
    for (const auto& row : path.summary.rows) rows += row.on_path_ns;
    EXPECT_EQ(rows, path.summary.span_ns) << "of the report too";
    EXPECT_EQ(path.number("SELECT count(*) FROM analysis_critical WHERE on_path_ns < 0 OR slack_min_ns < 0"),
              0);
    EXPECT_EQ(
        path.number("SELECT count(*) FROM analysis_critical WHERE part = 'kernel' AND on_path_ns > 0 AND "
                    "slack_min_ns > 0"),
        0)
        << "what the path crosses has no time to spare";
    EXPECT_GT(path.number("SELECT count(*) FROM analysis_critical WHERE part = 'kernel' AND on_path_ns > 0"),
              0);
  }
}

TEST(CriticalPath, SlackIsWhatAReplayLeaves) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    auto program = randomProgram(100 + seed, true);
    const auto end = program.run();
    const Path path(program.text);
    for (std::size_t i = 0; i < program.launches.size(); ++i) {
      const auto slack =
          path.number(fmt::format("SELECT slack_min_ns FROM analysis_critical WHERE title = 'k{}'", i));
      EXPECT_EQ(program.run(i, slack), end) << "k" << i << " may end so much later: " << slack;
      EXPECT_EQ(program.run(i, slack + 1), end + 1) << "k" << i << ", but not a nanosecond more: " << slack;
    }
  }
}

// Two operators of a bulk and an update that completes later, on a GPU: dependents start when the device is done.
constexpr const char* kEngineWithDevice =
    "call ioctl 0 5us\nspan wait 15us 300us\n"
    "span bulk 20us 20us on=gpu0_worker_0\n"
    "op a Convolution forward 20us 8us pushed=10us on=gpu0_worker_0\n"
    "op b Pooling forward 28us 8us pushed=11us after=a on=gpu0_worker_0\n"
    "work kernel conv 50us 100us launch=22us call=4us of=a calls=calls_of_gpu0_worker_0\n"
    "work kernel pool 150us 100us launch=30us call=4us of=b calls=calls_of_gpu0_worker_0\n"
    "op c sgd_mom_update update 260us 45us pushed=12us after=a on=gpu_0_asynchronous\n"
    "work kernel sgd 270us 30us launch=262us call=4us of=c calls=calls_of_gpu0_worker_0\n"
    "op d Reshape none 256us 2us pushed=14us on=gpu0_worker_1\n";

TEST(CriticalPath, GoesThroughTheDeviceWorkOfTheEnginesOperators) {
  const Path path(kEngineWithDevice);
  EXPECT_EQ(path.steps(),
            "call ioctl 5\nnothing - 5\nengine overhead - 10\noperator a Convolution 2\n"
            "call cudaLaunchKernel 4\nlaunch delay - 24\nkernel conv 100\nkernel pool 100\n"
            "engine overhead - 10\noperator c sgd_mom_update 2\ncall cudaLaunchKernel 4\nlaunch delay - 4\n"
            "kernel sgd 30\ncall wait 15\n");
  EXPECT_EQ(path.slackUs("pool"), 0) << "the update uses the result of its bulk";
  EXPECT_EQ(path.slackUs("sgd"), 0);
  EXPECT_GT(path.slackUs("d Reshape"), 0);
  EXPECT_EQ(
      path.number("SELECT count(*) FROM analysis_critical_step s JOIN event e ON e.track = s.track_id AND "
                  "e.start_ns <= s.start_ns AND e.end_ns >= s.start_ns + s.dur_ns AND e.name = s.title "
                  "WHERE s.part IN ('call', 'kernel')"),
      7)
      << "each step names the track of its event";
}

// The second operator is started on another stream before the work that it uses has ended.
TEST(CriticalPath, GoesThroughTheWorkThatAnOperatorAheadWaitsFor) {
  const Path path(
      "call ioctl 0 5us\nspan wait 15us 300us\n"
      "op a Convolution forward 20us 130us pushed=10us on=gpu_0_asynchronous\n"
      "work kernel conv 50us 100us launch=22us call=4us of=a calls=calls_of_gpu0_worker_0 stream=1\n"
      "op c Convolution forward 150us 145us pushed=12us after=a on=gpu_0_asynchronous_2\n"
      "work kernel next 152us 143us launch=40us call=4us of=c calls=calls_of_gpu0_worker_1 stream=2\n");
  EXPECT_THAT(path.steps(), ::testing::HasSubstr("kernel conv 100\ndevice delay - 2\nkernel next 143\n"));
  EXPECT_EQ(path.slackUs("conv"), 0);
}

}  // namespace
}  // namespace pitwall::test::critical_path_test
