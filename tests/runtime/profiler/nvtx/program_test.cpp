// Programs that use only NVTX, run under the injection library.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <time.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "db/reader.h"
#include "tests/support/temp_folder.h"

namespace pitwall::program_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Ended {
  int code = -1;  // exit code, or minus the signal
  std::vector<std::string> traces;
};

class NvtxProgram : public ::testing::Test {
 protected:
  Ended run(const std::string& command, const std::string& environment = "",
            const std::string& injection = "NVTX_INJECTION64_PATH='" PITWALL_INJECT_LIBRARY "'") {
    const std::string line = "cd '" + folder_.path().string() + "' && exec env " + injection +
                             " PITWALL_TRACE=%p.pitwall " + environment + " " + command;
    const int status = std::system(line.c_str());
    Ended ended;
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      if (file.path().extension() == ".pitwall") ended.traces.push_back(file.path().string());
    }
    return ended;
  }

  std::unique_ptr<Trace> open(const Ended& ended) {
    EXPECT_EQ(ended.traces.size(), 1U);
    if (ended.traces.empty()) return nullptr;
    auto trace = Trace::open(ended.traces.front());
    EXPECT_TRUE(trace.has_value()) << (trace.has_value() ? "" : trace.error().message);
    return trace.has_value() ? std::move(*trace) : nullptr;
  }

  test::TempFolder folder_;
};

// "thread depth name args value", ordered by start.
std::vector<std::string> events(Trace& trace, const std::string& thread) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < trace.tracks().size(); ++i) {
    if (trace.tracks()[i].name != thread) continue;
    const auto events = trace.events(TrackId{static_cast<std::uint32_t>(i + 1)});
    if (!events.has_value()) continue;
    for (const Event& event : *events) {
      std::string line =
          std::to_string(event.depth) + " " + trace.string(event.name) + " " + trace.string(event.args);
      if (event.value != 0) line += " = " + std::to_string(event.value);
      if (event.kind == EventKind::instant) line += " (mark)";
      lines.push_back(line);
    }
  }
  return lines;
}

#define REQUIRE_C_PROGRAM() \
  if (std::string(PITWALL_NVTX_PROGRAM).empty()) GTEST_SKIP() << "NVTX's headers were not found"

// `open`: arguments of the range that the program leaves open. "decode" and "load batch" overlap without
// nesting, as they are of different domains: the one that ends first counts as the inner one.
std::vector<std::string> expected(const std::string& open) {
  return {
      R"(0 epoch {"domain":"default"})",
      R"(1 iteration 0 {"domain":"default"})",
      R"(1 iteration 1 {"domain":"default"})",
      R"(1 iteration 2 {"domain":"default"})",
      "1 m\u00fchsam {\"domain\":\"default\"}",
      R"(1 checkpoint {"domain":"default"} (mark))",
      R"(2 load batch {"domain":"loader","category":"io","color":"#ff00ff00"} = 42)",
      R"(1 decode {"domain":"default"})",
      R"(1 step {"domain":"training","index":3,"loss":0.5} = 3)",
      "0 left open " + open,
  };
}

TEST_F(NvtxProgram, RangesOfACProgram) {
  REQUIRE_C_PROGRAM();
  const Ended ended = run(PITWALL_NVTX_PROGRAM " exit");
  EXPECT_EQ(ended.code, 7);
  const auto trace = open(ended);
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_THAT(events(*trace, "copier"), ElementsAre(R"(0 copy {"domain":"default"})"));
  EXPECT_THAT(events(*trace, "NVTX start/end ranges"), ElementsAre(R"(0 transfer {"domain":"default"})"));
  EXPECT_EQ(trace->meta("nvtx.unbalanced"), "1");
  EXPECT_THAT(events(*trace, "trainer"), ::testing::ElementsAreArray(expected(R"({"domain":"default"})")));
}

// Whatever ends it, nothing is lost.
TEST_F(NvtxProgram, HoweverItEnds) {
  REQUIRE_C_PROGRAM();
  const std::string closed = R"({"domain":"default"})", left = R"({"domain":"default","open":true})";
  struct End {
    const char* how;
    int code;
    const std::string& open;
  };
  const End ends[] = {{"quick_exit", 7, closed}, {"_exit", 7, left}, {"abort", -6, left}, {"kill", -9, left}};
  for (const auto& [how, code, open_args] : ends) {
    SCOPED_TRACE(how);
    const Ended ended = run(std::string(PITWALL_NVTX_PROGRAM " ") + how);
    EXPECT_EQ(ended.code, code);
    const auto trace = open(ended);
    ASSERT_NE(trace, nullptr);
    EXPECT_THAT(events(*trace, "trainer"), ::testing::ElementsAreArray(expected(open_args)));
    for (const std::string& path : ended.traces) std::filesystem::remove(path);
  }
}

TEST_F(NvtxProgram, AForkedChildHasATraceOfItsOwn) {
  REQUIRE_C_PROGRAM();
  const Ended ended = run(PITWALL_NVTX_PROGRAM " fork");
  EXPECT_EQ(ended.code, 0);
  ASSERT_EQ(ended.traces.size(), 2U);
  int of_children = 0;
  for (const std::string& path : ended.traces) {
    const auto trace = Trace::open(path);
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    EXPECT_TRUE((*trace)->isComplete());
    const auto rows = (*trace)->query("SELECT count(*) FROM event WHERE name = 'in the child'");
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    if (rows->rows.at(0).at(0) == SqlValue{std::int64_t{1}}) ++of_children;
  }
  EXPECT_EQ(of_children, 1);
}

