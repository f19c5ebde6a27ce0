// Opening, stopping, starting and ending engines; many threads at once.
#include <time.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/runtime/engine/engine_fixture.h"

namespace pitwall::test::lifecycle_test {
namespace {

class Lifecycle : public testing::TestWithParam<EngineType> {
 protected:
  EngineOptions options = optionsOf({GetParam(), 2});
};

TEST_P(Lifecycle, StopsAndStartsAgain) {
  Opened engine(options);
  const Variable v = engine->newVariable();
  int value = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i) engine.run({}, {v}, [&value] { ++value; });
    engine->stop();
    EXPECT_EQ(value, 100 * (round + 1));
    options.cpu_workers = options.pooled_workers = 1 + round % 3;
    expectOk(engine->start(options));
  }
  engine.run({}, {v}, [&value] { ++value; });
  expectOk(engine->waitForAll());
  EXPECT_EQ(value, 501);
}

TEST_P(Lifecycle, AStoppedEngineRunsOnThePusher) {
  Opened engine(options);
  const Variable v = engine->newVariable();
  engine->stop();
  engine->stop();
  std::thread::id id;
  engine.run({}, {v}, [&id] { id = std::this_thread::get_id(); });
  expectOk(engine->waitForVariable(v));
  EXPECT_EQ(id, std::this_thread::get_id());
  engine->deleteVariable(v);
  expectOk(engine->waitForAll());
}

