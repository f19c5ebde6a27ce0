// What a session records into its trace, and what happens when it cannot.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "db/meta.h"
#include "runtime/devices.h"
#include "runtime/profiler/inject/gpu_claim.h"
#include "tests/runtime/session/session_fixture.h"

namespace pitwall::session_trace_test {
namespace {

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
  for (const char* value : {"1", "kernels", "0"}) {
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

}  // namespace
}  // namespace pitwall::session_trace_test