// Ranges that end on any thread are in the trace as they end, not only when a program ends in order.
TEST_F(NvtxProgram, RangesOfWorkersThatDoNotEndInOrder) {
  REQUIRE_C_PROGRAM();
  const Ended ended = run(PITWALL_NVTX_PROGRAM " workers");
  EXPECT_EQ(ended.code, 0);
  int with_ranges = 0;
  for (const std::string& path : ended.traces) {
    const auto trace = Trace::open(path);
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    std::map<std::string, int> lines;
    std::map<std::string, int> depths;
    for (const std::string& line : events(**trace, "NVTX start/end ranges")) {
      ++lines[line.substr(line.find(' ') + 1)];
      ++depths[line.substr(0, line.find(' '))];
    }
    if (lines.empty()) continue;  // the parent's
    ++with_ranges;
    EXPECT_EQ(lines, (std::map<std::string, int>{{R"(work of a worker {"domain":"default"})", 20},
                                                 {R"(left running {"domain":"default","open":true})", 1}}));
    EXPECT_EQ(depths.size(), 20U);  // all were open at once, and the last is in a row that was free again
  }
  EXPECT_EQ(with_ranges, 4);
}

TEST_F(NvtxProgram, OnlyTheDomainsAskedFor) {
  REQUIRE_C_PROGRAM();
  const auto trace = open(run(PITWALL_NVTX_PROGRAM " exit", "PITWALL_RECORD_ONLY=loader,absent"));
  ASSERT_NE(trace, nullptr);
  EXPECT_THAT(events(*trace, "trainer"),
              ElementsAre(R"(0 load batch {"domain":"loader","category":"io","color":"#ff00ff00"} = 42)"));
}

TEST_F(NvtxProgram, OneThatCannotWriteRunsOn) {
  REQUIRE_C_PROGRAM();
  EXPECT_EQ(run(PITWALL_NVTX_PROGRAM " exit 2>message", "PITWALL_TRACE=absent/folder/x.pitwall").code, 7);
  EXPECT_EQ(std::system(("grep -q 'pitwall: this process is not recorded: .*absent/folder' '" +
                         (folder_ / "message") + "'")
                            .c_str()),
            0);
}

double monotonicSeconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A flight recorder: older events are not in the trace.
TEST_F(NvtxProgram, OnlyTheLastSeconds) {
  REQUIRE_C_PROGRAM();
  // There are three seconds between the two ranges, and the end comes within two of the later one.
  const auto trace = open(run(PITWALL_NVTX_PROGRAM " until -3", "PITWALL_RECORD_LAST=2"));
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_THAT(events(*trace, "main"), ElementsAre(R"(0 late {"domain":"default"})"));
}

TEST_F(NvtxProgram, OnlyUntilThatMoment) {
  REQUIRE_C_PROGRAM();
  const double until = monotonicSeconds() + 2;
  const auto trace = open(run(PITWALL_NVTX_PROGRAM " until " + std::to_string(until + 0.5),
                              "PITWALL_RECORD_UNTIL=" + std::to_string(until)));
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_THAT(events(*trace, "main"), ElementsAre(R"(0 early {"domain":"default"})"));
}

TEST_F(NvtxProgram, AMomentThatIsOverRecordsNothing) {
  REQUIRE_C_PROGRAM();
  const Ended ended = run(PITWALL_NVTX_PROGRAM " exit", "PITWALL_RECORD_UNTIL=1");
  EXPECT_EQ(ended.code, 7);
  EXPECT_TRUE(ended.traces.empty());
}

// Loaded before the program, the library intercepts its _exit(): the trace is complete, and open ranges are
// closed.
TEST_F(NvtxProgram, LoadedBeforeTheProgram) {
  REQUIRE_C_PROGRAM();
  if (std::string(PITWALL_SANITIZED) != "") GTEST_SKIP() << "a sanitizer wants to be loaded first";
  const Ended ended = run(PITWALL_NVTX_PROGRAM " _exit", "LD_PRELOAD='" PITWALL_INJECT_LIBRARY "'");
  EXPECT_EQ(ended.code, 7);
  const auto trace = open(ended);
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_THAT(events(*trace, "trainer"), ::testing::ElementsAreArray(expected(R"({"domain":"default"})")));
}

// The library linked into the program: NVTX finds it without a variable.
TEST_F(NvtxProgram, LinkedIntoTheProgram) {
  REQUIRE_C_PROGRAM();
  const Ended ended = run(PITWALL_NVTX_PROGRAM "_static _exit", "", "-u NVTX_INJECTION64_PATH");
  EXPECT_EQ(ended.code, 7);
  const auto trace = open(ended);
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_THAT(events(*trace, "trainer"), ::testing::ElementsAreArray(expected(R"({"domain":"default"})")));
}

// A Python program that creates NVTX's tables itself, two copies of them.
TEST_F(NvtxProgram, RangesOfAPythonProgram) {
  if (std::string(PITWALL_SANITIZED) != "")
    GTEST_SKIP() << "a sanitizer wants to be in the program from its start";
  const Ended ended = run("python3 '" PITWALL_NVTX_SCRIPT "' >/dev/null");
  if (ended.code == 127) GTEST_SKIP() << "no python3";
  EXPECT_EQ(ended.code, 0);
  const auto trace = open(ended);
  ASSERT_NE(trace, nullptr);
  EXPECT_THAT(events(*trace, "main"),
              ElementsAre(R"(0 outer {"domain":"default"})", R"(1 inner {"domain":"default"})",
                          R"(1 half way {"domain":"default"} (mark))"));
  EXPECT_THAT(events(*trace, "NVTX start/end ranges"),
              ElementsAre(R"(0 across threads {"domain":"default"})"));
  EXPECT_EQ(trace->meta("nvtx.unbalanced"), "1");
}

}  // namespace
}  // namespace pitwall::program_test
