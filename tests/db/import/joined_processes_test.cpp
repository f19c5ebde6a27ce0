// A profile beside a recording of the same program.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "db/import.h"
#include "db/meta.h"
#include "db/reader.h"
#include "db/store.h"
#include "tests/support/read_all.h"
#include "tests/support/temp_folder.h"

namespace pitwall::joined_processes_test {
namespace {

using testing::ElementsAre;

class ProfileBesideARecording : public testing::Test {
 protected:
  void writeRecording(const std::string& name, std::int64_t pid, int rank = 0, const std::string& host = "") {
    auto sink = createTrace(folder_ / name).value();
    const ProcessId process = sink->process({pid, "train", "train --fast", rank});
    const ThreadId thread = sink->thread({process, pid + 1, "loader"});
    const TrackId track = sink->track({TrackKind::thread, process, thread, {}, "", ""});
    Event event;
    event.dur_ns = 50;
    event.name = sink->string("recorded");
    sink->events(track, {&event, 1});
    sink->setting({"OMP_NUM_THREADS", "3", SettingSource::environment});
    sink->meta("host.cpu_model", "a processor");
    sink->meta(meta::kTraceStartUnixNs, std::to_string(kStartUs * 1000));
    if (!host.empty()) sink->meta(meta::kHostName, host);
    ASSERT_TRUE(sink->finish().has_value());
  }

  // As PyTorch writes them: a thread of the program ran an operator.
  void writeProfile(const std::string& name, std::int64_t pid, const std::string& more = "",
                    std::int64_t after_us = 10) {
    std::ofstream(folder_ / name) << fmt::format(
        R"({{"schemaVersion":1,{}"traceEvents":[{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":{},"tid":{},)"
        R"("ts":{},"dur":4,"args":{{"External id":1}}}}]}})",
        more, pid, pid + 1, kStartUs + after_us);
  }

  std::unique_ptr<Trace> import(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder_ / name);
    const auto summary = importToFile(paths, folder_ / "all.pitwall");
    if (!summary.has_value()) {
      ADD_FAILURE() << summary.error().message;
      return nullptr;
    }
    return Trace::open(folder_ / "all.pitwall").value();
  }

  static std::vector<std::string> names(const Trace& trace) {
    std::vector<std::string> result;
    for (const ProcessInfo& process : trace.processes()) result.push_back(process.name);
    return result;
  }

  static constexpr std::int64_t kStartUs = 1'700'000'000'000'000;
  test::TempFolder folder_;
};

TEST_F(ProfileBesideARecording, IsTheSameProcessWhateverTheOrder) {
  writeRecording("run.pitwall", 100);
  writeProfile("profile.json", 100);
  for (const auto& order :
       {std::vector<std::string>{"run.pitwall", "profile.json"}, {"profile.json", "run.pitwall"}}) {
    const auto trace = import(order);
    ASSERT_NE(trace, nullptr);
    EXPECT_THAT(names(*trace), ElementsAre("train"));
    ASSERT_EQ(trace->threads().size(), 1U);
    EXPECT_EQ(trace->threads()[0].name, "loader");
    EXPECT_EQ(trace->settings().size(), 1U);
    EXPECT_EQ(trace->meta("host.cpu_model"), "a processor");
    const auto rows = trace->query("SELECT count(*) FROM event WHERE name IN ('recorded', 'aten::mm')");
    EXPECT_EQ(rows.value().rows[0][0], SqlValue(std::int64_t{2}));
  }
}

TEST_F(ProfileBesideARecording, OfAnotherProcessStaysApart) {
  writeRecording("run.pitwall", 100);
  writeProfile("profile.json", 101);
  EXPECT_EQ(import({"run.pitwall", "profile.json"})->processes().size(), 2U);
}

// The same id on two machines.
TEST_F(ProfileBesideARecording, OfAnotherRankStaysApart) {
  writeRecording("run.pitwall", 100, 1);
  writeProfile("profile.json", 100, R"("distributedInfo":{"rank":2,"world_size":4},)");
  EXPECT_THAT(names(*import({"run.pitwall", "profile.json"})),
              ElementsAre("rank 1: train", testing::StartsWith("rank 2: ")));
}

