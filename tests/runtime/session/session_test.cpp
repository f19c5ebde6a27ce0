// The session: opening, invalid settings, threads of operators, the end.
#include "runtime/session.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "db/meta.h"
#include "runtime/mxnet_profiler.h"
#include "tests/runtime/session/session_fixture.h"

namespace pitwall::session_test {
namespace {

TEST_F(SessionTest, OpensWithDefaults) {
  const auto session = Session::open();
  ASSERT_TRUE(session.has_value()) << session.error().message;
  EXPECT_FALSE((*session)->profiler().isRecording());
  EXPECT_EQ((*session)->engine().type(), EngineType::threadedPerDevice);
  EXPECT_EQ((*session)->backend().name(), backendNames().front());
  const auto block = (*session)->storage().allocate(100, MemoryTag::data);
  EXPECT_TRUE(block.has_value());
}

TEST_F(SessionTest, RefusesABadEngineType) {
  const Env env("MXNET_ENGINE_TYPE", "Foo");
  const std::string text = refusal();
  EXPECT_NE(text.find("MXNET_ENGINE_TYPE"), std::string::npos) << text;
  EXPECT_NE(text.find("Foo"), std::string::npos) << text;
  EXPECT_NE(text.find("ThreadedEnginePerDevice"), std::string::npos) << text;
}

TEST_F(SessionTest, RefusesBadWorkerCounts) {
  for (const char* value : {"0", "abc", "-3", "1.5"}) {
    const Env env("MXNET_CPU_WORKER_NTHREADS", value);
    const std::string text = refusal();
    EXPECT_NE(text.find("MXNET_CPU_WORKER_NTHREADS"), std::string::npos) << text;
    EXPECT_NE(text.find(value), std::string::npos) << text;
  }
}

TEST_F(SessionTest, RefusesAnUnknownBackendAndUnknownSettings) {
  SessionOptions options;
  options.backend = "abacus";
  EXPECT_NE(refusal(options).find("abacus"), std::string::npos);
  options = {};
  options.settings = {{"MXNET_NO_SUCH_THING", "1"}};
  EXPECT_NE(refusal(options).find("MXNET_NO_SUCH_THING"), std::string::npos);
}

TEST_F(SessionTest, TheEnvironmentWinsOverTheProgram) {
  SessionOptions options;
  options.settings = {{"MXNET_ENGINE_TYPE", "NaiveEngine"}};
  options.backend = "null";
  EXPECT_EQ(open(options)->engine().type(), EngineType::naive);
  const Env engine("MXNET_ENGINE_TYPE", "ThreadedEngine");
  const Env backend("PITWALL_BACKEND", "reference");
  const auto session = open(options);
  EXPECT_EQ(session->engine().type(), EngineType::threaded);
  EXPECT_EQ(session->backend().name(), "reference");
}

TEST_F(SessionTest, WithoutMkldnnTheReferenceComputes) {
  const Env env("MXNET_MKLDNN_ENABLED", "0");
  const auto session = Session::open();
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ((*session)->backend().name(), "reference");
}

TEST_F(SessionTest, OnednnEnabledIsAnotherNameOfMkldnnEnabled) {
  const Env env("MXNET_ONEDNN_ENABLED", "0");
  const auto nameOfBackend = [] { return std::string((*Session::open())->backend().name()); };
  EXPECT_EQ(nameOfBackend(), "reference");
  const Env wins("MXNET_MKLDNN_ENABLED", "1");
  EXPECT_EQ(nameOfBackend(), "onednn");
}

TEST_F(SessionTest, TunablesOutOfRangeKeepTheDefault) {
  const Env low("PITWALL_TUNE_low", "7");
  const Env text("PITWALL_TUNE_text", "many");
  testing::internal::CaptureStderr();
  {
    const auto session = open();
    EXPECT_EQ(session->tunable("low", 16, {8, 512}), 16);
    EXPECT_EQ(session->tunable("text", 3), 3);
    EXPECT_EQ(session->tunable("unset", 5), 5);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("PITWALL_TUNE_low=7"), std::string::npos) << said;
  EXPECT_NE(said.find("8 to 512"), std::string::npos) << said;
  EXPECT_NE(said.find("PITWALL_TUNE_text"), std::string::npos) << said;
}

class OpenMpThreads : public SessionTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Engines, OpenMpThreads,
                         testing::Values("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"));

TEST_P(OpenMpThreads, OfAnOperatorFollowTheSettings) {
  const int mine = omp_get_max_threads();
  const Env engine("MXNET_ENGINE_TYPE", GetParam());
  for (const int limit : {1, 3}) {
    const Env max("MXNET_OMP_MAX_THREADS", std::to_string(limit));
    const Env trace_env("PITWALL_TRACE", path_);
    const auto session = open();
    std::atomic<int> seen{0};
    session->engine().push(operatorThat([&seen] {
      seen = omp_get_max_threads();
      return Status{};
    }));
    ASSERT_TRUE(session->finish().has_value());
    EXPECT_LE(seen.load(), limit);
    EXPECT_EQ(trace()->meta(meta::kOpenMpThreads), std::to_string(seen.load())) << "what the trace says";
    if (std::string(GetParam()) != "NaiveEngine") {
      EXPECT_EQ(omp_get_max_threads(), mine) << "the program's own OpenMP code is left alone";
    }
  }
  omp_set_num_threads(mine);
}

TEST_F(SessionTest, FinishGivesTheErrorThatNoWaitReported) {
  const auto session = open();
  session->engine().push(operatorThat([] { return Status(fail(ErrorCode::internal, "operator broke")); }));
  const Status status = session->finish();
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("operator broke"), std::string::npos);
  EXPECT_TRUE(session->finish().has_value()) << "reported once";
}

