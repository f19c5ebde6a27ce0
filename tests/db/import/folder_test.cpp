// A folder of traces as one job: TensorBoard's layouts, several windows, files that are no traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "db/store.h"
#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"

namespace pitwall::test::folder_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A folder with files, removed with this object.
class Folder {
 public:
  std::string add(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = std::filesystem::path(root_.folder()) / "job" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::string path() const { return root_.folder() + "/job"; }

 private:
  TemporaryFile root_{""};
};

// What torch.profiler writes for a rank; its clock counts from 1970.
std::string kinetoOf(int rank, int step, std::int64_t begin_us) {
  const auto at = [&](int us) { return std::to_string(begin_us + us); };
  const std::string number = std::to_string(rank);
  return R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"distributedInfo":{"backend":"nccl","rank":)" +
         number + R"(,"world_size":2},"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" +
         std::to_string(step) + R"(","pid":5)" + number + R"(,"tid":5,"ts":)" + at(0) + R"(,"dur":900},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5)" +
         number + R"(,"tid":5,"ts":)" + at(10) + R"(,"dur":)" + std::to_string(100 + rank) + R"(},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":)" +
         at(30) + R"(,"dur":)" + std::to_string(200 + step) + R"(,"args":{"device":)" + number +
         R"(,"stream":7,"correlation":1}}]})";
}

constexpr char kFirst[] = "1700000000000000001", kSecond[] = "1700000000900000002";

std::string kinetoName(int rank, const char* time) {
  return "host_4" + std::to_string(rank) + "." + time + ".pt.trace.json";
}

std::int64_t sumOf(const std::vector<std::string>& texts, const std::string& category) {
  std::int64_t total = 0;
  for (const std::string& text : texts)
    total += numberBySql(
        "SELECT sum(json_extract(value,'$.dur'))*1000 FROM json_each(?1,'$.traceEvents') WHERE "
        "json_extract(value,'$.cat')='" +
            category + "'",
        text);
  return total;
}

std::int64_t totalOf(const Imported& imported, EventKind kind) {
  std::int64_t total = 0;
  for (const Event& event : imported.sink.eventsOf(kind)) total += event.dur_ns;
  return total;
}

TEST(ImportFolder, RanksOfAJobBecomeOneTrace) {
  const Folder folder;
  const std::vector<std::string> texts = {kinetoOf(0, 3, 1000), kinetoOf(1, 3, 1400)};
  folder.add(kinetoName(1, kSecond), texts[1]);
  folder.add(kinetoName(0, kFirst), texts[0]);
  folder.add("events.out.tfevents.1700000000.host.1.0", "not a trace");
  const auto imported = importFiles({folder.path()});
  ASSERT_EQ(imported->error, "");
  EXPECT_THAT(imported->summary.ranks, ElementsAre(0, 1));
  EXPECT_EQ(imported->summary.inputs.size(), 2U);
  EXPECT_EQ(totalOf(*imported, EventKind::operatorRun), sumOf(texts, "cpu_op"));
  EXPECT_EQ(totalOf(*imported, EventKind::kernel), sumOf(texts, "kernel"));
  const auto steps = imported->named("ProfilerStep#3");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(std::abs(steps[0].second.start_ns - steps[1].second.start_ns), 400'000) << "by their wall clocks";
  EXPECT_THAT(imported->summary.notes, testing::Contains(HasSubstr("1 others are left out")));
}

TEST(ImportFolder, OfSeveralWindowsTheLastThatAllWorkersHave) {
  const Folder folder;
  folder.add(kinetoName(0, kFirst), kinetoOf(0, 3, 1000));
  folder.add(kinetoName(0, kSecond), kinetoOf(0, 9, 900000));
  folder.add(kinetoName(1, "1700000000000000009"), kinetoOf(1, 3, 1000));  // ended before its second window
  const auto imported = importFiles({folder.path()});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->named("ProfilerStep#3").size(), 2U);
  EXPECT_EQ(imported->named("ProfilerStep#9").size(), 0U);
  EXPECT_THAT(imported->summary.notes,
              testing::Contains(AllOf(HasSubstr("window 1 of each of the 2 workers"), HasSubstr("1 files"))));
}

