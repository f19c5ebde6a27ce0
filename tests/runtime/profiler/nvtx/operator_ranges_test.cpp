// The runtime's own ranges, through NVTX's headers, as received by a linked tool.
#include "runtime/profiler/nvtx/operator_ranges.h"

#include <gmock/gmock.h>

#include <memory>

#include "runtime/profiler/nvtx/callbacks.h"
#include "tests/runtime/profiler/shared_sink.h"

namespace {
// NVTX loads a tool once per process.
pitwall::Profiler* g_profiler = nullptr;
std::unique_ptr<pitwall::nvtx::Recorder> g_recorder;
int attach(pitwall::nvtx::abi::GetExportTable get) {
  using namespace pitwall::nvtx;
  if (g_profiler == nullptr) return 0;
  g_recorder = std::make_unique<Recorder>(*g_profiler, processNames(), processSchemas());
  setActive(g_recorder.get());
  return install(get) ? 1 : 0;
}
}  // namespace

// NVTX's copy in the library has this one weak.
extern "C" {
extern int (*InitializeInjectionNvtx2_fnptr)(pitwall::nvtx::abi::GetExportTable);
int (*InitializeInjectionNvtx2_fnptr)(pitwall::nvtx::abi::GetExportTable) = attach;
}

namespace pitwall::nvtx::operator_ranges_test {
namespace {

TEST(NvtxOperatorRanges, NameLayerPhaseAndWork) {
  unsetenv("NVTX_INJECTION64_PATH");
  const auto kept = std::make_shared<test::Kept>();
  Profiler profiler;
  g_profiler = &profiler;
  OperatorFacts facts;
  facts.name = "Convolution";
  facts.layer = "conv1";
  facts.phase = Phase::forward;
  facts.flop = 1234;
  const OperatorId id = profiler.operatorFacts(facts);
  ASSERT_TRUE(profiler.start(std::make_unique<test::SharedSink>(kept)).has_value());
  OperatorRanges ranges(profiler);
  ASSERT_TRUE(ranges.toolIsAttached());
  ranges.push(id);
  ranges.pop();
  EXPECT_TRUE(profiler.stop().has_value());
  std::vector<std::string> lines;
  for (const auto& [track, event] : kept->memory.all_events) {
    if (event.kind != EventKind::scope) continue;
    lines.push_back(kept->memory.strings.at(event.name.value - 1) + " " +
                    kept->memory.strings.at(event.args.value - 1) + " " + std::to_string(event.value));
  }
  EXPECT_THAT(lines,
              ::testing::ElementsAre(R"(Convolution conv1 {"domain":"pitwall","category":"forward"} 1234)"));
  setActive(nullptr);
  g_recorder.reset();
  g_profiler = nullptr;
}

}  // namespace
}  // namespace pitwall::nvtx::operator_ranges_test