TEST_F(SessionTest, TheDestructorTellsOfAnUnseenError) {
  testing::internal::CaptureStderr();
  {
    const auto session = open();
    session->engine().push(operatorThat([] { return Status(fail(ErrorCode::internal, "operator broke")); }));
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("operator broke"), std::string::npos);
}

// The scheduling of 60 operators, in the order they ran; some bulked, some not.
std::vector<std::pair<int, bool>> scheduleOf(Session& session) {
  std::vector<std::pair<int, bool>> seen;
  Engine& engine = session.engine();
  const Variable variable = engine.newVariable();
  const Variable writes[] = {variable};
  const auto push = [&](int i) {
    engine.push({.run = [&seen, i](const RunContext& context) -> Status {
                   seen.emplace_back(i, context.is_bulk);
                   return {};
                 },
                 .writes = writes});
  };
  for (int i = 0; i < 20; ++i) push(i);
  {
    const BulkScope bulk(engine, 15);
    for (int i = 20; i < 60; ++i) push(i);
  }
  EXPECT_TRUE(engine.waitForAll().has_value());
  engine.deleteVariable(variable);
  return seen;
}

TEST_F(SessionTest, RecordingAndAggregateStatisticsChangeNoBulkAndNoOrder) {
  const auto plain = scheduleOf(*open());
  ASSERT_EQ(plain.size(), 60U);
  EXPECT_EQ(std::count_if(plain.begin(), plain.end(), [](const auto& op) { return op.second; }), 40);
  SessionOptions recorded;
  recorded.trace_path = path_;
  const auto session = open(recorded);
  const std::pair<std::string, std::string> config[] = {
      {"profile_all", "1"}, {"aggregate_stats", "1"}, {"filename", folder_ / "profile.json"}};
  ASSERT_TRUE(session->mxnetProfiler().setConfig(config).has_value());
  ASSERT_TRUE(session->mxnetProfiler().setState("run").has_value());
  EXPECT_EQ(scheduleOf(*session), plain);
  const std::string table = session->mxnetProfiler().dumps();
  EXPECT_NE(table.find("operator                               60 "), std::string::npos) << table;
}

TEST_F(SessionTest, MxnetsProfilerStartsWithTheProgram) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  {
    const Env autostart("MXNET_PROFILER_AUTOSTART", "1");
    testing::internal::CaptureStderr();
    for (const char* mode : {"", "0", "1"}) {
      const Env chosen("MXNET_PROFILER_MODE", mode);
      const auto session = open();
      EXPECT_TRUE(session->mxnetProfiler().isRunning());
      (void)scheduleOf(*session);
      EXPECT_TRUE(session->finish().has_value());
      std::ifstream file("profile.json");
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      EXPECT_EQ(text.find("\"cat\":\"operator\"") != std::string::npos, std::string(mode) != "0") << text;
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("MXNET_PROFILER_MODE=0 records only the operators of symbolic graphs"),
              std::string::npos);
    EXPECT_NE(said.find("MXNET_PROFILER_MODE=1 records all operators"), std::string::npos);
  }
  std::filesystem::current_path(before);
}

TEST_F(SessionTest, SeveralOneAfterAnotherAndAtOnce) {
  for (int i = 0; i < 3; ++i) {
    SessionOptions options;
    options.trace_path = path_;
    const auto one = open(options), two = open();
    EXPECT_TRUE(one->profiler().isRecording());
    EXPECT_FALSE(two->profiler().isRecording());
    one->markIteration(1);
    two->markIteration(1);
  }
  EXPECT_TRUE(trace()->isComplete());
}

}  // namespace
}  // namespace pitwall::session_test