TEST_P(Lifecycle, TheEndWaitsForWhatWasPushed) {
  std::atomic<int> ran{0};
  {
    Opened engine(options);
    const Variable v = engine->newVariable();
    engine->setBulkSize(64);
    for (int i = 0; i < 1000; ++i) engine.run({}, {v}, [&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 1000);
}

TEST_P(Lifecycle, StartRefusesAnotherType) {
  Opened engine(options);
  engine->stop();
  options.type = GetParam() == EngineType::naive ? EngineType::threaded : EngineType::naive;
  expectError(engine->start(options), "open another engine");
}

TEST_P(Lifecycle, SeveralEnginesLiveSideBySide) {
  std::vector<std::unique_ptr<Opened>> engines;
  std::atomic<int> ran{0};
  for (int i = 0; i < 4; ++i) engines.push_back(std::make_unique<Opened>(options));
  for (int i = 0; i < 400; ++i) (*engines[static_cast<std::size_t>(i) % 4]).run({}, {}, [&ran] { ++ran; });
  for (auto& engine : engines) expectOk((*engine)->waitForAll());
  EXPECT_EQ(ran, 400);
  engines.erase(engines.begin());
  (*engines[0]).run({}, {}, [&ran] { ++ran; });
  expectOk((*engines[0])->waitForAll());
  EXPECT_EQ(ran, 401);
}

TEST_P(Lifecycle, ThreadsThatShareVariablesNeverLockEachOtherOut) {
  Opened engine(options);
  std::vector<Variable> variables(6);
  for (Variable& v : variables) v = engine->newVariable();
  std::vector<int> counts(variables.size(), 0);  // unguarded: the engine must serialise writers
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      engine->setBulkSize(seed % 2 == 0 ? 0 : 5);
      for (int i = 0; i < 2000; ++i) {
        const std::size_t a = random() % variables.size();
        const std::size_t b = random() % variables.size();
        engine.run({variables[random() % variables.size()]}, {variables[a], variables[b]}, [&counts, a, b] {
          ++counts[a];
          ++counts[b];
        });
        if (i % 100 == 0) expectOk(engine->waitForVariable(variables[a]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expectOk(engine->waitForAll());
  int sum = 0;
  for (const int count : counts) sum += count;
  EXPECT_EQ(sum, 4 * 2000 * 2);
}

TEST_P(Lifecycle, ThreadsWaitEachForTheirOwn) {
  Opened engine(options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&engine, t] {
      const Variable v = engine->newVariable();
      int value = 0;
      for (int i = 1; i <= 300; ++i) {
        engine.run({}, {v}, [&value] { ++value; });
        expectOk(t == 0 && i % 10 == 0 ? engine->waitForAll() : engine->waitForVariable(v));
        EXPECT_EQ(value, i);
      }
      engine->deleteVariable(v);
    });
  }
  for (std::thread& thread : threads) thread.join();
  expectOk(engine->waitForAll());
}

TEST_P(Lifecycle, VariablesComeAndGoOnManyThreads) {
  Opened engine(options);
  std::atomic<int> deleted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const Variable v = engine->newVariable();
        auto data = std::make_shared<int>(0);
        engine.run({}, {v}, [data] { ++*data; });
        engine.run({v}, {}, [data] { EXPECT_EQ(*data, 1); });
        engine->deleteVariable(v, [&deleted](const RunContext&) -> Status { return ++deleted, Status(); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expectOk(engine->waitForAll());
  EXPECT_EQ(deleted, 1500);
}

TEST_P(Lifecycle, IdleWorkersSleep) {
  options.cpu_workers = options.pooled_workers = 16;
  Opened engine(options);
  for (int i = 0; i < 1000; ++i) engine.run({}, {}, [] {});
  expectOk(engine->waitForAll());
  const auto cpuMs = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
  };
  const auto before = cpuMs();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(cpuMs() - before, 100);  // of processor time; one spinning worker alone would take 200
}

INSTANTIATE_TEST_SUITE_P(Engines, Lifecycle,
                         testing::Values(EngineType::naive, EngineType::threaded,
                                         EngineType::threadedPerDevice),
                         [](const auto& one) { return std::string(toString(one.param)); });

TEST(EngineStart, RefusesWhileRunning) {
  Opened engine(EngineOptions{});
  expectError(engine->start(EngineOptions{}), "stop() it first");
}

TEST(EngineOptionsCheck, NamesTheVariableThatIsWrong) {
  Profiler profiler;
  const auto message = [&profiler](auto change) {
    EngineOptions options;
    change(options);
    const auto opened = Engine::open(options, profiler);
    return opened.has_value() ? std::string() : opened.error().message;
  };
  EXPECT_NE(message([](EngineOptions& o) { o.cpu_workers = 0; }).find("MXNET_CPU_WORKER_NTHREADS=0"),
            std::string::npos);
  EXPECT_NE(message([](EngineOptions& o) { o.gpu_copy_workers = -3; }).find("MXNET_GPU_COPY_NTHREADS=-3"),
            std::string::npos);
  EXPECT_NE(
      message([](EngineOptions& o) { o.cpu_priority_workers = 100'000; }).find("MXNET_CPU_PRIORITY_NTHREADS"),
      std::string::npos);
  EXPECT_EQ(message([](EngineOptions&) {}), "");
}

using Values = std::vector<std::pair<std::string, std::string>>;

TEST(EngineOptionsFromSettings, ReadsEngineAndPools) {
  const Values values = {{"MXNET_ENGINE_TYPE", "NaiveEngine"},
                         {"MXNET_CPU_WORKER_NTHREADS", "3"},
                         {"MXNET_CPU_PRIORITY_NTHREADS", "5"},
                         {"MXNET_GPU_WORKER_NTHREADS", "6"},
                         {"MXNET_GPU_COPY_NTHREADS", "7"}};
  const auto settings = Settings::fromValues(values);
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  const auto options = EngineOptions::fromSettings(*settings);
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_EQ(options->type, EngineType::naive);
  EXPECT_EQ(options->cpu_workers, 3);
  EXPECT_EQ(options->cpu_priority_workers, 5);
  EXPECT_EQ(options->gpu_workers, 6);
  EXPECT_EQ(options->gpu_copy_workers, 7);
}

TEST(EngineOptionsFromSettings, EngineInfoPrintsWaits) {
  for (const char* on : {"0", "1"}) {
    const Values values = {{"MXNET_ENGINE_INFO", on}};
    const auto settings = Settings::fromValues(values);
    ASSERT_TRUE(settings.has_value()) << settings.error().message;
    const auto options = EngineOptions::fromSettings(*settings);
    Profiler profiler{{}};
    const auto engine = Engine::open(*options, profiler);
    ASSERT_TRUE(engine.has_value());
    testing::internal::CaptureStderr();
    const Variable variable = (*engine)->newVariable();
    const Variable writes[] = {variable};
    (*engine)->push({.run = [](const RunContext&) -> Status {
                       std::this_thread::sleep_for(std::chrono::milliseconds(50));
                       return {};
                     },
                     .writes = writes});
    expectOk((*engine)->waitForVariable(variable));
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text.find("engine: wait for variable ") != std::string::npos, on[0] == '1') << text;
    EXPECT_EQ(text.find(" is ready, after 1 writes") != std::string::npos, on[0] == '1') << text;
  }
}

TEST(EngineOptionsFromSettings, DefaultsAreTheDocumentedOnes) {
  const auto settings = Settings::fromValues({});
  ASSERT_TRUE(settings.has_value());
  const auto options = EngineOptions::fromSettings(*settings);
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_EQ(options->type, EngineType::threadedPerDevice);
  EXPECT_EQ(options->cpu_workers, 1);
  EXPECT_EQ(options->cpu_priority_workers, 4);
  EXPECT_EQ(options->gpu_workers, 2);
  EXPECT_EQ(options->gpu_copy_workers, 2);
}

}  // namespace
}  // namespace pitwall::test::lifecycle_test
