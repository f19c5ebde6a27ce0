#include "runtime/profiler/torch/operators.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "tests/runtime/profiler/shared_sink.h"

namespace pitwall::torch::operators_test {
namespace {

Profiler* g_profiler = nullptr;
int g_searches = 0;
Profiler* findProfiler() {
  ++g_searches;
  return g_profiler;
}

struct Row {
  std::string name, shapes, dtype;
  Phase phase;
  EventKind kind;
  int depth;
  bool operator==(const Row&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name << " " << row.shapes << " " << row.dtype << " " << toString(row.phase) << " "
             << toString(row.kind) << " " << row.depth;
}

class TorchOperators : public testing::Test {
 protected:
  static constexpr int kFunction = 0, kBackward = 1, kUser = 7;

  void SetUp() override {
    static void* const library = dlopen(PITWALL_FAKE_TORCH, RTLD_NOW | RTLD_GLOBAL);
    ASSERT_NE(library, nullptr) << dlerror();
    begin = reinterpret_cast<decltype(begin)>(dlsym(library, "fake_torch_begin"));
    end = reinterpret_cast<decltype(end)>(dlsym(library, "fake_torch_end"));
    g_profiler = new Profiler;  // lives to the end of the process, as the interface demands
    kept = std::make_shared<test::Kept>();
    ASSERT_TRUE(g_profiler->start(std::make_unique<test::SharedSink>(kept)).has_value());
    torch_abi::Functions functions = torch_abi::find();
    functions.gradients_enabled = [] { return true; };
    ASSERT_TRUE(recordOperators(functions, findProfiler).has_value());
  }

  void run(const char* name, int scope = kFunction) {
    begin(name, scope, 2, 3, "float");
    end(0);
  }

  // In the order of their starts.
  std::vector<Row> recorded() {
    EXPECT_TRUE(g_profiler->stop().has_value());
    const test::MemorySink& sink = kept->memory;
    auto events = sink.all_events;
    std::ranges::sort(events, {}, [](const auto& event) { return event.second.start_ns; });
    std::vector<Row> rows;
    for (const auto& [track, event] : events) {
      if (event.kind == EventKind::recorder) continue;
      const OperatorFacts facts = event.op ? sink.facts[event.op.value - 1] : OperatorFacts{};
      rows.push_back({sink.strings[event.name.value - 1], facts.shapes, facts.dtype, facts.phase, event.kind,
                      event.depth});
    }
    return rows;
  }

  void (*begin)(const char* name, int scope, std::int64_t rows, std::int64_t columns,
                const char* type) = nullptr;
  void (*end)(int back) = nullptr;
  std::shared_ptr<test::Kept> kept;
};

TEST_F(TorchOperators, HaveTheirShapesTypeAndNesting) {
  begin("aten::linear", kFunction, 32, 10, "float");
  begin("aten::addmm", kFunction, 10, 4, "c10::Half");
  end(0);
  end(0);
  EXPECT_EQ(
      recorded(),
      (std::vector<Row>{{"aten::linear", "32x10", "float", Phase::forward, EventKind::operatorRun, 0},
                        {"aten::addmm", "10x4", "c10::Half", Phase::forward, EventKind::operatorRun, 1}}));
}

TEST_F(TorchOperators, BelongToThePhaseOfWhatEnclosesThem) {
  begin("autograd::engine::evaluate_function: MmBackward0", kFunction, 0, 0, "");
  run("aten::mm");
  end(0);
  begin("MmBackward0", kBackward, 0, 0, "");
  run("aten::t");
  end(0);
  begin("Optimizer.step#SGD.step", kUser, 0, 0, "");
  run("aten::add_");
  end(0);
  const auto rows = recorded();
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[1].phase, Phase::backward);
  EXPECT_EQ(rows[3].phase, Phase::backward);
  EXPECT_EQ(rows[4], (Row{"Optimizer.step#SGD.step", "", "", Phase::none, EventKind::scope, 0}));
  EXPECT_EQ(rows[5], (Row{"aten::add_", "2x3", "float", Phase::update, EventKind::operatorRun, 1}));
}

TEST_F(TorchOperators, WaitingForTheDataLoaderIsADataWait) {
  begin("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", kUser, 0, 0, "");
  run("aten::stack");
  end(0);
  const auto rows = recorded();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].kind, EventKind::dataWait);
  EXPECT_EQ(rows[1].phase, Phase::data);
}

TEST_F(TorchOperators, ThatAProgramNamesItselfAreRanges) {
  run("my step", kUser);
  EXPECT_EQ(recorded(), (std::vector<Row>{{"my step", "", "", Phase::none, EventKind::scope, 0}}));
}

TEST_F(TorchOperators, OfSeveralThreadsAreOnTheirTracks) {
  std::thread([this] { run("aten::mul"); }).join();
  run("aten::mul");
  EXPECT_EQ(recorded().size(), 2U);
  std::set<std::uint32_t> tracks;
  for (const auto& [track, event] : kept->memory.all_events) {
    if (event.kind == EventKind::operatorRun) tracks.insert(track.value);
  }
  EXPECT_EQ(tracks.size(), 2U);
}

TEST_F(TorchOperators, AnOperatorThatEndsAfterTheOneAroundItEndsWithIt) {
  begin("outer", kFunction, 2, 3, "float");
  begin("asynchronous", kFunction, 2, 3, "float");
  end(1);
  end(0);
  run("next");
  const auto rows = recorded();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].depth, 1);
  EXPECT_EQ(rows[2], (Row{"next", "2x3", "float", Phase::forward, EventKind::operatorRun, 0}));
}

TEST_F(TorchOperators, ManyDifferentNamesAndShapesAreBounded) {
  for (int i = 0; i < 40'000; ++i) {
    begin(("step " + std::to_string(i)).c_str(), kFunction, 1 + i, 3, "float");
    end(0);
  }
  EXPECT_TRUE(g_profiler->stop().has_value());
  EXPECT_LE(kept->memory.facts.size(), 33'000U);
  std::int64_t lost = 0;
  for (const Loss& loss : kept->memory.losses) lost += loss.count;
  std::int64_t kept_events = 0;
  for (const auto& [track, event] : kept->memory.all_events)
    kept_events += event.kind == EventKind::operatorRun ? 1 : 0;
  EXPECT_EQ(kept_events + lost, 40'000);
}

TEST_F(TorchOperators, AForkedChildLooksForARecordingOfItsOwn) {
  run("parent's");
  const int searches = g_searches;
  const pid_t child = fork();
  if (child == 0) {
    g_profiler = nullptr;
    run("child's");
    run("child's");
    _exit(g_searches == searches + 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(recorded().size(), 1U);
}

TEST_F(TorchOperators, AreNotRecordedWithoutTheFunctionsForIt) {
  torch_abi::Functions functions = torch_abi::find();
  functions.name = nullptr;
  const Status status = recordOperators(functions, findProfiler);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::unsupported);
}

TEST_F(TorchOperators, HaveNoShapesInAPyTorchThatDoesNotGiveThem) {
  torch_abi::Functions functions = torch_abi::find();
  functions.input_sizes = nullptr;
  ASSERT_TRUE(recordOperators(functions, findProfiler).has_value());
  run("aten::mul");
  const auto rows = recorded();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].shapes, "");
}

}  // namespace
}  // namespace pitwall::torch::operators_test