// Planes and devices are numbered as processes are.
TEST_F(ProfileBesideARecording, WhoseNumbersAreNotTheSystemsStaysApart) {
  writeRecording("run.pitwall", 7);
  std::ofstream(folder_ / "timeline.json")
      << R"([{"ph":"M","name":"process_name","pid":7,"args":{"name":"/job:localhost/device:GPU:0"}},)"
         R"({"ph":"X","name":"MatMul","pid":7,"tid":8,"ts":5,"dur":4}])";
  EXPECT_EQ(import({"run.pitwall", "timeline.json"})->processes().size(), 2U);
}

// A container gives the number again to the next program.
TEST_F(ProfileBesideARecording, OfAnotherTimeStaysApart) {
  writeRecording("run.pitwall", 100);
  constexpr std::int64_t kHourUs = 3'600'000'000;
  for (const std::int64_t after : {kHourUs, -kHourUs}) {
    writeProfile("profile.json", 100, "", after);
    EXPECT_EQ(import({"run.pitwall", "profile.json"})->processes().size(), 2U) << after;
  }
}

TEST_F(ProfileBesideARecording, OfAnotherHostStaysApart) {
  writeRecording("run.pitwall", 100, 1, "here");
  const auto dump = [&](const std::string& host) {
    std::ofstream(folder_ / "nccl.jsonl") << fmt::format(
        R"({{"header":{{"id":"0x7f","rank":1,"n_ranks":2,"nnodes":1}},"metadata":{{"dump_timestamp_us":{},)"
        R"("hostname":"{}","pid":100}},"coll_perf":{{"coll":"AllReduce","coll_msg_size_bytes":4096,)"
        R"("coll_exec_time_us":100}}}})"
        "\n",
        kStartUs + 200, host);
    return import({"run.pitwall", "nccl.jsonl"})->processes().size();
  };
  EXPECT_EQ(dump("here"), 1U);
  EXPECT_EQ(dump("there"), 2U);
}

TEST_F(ProfileBesideARecording, ThatIsCompressedIsTheSameProcess) {
  writeRecording("run.pitwall", 100);
  writeProfile("profile.json", 100);
  const std::string content = test::readAll(folder_ / "run.pitwall");
  gzFile packed = gzopen((folder_ / "run.pitwall.gz").c_str(), "wb");
  gzwrite(packed, content.data(), static_cast<unsigned>(content.size()));
  gzclose(packed);
  EXPECT_THAT(names(*import({"profile.json", "run.pitwall.gz"})), ElementsAre("train"));
}

TEST_F(ProfileBesideARecording, OfOneOfTwoRecordedProcessesWithItsIdStaysApart) {
  writeRecording("a.pitwall", 100);
  writeRecording("b.pitwall", 100);
  writeProfile("profile.json", 100);
  EXPECT_EQ(import({"a.pitwall", "b.pitwall", "profile.json"})->processes().size(), 3U);
}

TEST_F(ProfileBesideARecording, NamesTheRankOnce) {
  writeRecording("a.pitwall", 100, 0);
  writeRecording("b.pitwall", 200, 1);
  ASSERT_NE(import({"a.pitwall", "b.pitwall"}), nullptr);
  std::filesystem::rename(folder_ / "all.pitwall", folder_ / "job.pitwall");
  writeRecording("c.pitwall", 300, 2);
  EXPECT_THAT(names(*import({"job.pitwall", "c.pitwall"})),
              ElementsAre("rank 0: train", "rank 1: train", "rank 2: train"));
}

// As of a job: the launcher's processes and those of the ranks are in one trace, in any order.
TEST_F(ProfileBesideARecording, EachProcessOfARecordingKeepsItsRank) {
  auto sink = createTrace(folder_ / "job.pitwall").value();
  const int ranks[] = {0, 1, 0, 2, 0};
  std::int64_t pid = 100;
  for (const int rank : ranks) {
    const ProcessId process = sink->process({++pid, "train", "train", rank});
    const ThreadId thread = sink->thread({process, pid, "main"});
    const TrackId track = sink->track({TrackKind::thread, process, thread, {}, "", ""});
    Event event;
    event.dur_ns = 50;
    event.name = sink->string("recorded");
    sink->events(track, {&event, 1});
  }
  ASSERT_TRUE(sink->finish().has_value());
  const auto trace = import({"job.pitwall"});
  ASSERT_NE(trace, nullptr);
  std::vector<int> kept;
  for (const ProcessInfo& process : trace->processes()) kept.push_back(process.rank);
  EXPECT_THAT(kept, ElementsAre(0, 1, 0, 2, 0));
}

}  // namespace
}  // namespace pitwall::joined_processes_test
