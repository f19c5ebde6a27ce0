// The session: opening, invalid settings, and its trace.
#include "runtime/session.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "db/meta.h"
#include "db/reader.h"
#include "runtime/devices.h"
#include "runtime/mxnet_profiler.h"
#include "runtime/profiler/inject/gpu_claim.h"

namespace pitwall {
namespace {

// An environment variable for the length of a scope.
class Env {
 public:
  Env(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = getenv(name_.c_str()); old != nullptr) {
      old_ = old;
      was_set_ = true;
    }
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Env() {
    if (was_set_) {
      setenv(name_.c_str(), old_.c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }
  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

 private:
  std::string name_, old_;
  bool was_set_ = false;
};

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("pitwall_session_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "run.pitwall";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::unique_ptr<Session> open(SessionOptions options = {}) {
    if (options.backend.empty()) options.backend = "null";
    auto session = Session::open(std::move(options));
    EXPECT_TRUE(session.has_value()) << session.error().message;
    return session.has_value() ? std::move(session).value() : nullptr;
  }
  static std::string refusal(SessionOptions options = {}) {
    const auto session = Session::open(std::move(options));
    EXPECT_FALSE(session.has_value());
    return session.has_value() ? "" : session.error().message;
  }
  std::unique_ptr<Trace> trace() const {
    auto opened = Trace::open(path_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened.has_value() ? std::move(opened).value() : nullptr;
  }

  std::filesystem::path folder_;
  std::string path_;
};

OperatorDesc operatorThat(std::function<Status()> body) {
  OperatorDesc op;
  op.run = [body = std::move(body)](const RunContext&) { return body(); };
  return op;
}

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

void expectFacts(const Trace& trace) {
  EXPECT_EQ(trace.meta(meta::kMode), "training");
  EXPECT_EQ(trace.meta(meta::kBackend), "null");
  EXPECT_EQ(trace.meta(meta::kEngine), "ThreadedEnginePerDevice");
  EXPECT_EQ(trace.meta(meta::kPeakBytes), "1000");
  EXPECT_EQ(trace.meta(meta::kProducer)->substr(0, 8), "pitwall ");
  for (const char* key : {meta::kTraceStartUnixNs, meta::kTraceEndNs, meta::kHostName, meta::kHostOs,
                          meta::kLogicalCpus, meta::kMemoryBytes, meta::kUsableCpus, meta::kOpenMpRuntime,
                          meta::kOpenMpThreads, meta::kRecorderSelfNs}) {
    EXPECT_TRUE(trace.meta(key).has_value()) << key;
  }
  EXPECT_GE(std::stoi(*trace.meta(meta::kLogicalCpus)), std::stoi(*trace.meta(meta::kUsableCpus)));
  ASSERT_EQ(trace.processes().size(), 1U);
  EXPECT_EQ(trace.processes()[0].pid, getpid());
  EXPECT_EQ(trace.processes()[0].name, "session_test");
  ASSERT_FALSE(trace.devices().empty());
  EXPECT_EQ(trace.devices()[0].kind, "cpu");
}

void expectTunables(const Trace& trace) {
  ASSERT_EQ(trace.tunables().size(), 2U);
  for (const TunableInEffect& t : trace.tunables()) {
    EXPECT_EQ(t.value, t.name == "batch_size" ? 64 : 2);
    EXPECT_EQ(t.default_value, t.name == "batch_size" ? 16 : 2);
    EXPECT_EQ(t.source, t.name == "batch_size" ? SettingSource::environment : SettingSource::program);
  }
}

void expectSettings(const Trace& trace) {
  int found = 0;
  for (const SettingInEffect& s : trace.settings()) {
    if (s.name == "MXNET_CPU_WORKER_NTHREADS") {
      ++found;
      EXPECT_EQ(s.value, "2");
      EXPECT_EQ(s.source, SettingSource::environment);
    } else if (s.name == "MXNET_CPU_PRIORITY_NTHREADS") {
      ++found;
      EXPECT_EQ(s.value, "3");
      EXPECT_EQ(s.source, SettingSource::program);
    }
  }
  EXPECT_EQ(found, 2);
}

void expectMemoryCounter(Trace& trace) {
  bool weights_seen = false;
  for (std::size_t i = 0; i < trace.tracks().size(); ++i) {
    const TrackInfo& track = trace.tracks()[i];
    if (track.name != "memory live: weights") continue;
    weights_seen = true;
    EXPECT_EQ(track.unit, "bytes");
    const auto samples = trace.counters(TrackId{static_cast<std::uint32_t>(i + 1)});
    ASSERT_TRUE(samples.has_value());
    EXPECT_EQ(samples->size(), 1U) << "sampled when changed, not per iteration";
    EXPECT_EQ(samples->at(0).value, 1000);
  }
  EXPECT_TRUE(weights_seen);
}

// A program of five iterations with one operator each.
void runProgram(Session& session) {
  EXPECT_TRUE(session.profiler().isRecording());
  EXPECT_EQ(session.tunable("batch_size", 16, {8, 512}), 64);
  EXPECT_EQ(session.tunable("depth", 2, {1, 9}), 2);
  session.meta("runtime.mode", "training");
  const auto weights = session.storage().allocate(1000, MemoryTag::weights);
  const Variable variable = session.engine().newVariable();
  for (int i = 0; i < 5; ++i) {
    session.markIteration(64);
    OperatorDesc op = operatorThat([] { return Status{}; });
    op.writes = {&variable, 1};
    session.engine().push(std::move(op));
  }
  EXPECT_TRUE(session.engine().waitForVariable(variable).has_value());
  session.engine().deleteVariable(variable);
  EXPECT_TRUE(session.finish().has_value());
  EXPECT_FALSE(session.profiler().isRecording());
}

TEST_F(SessionTest, RecordsWhatItKnows) {
  const Env env("PITWALL_TRACE", path_);
  const Env tune("PITWALL_TUNE_batch_size", "64");
  const Env workers("MXNET_CPU_WORKER_NTHREADS", "2");
  {
    SessionOptions options;
    options.trace_path = folder_ / "ignored.pitwall";  // the environment wins
    options.settings = {{"MXNET_CPU_PRIORITY_NTHREADS", "3"}};
    const auto session = open(options);
    runProgram(*session);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ignored.pitwall"));
  const auto trace = this->trace();
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->isComplete());
  expectFacts(*trace);
  expectTunables(*trace);
  expectSettings(*trace);
  expectMemoryCounter(*trace);
  ASSERT_EQ(trace->iterations().size(), 5U);
  EXPECT_EQ(trace->iterations()[4].index, 4);
  EXPECT_EQ(trace->iterations()[4].items, 64);
  const auto runs = trace->query("SELECT count(*) FROM event WHERE kind = 'operator'");
  ASSERT_TRUE(runs.has_value()) << runs.error().message;
  EXPECT_GE(std::get<std::int64_t>(runs->rows.at(0).at(0)), 5);
}

// Without a GPU nothing is printed about it, with any setting.
TEST_F(SessionTest, OperatorsOfAGpuAreRunAndRecordedWithoutOneToo) {
  for (const char* value : {"1", "0"}) {
    const Env env("PITWALL_RECORD_GPU", value);
    testing::internal::CaptureStderr();
    {
      const auto session = open({.trace_path = path_, .backend = "", .settings = {}});
      for (int i = 0; i < 3; ++i) {
        OperatorDesc op = operatorThat([] { return Status{}; });
        op.device = {DeviceKind::gpu, 0};
        session->engine().push(std::move(op));
      }
      EXPECT_TRUE(session->finish().has_value());
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    const auto trace = this->trace();
    EXPECT_TRUE(trace->isComplete());
    const auto runs = trace->query("SELECT count(*) FROM event WHERE kind = 'operator'");
    ASSERT_TRUE(runs.has_value()) << runs.error().message;
    EXPECT_EQ(std::get<std::int64_t>(runs->rows.at(0).at(0)), 3);
    const auto gpus = gpuDevices();
    if (!gpus.has_value() || gpus->empty()) {
      EXPECT_FALSE(trace->meta(meta::kRecorderNotes).has_value());
    }
  }
}

// As under `pitwall record`: the driver calls the injection library when CUDA starts, which leaves CUPTI to
// the session, whose operators the launches belong to, and starts no recording.
TEST_F(SessionTest, TheGpusAreTheSessionsBesideTheInjectionLibrary) {
  void* const library = dlopen(PITWALL_INJECT_LIBRARY, RTLD_LAZY);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto cuda_starts = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  const auto claim = reinterpret_cast<inject::ClaimFunction*>(dlsym(library, inject::kClaimFunction));
  ASSERT_TRUE(cuda_starts != nullptr && claim != nullptr);
  const Env injected("CUDA_INJECTION64_PATH", PITWALL_INJECT_LIBRARY);
  const Env recorded("PITWALL_TRACE", folder_ / "%p.pitwall");
  path_ = folder_ / (std::to_string(getpid()) + ".pitwall");
  int calls = 0;
  const auto begin = [](void* count) { ++*static_cast<int*>(count); };
  {
    const auto session = open();
    EXPECT_EQ(claim(begin, &calls), 0) << "the session has claimed them";
    EXPECT_EQ(cuda_starts(), 1);
    EXPECT_TRUE(session->finish().has_value());
  }
  const auto trace = this->trace();
  const auto gpus = gpuDevices();
  if (!gpus.has_value() || gpus->empty()) {
    const auto notes = trace->meta(meta::kRecorderNotes);
    ASSERT_TRUE(notes.has_value()) << "the session has tried";
    EXPECT_EQ(notes->find("GPU activity is not recorded"), 0U) << *notes;
  }
  std::size_t traces = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_))
    traces += file.path().extension() == ".pitwall";
  EXPECT_EQ(traces, 1U);
  EXPECT_EQ(claim(begin, &calls), 1) << "the session has given them up";
  EXPECT_EQ(cuda_starts(), 1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(claim(nullptr, &calls), 1);
}

// A trace requested by the program counts, too.
TEST_F(SessionTest, TheGpusAreTheSessionsThatIsAskedForATraceByTheProgram) {
  void* const library = dlopen(PITWALL_INJECT_LIBRARY, RTLD_LAZY);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto claim = reinterpret_cast<inject::ClaimFunction*>(dlsym(library, inject::kClaimFunction));
  ASSERT_NE(claim, nullptr);
  const Env injected("CUDA_INJECTION64_PATH", PITWALL_INJECT_LIBRARY);
  const auto mine = [](void*) {};
  int me = 0;
  {
    const auto session = open({.trace_path = path_, .backend = "", .settings = {}});
    EXPECT_EQ(claim(mine, &me), 0) << "the session has claimed them";
  }
  {
    const auto session = open();
    EXPECT_EQ(claim(mine, &me), 1) << "without a trace it has no use for them";
    EXPECT_EQ(claim(nullptr, &me), 1);
  }
}

TEST_F(SessionTest, EveryAllocationIsASampleOfItsTag) {
  {
    const auto session = open({.trace_path = path_, .backend = "", .settings = {}});
    for (const Bytes size : {1000, 3000, 2000})
      EXPECT_TRUE(session->storage().allocate(size, MemoryTag::workspace).has_value());  // and freed
    const auto kept = session->storage().allocate(500, MemoryTag::workspace);
    EXPECT_TRUE(session->finish().has_value());
  }
  const auto trace = this->trace();
  const auto values = [&](const std::string& name) {
    std::vector<double> all;
    for (std::size_t i = 0; i < trace->tracks().size(); ++i) {
      if (trace->tracks()[i].name != name) continue;
      const auto samples = trace->counters(TrackId{static_cast<std::uint32_t>(i + 1)});
      for (const CounterSample& sample : samples.value()) all.push_back(sample.value);
    }
    return all;
  };
  EXPECT_EQ(values("memory live: workspace"), (std::vector<double>{1000, 0, 3000, 0, 2000, 0, 500}));
  EXPECT_EQ(values("memory reserved: cpu/0"), (std::vector<double>{4096})) << "one page serves them all";
}

TEST_F(SessionTest, DevicesAreNamedInTheTrace) {
  {
    const auto session = open({.trace_path = path_, .backend = "", .settings = {}});
    for (const Device device : {cpu(0), cpu(1), cpu(1)}) {
      OperatorDesc op = operatorThat([] { return Status{}; });
      op.device = device;
      session->engine().push(std::move(op));
    }
    const auto storage = session->storage(cpu(1));
    ASSERT_TRUE(storage.has_value()) << storage.error().message;
    EXPECT_TRUE((*storage)->allocate(100, MemoryTag::weights).has_value());
    EXPECT_TRUE(session->finish().has_value());
  }
  const auto trace = this->trace();
  const auto text = [&](const char* sql) {
    const auto found = trace->query(sql);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return std::get<std::string>(found->rows.at(0).at(0));
  };
  EXPECT_EQ(
      text(
          "SELECT group_concat(device || '=' || n, ' ') FROM (SELECT coalesce(args ->> 'device', 'cpu/0') AS "
          "device, count(*) AS n FROM (SELECT nullif(args, '') AS args FROM event WHERE kind = 'operator') "
          "GROUP BY 1 ORDER BY 1)"),
      "cpu/0=1 cpu/1=2");
  EXPECT_EQ(text("SELECT group_concat(kind || '/' || device_index, ' ') FROM device WHERE kind = 'cpu'"),
            "cpu/0 cpu/1");
  EXPECT_EQ(text("SELECT group_concat(name, ', ') FROM (SELECT name FROM track WHERE name LIKE '%cpu/1%' "
                 "ORDER BY 1)"),
            "memory live: cpu/1 weights, memory reserved: cpu/1");
  EXPECT_EQ(
      text(
          "SELECT group_concat(name, ', ') FROM (SELECT DISTINCT substr(t.name, 1, instr(t.name, ' worker')) "
          "|| d.kind || '/' || d.device_index AS name FROM track t JOIN device d ON d.id = t.device_id "
          "WHERE t.kind = 'thread' ORDER BY 1)"),
      "cpu cpu/0, cpu1 cpu/1");
}

TEST_F(SessionTest, ATraceThatCannotBeWrittenIsAWarning) {
  for (const std::string& path :
       {(folder_ / "no_such_folder" / "x.pitwall").string(), std::string("/proc/x.pitwall")}) {
    testing::internal::CaptureStderr();
    {
      const Env env("PITWALL_TRACE", path);
      const auto session = open();
      ASSERT_NE(session, nullptr);
      EXPECT_FALSE(session->profiler().isRecording());
      session->markIteration(1);
      EXPECT_TRUE(session->finish().has_value());
    }
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find(path), std::string::npos) << text;
    EXPECT_NE(text.find("the program itself is not affected"), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "one line: " << text;
  }
}

TEST_F(SessionTest, AnotherProgramsFileIsNotReplaced) {
  std::ofstream(path_) << "precious text that is no trace";
  testing::internal::CaptureStderr();
  {
    SessionOptions options;
    options.trace_path = path_;
    const auto session = open(options);
    EXPECT_FALSE(session->profiler().isRecording());
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find(path_), std::string::npos);
  std::ifstream file(path_);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "precious text that is no trace");
}

// Simulates a full disk by a limit on file sizes.
TEST_F(SessionTest, ADiskThatFillsUpIsOneWarningAndTheProgramGoesOn) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  testing::internal::CaptureStderr();
  std::atomic<int> ran{0};
  {
    SessionOptions options;
    options.trace_path = path_;
    const auto session = open(options);
    ASSERT_TRUE(session->profiler().isRecording());
    rlimit small = before;
    small.rlim_cur = 300'000;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 60'000; ++i) {
      if (i % 100 == 0) session->markIteration(1);
      session->engine().push(operatorThat([&ran] {
        ++ran;
        return Status{};
      }));
    }
    EXPECT_TRUE(session->finish().has_value()) << "the training is not affected";
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  }
  EXPECT_EQ(ran.load(), 60'000);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find(path_ + " is not complete"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "one line: " << text;
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
}  // namespace pitwall