TEST(ImportFolder, ADamagedRankIsNamedAndTheOthersAreKept) {
  const Folder folder;
  folder.add(kinetoName(0, kFirst), kinetoOf(0, 3, 1000));
  folder.add(kinetoName(1, kFirst), "");
  const auto imported = importFiles({folder.path()});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->events("kernel"), 1);
  ASSERT_EQ(Imported::counted(imported->summary.not_understood, "files of an archive or folder"), 1);
  EXPECT_THAT(imported->summary.not_understood.begin()->second.example, HasSubstr("host_41"));
}

TEST(ImportFolder, SeveralRunsAreNotMixed) {
  const Folder folder;
  folder.add("run a/" + kinetoName(0, kFirst), kinetoOf(0, 3, 1000));
  folder.add("run b/" + kinetoName(0, kFirst), kinetoOf(0, 3, 1000));
  const auto imported = importFiles({folder.path()});
  EXPECT_THAT(imported->error, AllOf(HasSubstr("of several runs"), HasSubstr("run a"), HasSubstr("run b")));
  EXPECT_EQ(importFiles({folder.path() + "/run a"})->events("kernel"), 1);
}

// The trace JSON beside an xplane.pb holds the same recording once more.
TEST(ImportFolder, OfXplaneTheLastRunWithoutItsJson) {
  const Folder folder;
  const std::string gpu = readAll(seedFile("xplane/gpu.pb"));
  folder.add("plugins/profile/2026_01_01_00_00_00/host.xplane.pb", gpu);
  folder.add("plugins/profile/2026_01_02_00_00_00/host.xplane.pb", gpu);
  folder.add("plugins/profile/2026_01_02_00_00_00/host.trace.json.gz", "not looked at");
  const auto imported = importFiles({folder.path()});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.totalEvents(), importFiles({seedFile("xplane/gpu.pb")})->summary.totalEvents());
  EXPECT_THAT(imported->summary.notes, testing::Contains(HasSubstr("the last of 2 runs")));
}

TEST(ImportFolder, OtherFilesByTheirContent) {
  const Folder folder;
  folder.add("rank0.json", R"([{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}])");
  folder.add("rank1.json", R"([{"name":"b","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}])");
  folder.add("README", "no trace at all");
  folder.add(".hidden.json", R"([{"name":"c","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}])");
  folder.add("below/other.json", R"([{"name":"d","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}])");
  const auto imported = importFiles({folder.path()});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.totalEvents(), 2);
  EXPECT_THAT(imported->summary.ranks, ElementsAre(0, 1)) << "a file that is no trace does not count";
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "files of an archive or folder"), 1);
}

TEST(ImportFolder, WhatHoldsNoTracesSaysSo) {
  const Folder empty;
  std::filesystem::create_directories(empty.path());
  EXPECT_THAT(importFiles({empty.path()})->error, HasSubstr("holds no files"));
  const Folder deeper;
  deeper.add("run/trace.json", "{}");
  EXPECT_THAT(importFiles({deeper.path()})->error, AllOf(HasSubstr("only other folders"), HasSubstr("/run")));
  const Folder text;
  text.add("a", "x");
  text.add("b", "y");
  EXPECT_THAT(importFiles({text.path()})->error, HasSubstr("no file in it is a trace"));
}

// The trace that an earlier import wrote into the folder is no input of the next one.
TEST(ImportFolder, TheOutputIsNoInput) {
  const Folder folder;
  folder.add("a.json", R"([{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}])");
  const std::vector<std::string> inputs = {folder.path()};
  for (int i = 0; i < 2; ++i) {
    const auto summary = importToFile(inputs, folder.path() + "/job.pitwall");
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    EXPECT_EQ(summary->totalEvents(), 1);
  }
}

}  // namespace
}  // namespace pitwall::test::folder_test
