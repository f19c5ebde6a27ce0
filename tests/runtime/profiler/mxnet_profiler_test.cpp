// MXNet's profiler as in its tutorial and its own tests: the file, the objects, and the differences listed in
// docs/profiler.md.
#include "runtime/mxnet_profiler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#include "db/import.h"
#include "tests/runtime/profiler/mxnet_rows.h"
#include "tests/support/memory_sink.h"
#include "tests/support/temp_folder.h"

namespace pitwall::mxnet::mxnet_profiler_test {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;
class MxnetProfilerTest : public testing::Test {
 protected:
  void configure(Values more = {}) {
    Values values{{"filename", file()}, {"aggregate_stats", "True"}};
    values.insert(values.end(), more.begin(), more.end());
    const Status status = profiler_.setConfig(values);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  void run() { ASSERT_TRUE(profiler_.setState("run").has_value()); }
  void stop() { ASSERT_TRUE(profiler_.setState("stop").has_value()); }
  std::string file() const { return (folder_.path() / "profile.json").string(); }
  std::string read() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // As an engine reports an operator.
  void op(const std::string& name, const std::string& layer = "") {
    OperatorFacts facts;
    facts.name = name;
    facts.layer = layer;
    facts.shapes = "2x3->2x3";
    const Ticks now = Profiler::now();
    recorder_.operatorRun({now, now, now, Profiler::now(), 1, recorder_.operatorFacts(facts)});
  }
  // Checks the file with our importer, which rejects text that is not JSON.
  std::size_t importedEvents() {
    test::MemorySink sink;
    const std::string inputs[] = {file()};
    const auto summary = importTrace(inputs, sink);
    if (!summary.has_value()) return ADD_FAILURE() << summary.error().message, 0;
    // No remarks about the file itself; one of our names has a byte that is not text.
    for (const auto& [what, count] : summary->repaired) EXPECT_EQ(what.find("names with"), 0U) << what;
    for (const auto& [what, count] : summary->dropped) EXPECT_EQ(what.find("arguments of"), 0U) << what;
    return sink.all_events.size();
  }

  test::TempFolder folder_;
  Profiler recorder_;
  MxnetProfiler profiler_{recorder_};
};

TEST_F(MxnetProfilerTest, CountsAreRightAndNotDoubled) {
  configure();
  run();
  op("sqrt");
  op("_plus_scalar");
  op("_plus_scalar");
  const std::string table = profiler_.dumps({.reset = true, .sort_by = SortBy::count});
  EXPECT_EQ(rowsOf(table, "operator"), (std::vector<std::string>{"_plus_scalar 2", "sqrt 1"}));
  EXPECT_TRUE(rowsOf(profiler_.dumps(), "operator").empty()) << "reset";
  stop();
  op("sqrt");
  EXPECT_TRUE(rowsOf(profiler_.dumps(), "operator").empty()) << "stopped";
}

// Operators of a device that are open at once, which no thread ran.
TEST_F(MxnetProfilerTest, AsynchronousOperatorsHaveRowsOfTheirOwn) {
  configure();
  run();
  const Ticks now = Profiler::now();
  const std::uint16_t first = recorder_.takeDeviceTrack(1), second = recorder_.takeDeviceTrack(1);
  for (const std::uint16_t track : {first, second})
    recorder_.operatorRun({now, now, now, Profiler::now(), track, {}, 1}, track);
  op("sqrt");
  stop();
  test::MemorySink sink;
  const std::string inputs[] = {file()};
  ASSERT_TRUE(importTrace(inputs, sink).has_value());
  std::set<TrackId> tracks;
  for (const auto& [track, event] : sink.all_events) tracks.insert(track);
  EXPECT_EQ(tracks.size(), 3U);
}

TEST_F(MxnetProfilerTest, PauseHidesAndResumeShows) {
  configure();
  run();
  op("before");
  profiler_.pause();
  op("hidden");
  profiler_.resume();
  op("after");
  EXPECT_EQ(rowsOf(profiler_.dumps({.sort_by = SortBy::count}), "operator"),
            (std::vector<std::string>{"before 1", "after 1"}));
}

TEST_F(MxnetProfilerTest, ObjectsOfADomain) {
  configure();
  run();
  const Domain domain(profiler_, "PythonDomain::test");
  Task task = domain.newTask("task");
  Frame frame = domain.newFrame("frame");
  Event event = newEvent(profiler_, "event");
  Counter counter = domain.newCounter("counter");
  Marker marker = domain.newMarker("marker");
  for (int i = 0; i < 3; ++i) {
    task.start();
    frame.start();
    event.start();
    counter.increment(5);
    counter.decrement(1);
    event.stop();
    std::thread([&] { frame.stop(); }).join();
    task.stop();
    task.stop();  // without a start: no effect
    marker.mark(MarkerScope::thread);
  }
  counter.setValue(7);
  const std::string table = profiler_.dumps({.sort_by = SortBy::count});
  EXPECT_EQ(rowsOf(table, "PythonDomain::test"), (std::vector<std::string>{"counter 7", "task 3"}));
  EXPECT_EQ(rowsOf(table, "PythonDomain::test,frame"), (std::vector<std::string>{"frame 3"}));
  EXPECT_EQ(rowsOf(table, "event"), (std::vector<std::string>{"event 3"}));
  EXPECT_NE(table.find("PythonDomain::test,instant_marker\n"), std::string::npos);
  ASSERT_TRUE(profiler_.dump().has_value());
  EXPECT_GT(importedEvents(), 0U);
  const std::string text = read();
  for (const char* part : {"\"ph\":\"b\"", "\"ph\":\"e\"", "\"ph\":\"(\"", "\"ph\":\")\"", "\"s\":\"t\"",
                           "\"args\":{\"counter\":7}"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST_F(MxnetProfilerTest, CustomOperatorsHaveTheirPrefix) {
  configure();
  run();
  {
    const CustomOperator custom(profiler_, "MyAddOne");
    op("_plus_scalar");
    { const CustomOperator inner(profiler_, "MySigmoid", CustomOperator::Pass::backward); }
    op("_copyto");
  }
  op("_plus_scalar");
  const std::string table = profiler_.dumps({.sort_by = SortBy::count});
  auto custom = rowsOf(table, "Custom Operator");
  std::sort(custom.begin(), custom.end());
  EXPECT_EQ(custom,
            (std::vector<std::string>{"MyAddOne::_copyto 1", "MyAddOne::_plus_scalar 1",
                                      "MyAddOne::pure_python 1", "_backward_MySigmoid::pure_python 1"}));
  EXPECT_EQ(rowsOf(table, "operator"), (std::vector<std::string>{"_plus_scalar 1"}));
}

TEST_F(MxnetProfilerTest, TheFileIsValidAtEveryFlushAndNeverShrinks) {
  configure();
  run();
  std::uintmax_t size = 0;
  for (int i = 0; i < 5; ++i) {
    op("a \"quoted\" name\n\xff of " + std::string(300, 'x'), "conv1");
    ASSERT_TRUE(profiler_.dump(false).has_value());
    EXPECT_GE(std::filesystem::file_size(file()), size);
    size = std::filesystem::file_size(file());
    EXPECT_EQ(importedEvents(), static_cast<std::size_t>(i + 1));
    EXPECT_FALSE(profiler_.dumps().empty());
  }
  ASSERT_TRUE(profiler_.dump().has_value());
  const std::string text = read();
  EXPECT_NE(text.find("\"layer\":\"conv1\",\"shapes\":\"2x3->2x3\""), std::string::npos);
  EXPECT_NE(text.find("\"dur\":"), std::string::npos);
  EXPECT_NE(text.find(std::string(300, 'x')), std::string::npos) << "names are not cut";
}

TEST_F(MxnetProfilerTest, ASecondRunAndAnotherConfigurationGiveAValidFileToo) {
  configure({{"continuous_dump", "0"}});
  for (int round = 0; round < 2; ++round) {
    run();
    op("sqrt");
    EXPECT_FALSE(profiler_.dumps().empty());
    ASSERT_TRUE(profiler_.dump().has_value()) << "dumps() has not finished the file";
    EXPECT_EQ(importedEvents(), 1U);
    stop();
  }
  configure();  // after dump(): MXNet gives an error
  run();
  op("sqrt");
  const std::string other = folder_ / "other.json";
  configure({{"filename", other}});  // in the middle
  op("sqrt");
  op("sqrt");
  EXPECT_EQ(importedEvents(), 1U);
  ASSERT_TRUE(profiler_.dump().has_value());
  EXPECT_GT(std::filesystem::file_size(other), std::filesystem::file_size(file()));
}

// Pending output takes bounded memory, also without a dump.
TEST_F(MxnetProfilerTest, MuchIsWrittenAlsoWithoutContinuousDump) {
  configure({{"continuous_dump", "0"}});
  run();
  for (int i = 0; i < 10'000; ++i) op("an operator with a name of some length");
  EXPECT_TRUE(recorder_.flush().has_value());
  EXPECT_GT(std::filesystem::file_size(file()), 1U << 20);
  EXPECT_TRUE(profiler_.dump().has_value());
  EXPECT_EQ(importedEvents(), 10'000U);
}

TEST_F(MxnetProfilerTest, DoubledEventsAsMxnetWritesThem) {
  configure({{"doubled_events", "1"}});
  run();
  op("sqrt");
  ASSERT_TRUE(profiler_.dump().has_value());
  const std::string text = read();
  for (const char* phase : {"\"ph\":\"B\"", "\"ph\":\"E\"", "\"ph\":\"b\"", "\"ph\":\"e\""})
    EXPECT_NE(text.find(phase), std::string::npos) << phase;
  EXPECT_EQ(text.find("\"ph\":\"X\""), std::string::npos);
}

// Once as we write an operator, once as MXNet does.
TEST_F(MxnetProfilerTest, ImportTakesBackWhatIsKnownOfAnOperator) {
  const OperatorFacts known{"FullyConnected", "fc1",      "64x800,500x800->64x500", "float32",
                            "onednn",         "gemm:jit", Phase::forward,           51'200'000,
                            1'804'800,        128'000};
  const OperatorFacts update{"sgd_update", "fc1", "", "", "", "", Phase::update, 0, 0, 0};
  for (const char* doubled : {"0", "1"}) {
    configure({{"doubled_events", doubled}});
    run();
    for (const auto& facts : {known, update}) {
      const Ticks now = Profiler::now();
      recorder_.operatorRun({now, now, now, Profiler::now(), 1, recorder_.operatorFacts(facts)});
    }
    ASSERT_TRUE(profiler_.dump().has_value());
    test::MemorySink sink;
    const std::string inputs[] = {file()};
    const auto summary = importTrace(inputs, sink);
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    EXPECT_TRUE(summary->dropped.empty()) << summary->dropped.begin()->first;
    EXPECT_EQ(sink.facts, (std::vector<OperatorFacts>{known, update})) << doubled;
    stop();
  }
}

TEST_F(MxnetProfilerTest, MemoryByDeviceAndPool) {
  configure();
  run();
  const SiteId weights = recorder_.site("memory live: weights|bytes", EventKind::scope);
  const SiteId data = recorder_.site("memory live: data|bytes", EventKind::scope);
  recorder_.counter(weights, 4000);
  recorder_.counter(recorder_.site("memory reserved: cpu/0|bytes", EventKind::scope), 8000);
  EXPECT_TRUE(recorder_.flush().has_value());
  recorder_.counter(data, 1000);
  recorder_.counter(recorder_.site("memory live: cpu/1 data|bytes", EventKind::scope), 3000);
  const std::string table = profiler_.dumps();
  EXPECT_NE(table.find("Memory: cpu/1                           1           3.0000           3.0000"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("Memory: cpu/1 data "), std::string::npos) << table;
  EXPECT_NE(table.find("Memory: cpu/0                           2           4.0000           5.0000"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("Memory: cpu/0 weights                   1           4.0000"), std::string::npos)
      << table;
  EXPECT_NE(table.find("Pool: cpu/0                             1           8.0000"), std::string::npos)
      << table;
}

// Each tag has its own counter, and they are written one after the other: the sum is still correct at each
// moment.
TEST_F(MxnetProfilerTest, TheDevicesMemoryIsTheSumOfTheMoment) {
  configure();
  run();
  const SiteId weights = recorder_.site("memory live: weights|bytes", EventKind::scope);
  const SiteId data = recorder_.site("memory live: data|bytes", EventKind::scope);
  for (int i = 0; i < 3; ++i) {  // never both at once
    recorder_.counter(weights, 4000);
    recorder_.counter(weights, 0);
    recorder_.counter(data, 3000);
    recorder_.counter(data, 0);
  }
  const std::string table = profiler_.dumps();
  EXPECT_NE(table.find("Memory: cpu/0                          12           0.0000           4.0000"),
            std::string::npos)
      << table;
}

// As MXNet's counters of its C API: calls so far, and how many are in progress.
TEST_F(MxnetProfilerTest, ApiCallsAreCounted) {
  configure({{"profile_all", "1"}});
  run();
  const SiteId wait = recorder_.site("wait for all", EventKind::wait);
  const Ticks begin = Profiler::now();
  const auto span = [&](Ticks from, Ticks to) { recorder_.span(wait, begin + from, begin + to); };
  while (Profiler::now() < begin + 600'000) {
  }
  span(200'000, 300'000);  // inside of the next one, as another thread's would be
  span(100'000, 400'000);
  span(500'000, 600'000);
  const std::string table = profiler_.dumps();
  EXPECT_NE(table.find("wait for all                            3"), std::string::npos) << table;
  EXPECT_NE(table.find("MXNet C API Calls                       3           0.0030           0.0010"),
            std::string::npos)
      << table;
  EXPECT_NE(
      table.find("MXNet C API Concurrency                 6           0.0000           0.0000           "
                 "0.0020"),
      std::string::npos)
      << table;
  ASSERT_TRUE(profiler_.dump().has_value());
  EXPECT_NE(read().find("\"args\":{\"MXNet C API Concurrency\":2}"), std::string::npos);
}

TEST_F(MxnetProfilerTest, ModesLeaveOutWhatTheySay) {
  configure({{"profile_imperative", "0"}, {"profile_api", "0"}});
  run();
  op("sqrt");
  recorder_.span(recorder_.site("wait for all", EventKind::wait), Profiler::now(), Profiler::now());
  EXPECT_TRUE(rowsOf(profiler_.dumps(), "operator").empty());
  EXPECT_TRUE(rowsOf(profiler_.dumps(), "MXNET_C_API").empty());
  configure({{"profile_imperative", "0"}, {"profile_all", "1"}});
  op("sqrt");
  recorder_.span(recorder_.site("wait for all", EventKind::wait), Profiler::now(), Profiler::now());
  EXPECT_EQ(rowsOf(profiler_.dumps(), "operator").size(), 1U);
  EXPECT_EQ(profiler_.dumps().find("MXNET_C_API") == std::string::npos, false);
}

TEST_F(MxnetProfilerTest, MistakesAreMessages) {
  const auto says = [&](const Values& values, const std::string& part) {
    const Status status = profiler_.setConfig(values);
    ASSERT_FALSE(status.has_value());
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  };
  says({{"profil_all", "1"}}, "there is no 'profil_all'");
  says({{"profile_all", "yes"}}, "true or false is needed");
  says({{"dump_period", "0"}}, "seconds above 0");
  says({{"profile_process", "server"}}, "each process records itself");
  EXPECT_FALSE(profiler_.setState("go").has_value());
  EXPECT_EQ(profiler_.dump().error().message, "Profiler hasn't been run. Config and start profiler first");
  EXPECT_EQ(profiler_.dumps({.reset = true}), "") << "without aggregate_stats";
  configure({{"filename", (folder_.path() / "none" / "profile.json").string()}});
  EXPECT_FALSE(profiler_.setState("run").has_value());
  op("sqrt");
  EXPECT_EQ(rowsOf(profiler_.dumps(), "operator").size(), 1U) << "the statistics are made all the same";
}

TEST_F(MxnetProfilerTest, WithARecordingThatIsThereAlready) {
  ASSERT_TRUE(recorder_.start(std::make_unique<test::MemorySink>()).has_value());
  op("before");
  configure();
  run();
  op("sqrt");
  stop();
  EXPECT_TRUE(recorder_.isRecording()) << "it was not ours to stop";
  EXPECT_EQ(rowsOf(profiler_.dumps(), "operator"), (std::vector<std::string>{"sqrt 1"}));
  ASSERT_TRUE(recorder_.stop().has_value());
}

// Threads that record while others toggle: MXNet's check fails there.
TEST_F(MxnetProfilerTest, StatesMayChangeWhileThreadsRecord) {
  configure();
  std::atomic<bool> done{false};
  std::jthread busy([&] {
    Task task = Domain(profiler_, "d").newTask("t");
    while (!done) {
      task.start();
      op("sqrt");
      task.stop();
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // its records are written each time
    }
  });
  for (int i = 0; i < 10; ++i) {
    run();
    profiler_.pause();
    profiler_.resume();
    EXPECT_TRUE(profiler_.dump(false).has_value());
    stop();
  }
  done = true;
}

TEST(ProfilerModeTest, TheDocumentedValuesAndTheBits) {
  EXPECT_FALSE(parseProfilerMode("0")->imperative);
  EXPECT_TRUE(parseProfilerMode("0")->symbolic);
  EXPECT_TRUE(parseProfilerMode("1")->imperative);
  EXPECT_FALSE(parseProfilerMode("13")->imperative);
  EXPECT_TRUE(parseProfilerMode("13")->memory);
  EXPECT_TRUE(parseProfilerMode("15")->imperative);
  EXPECT_NE(parseProfilerMode("1")->explanation.find("as documented"), std::string::npos);
  EXPECT_NE(parseProfilerMode("13")->explanation.find("sum of bits"), std::string::npos);
  EXPECT_FALSE(parseProfilerMode("16").has_value());
  EXPECT_FALSE(parseProfilerMode("all").has_value());
}

}  // namespace
}  // namespace pitwall::mxnet::mxnet_profiler_test
