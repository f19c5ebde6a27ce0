// Conservation over random device work: parts sum to the span, and nothing depends on the order of rows.
#include "analyzer/analysis/devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "analyzer/analysis.h"
#include "db/meta.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::analysis::devices_test {
namespace {

Intervals randomIntervals(std::mt19937& random, int count) {
  Intervals list;
  for (int i = 0; i < count; ++i) {
    const TimeNs start = static_cast<TimeNs>(random() % 300);
    list.push_back({start, start + static_cast<TimeNs>(random() % 40)});
  }
  return list;
}

bool covers(std::span<const Interval> list, TimeNs at) {
  return std::any_of(list.begin(), list.end(),
                     [at](const Interval& i) { return i.start_ns <= at && at < i.end_ns; });
}

TEST(Intervals, AgreeWithEveryNanosecond) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto raw_a = randomIntervals(random, 12), raw_b = randomIntervals(random, 12);
    const auto a = united(raw_a), b = united(raw_b);
    const auto without = subtract(a, b), both = intersect(a, b);
    EXPECT_EQ(covered(without) + covered(both), covered(a));
    TimeNs time_within = 0;
    for (TimeNs t = 0; t < 350; ++t) {
      EXPECT_EQ(covers(a, t), covers(raw_a, t));
      EXPECT_EQ(covers(without, t), covers(raw_a, t) && !covers(raw_b, t)) << seed << " at " << t;
      EXPECT_EQ(covers(both, t), covers(raw_a, t) && covers(raw_b, t)) << seed << " at " << t;
      time_within += t >= 100 && t < 200 && covers(a, t);
    }
    EXPECT_EQ(covered(within(a, 100, 200)), time_within);
    EXPECT_EQ(CoverCursor(a).within(100, 200), time_within);
  }
}

std::vector<std::string> randomWork(std::mt19937& random) {
  std::vector<std::string> lines;
  for (int i = 0; i < 60; ++i) {
    const char* kinds[] = {"kernel gemm", "communication all_reduce",
                           "copy Memcpy~HtoD~(Pageable~->~Device)"};
    const auto start = 100 + random() % 5000;
    lines.push_back(std::string("work ") + kinds[random() % 3] + " " + std::to_string(start) + "us " +
                    std::to_string(1 + random() % 90) + "us gpu=" + std::to_string(random() % 2) +
                    " stream=" + std::to_string(random() % 3) +
                    " launch=" + std::to_string(start - random() % 100) + "us");
  }
  lines.push_back("range load~batch 1ms 700us");
  lines.push_back("call cudaStreamSynchronize 3ms 500us");
  return lines;
}

Devices analyzed(const std::vector<std::string>& lines, const std::string& path,
                 std::size_t events_at_once = 0) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  EXPECT_TRUE(test::makeTraceFile(text, path).has_value());
  auto trace = Trace::open(path);
  const Reading reading{events_at_once};
  const auto activity = gatherActivity(*trace.value(), reading);
  TimeChunkReader chunks(*trace.value(), activity.value(), ProcessId{1}, reading);
  auto sweep = DeviceSweep::make(*trace.value(), chunks, {});
  auto status = chunks.each(kAllParts, [&](const TimeChunk& chunk) {
    EXPECT_TRUE(sweep.value().add(chunk).has_value());
    return Result<bool>(true);
  });
  EXPECT_TRUE(status.has_value());
  return sweep.value().finish();
}

TEST(Devices, PartsSumToTheSpanWhateverTheOrderOfRows) {
  const test::TempFolder folder;
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    auto lines = randomWork(random);
    std::stable_sort(lines.begin(),
                     lines.end());  // the devices and streams appear in the same order either way
    const auto first = analyzed(lines, folder / "a.pitwall");
    ASSERT_EQ(first.all.size(), 2U);
    for (const auto& device : first.all) {
      EXPECT_EQ(std::accumulate(device.parts.begin(), device.parts.end(), TimeNs{0}),
                device.end_ns - device.begin_ns);
      EXPECT_EQ(device.busy_ns + device.idle_ns, device.end_ns - device.begin_ns);
      EXPECT_GE(device.communication_ns, device.parts[static_cast<std::size_t>(DevicePart::communication)]);
    }
    std::shuffle(lines.begin(), lines.end(), random);
    const auto second = analyzed(lines, folder / "b.pitwall", 1 + seed * 5);
    EXPECT_EQ(second.gap_count, first.gap_count);
    for (const auto& device : second.all) {
      const auto same = std::find_if(first.all.begin(), first.all.end(),
                                     [&](const DeviceTimes& d) { return d.name == device.name; });
      ASSERT_NE(same, first.all.end());
      EXPECT_EQ(same->parts, device.parts) << seed << " " << device.name;
      EXPECT_EQ(same->longest_gap_ns, device.longest_gap_ns) << seed << " " << device.name;
      EXPECT_EQ(same->short_wait_ns, device.short_wait_ns) << seed << " " << device.name;
      EXPECT_EQ(same->launching_ns, device.launching_ns) << seed << " " << device.name;
    }
  }
}

// A memset takes the device's time as a kernel does, but is none.
TEST(Devices, MemsetsAreNoKernels) {
  const test::TempFolder folder;
  const std::string path = folder / "t.pitwall";
  ASSERT_TRUE(test::makeTraceFile("work copy Memset~(Device) 10us 4us launch=0\n"
                                  "work kernel gemm 20us 50us launch=2us\n"
                                  "work kernel relu 80us 6us launch=4us\n",
                                  path)
                  .has_value());
  auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  ASSERT_TRUE(analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).has_value());
  const auto rows = (*trace)->query(
      "SELECT json_array(kernels, memsets, copies, computation_ns, copies_ns, launches, short_count, "
      "short_share_of_count, kernel_p50_ns) FROM analysis_device JOIN analysis_launch USING (device, rank)");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  ASSERT_EQ(rows->rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(rows->rows[0][0]), "[2,1,0,60000,0,2,1,0.5,28000]");
}

std::string analysedRow(const std::string& text, const std::string& sql) {
  const test::TempFolder folder;
  EXPECT_TRUE(test::makeTraceFile(text, folder / "t.pitwall").has_value());
  auto trace = Trace::open(folder / "t.pitwall");
  EXPECT_TRUE(analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).has_value());
  const auto rows = (*trace)->query(sql);
  EXPECT_TRUE(rows.has_value()) << rows.error().message;
  return rows.has_value() && rows->rows.size() == 1 ? std::get<std::string>(rows->rows[0][0]) : "";
}

// A graph of three kernels in one call, two kernels in their own calls, and a copy.
TEST(Devices, EachCallIsOneLaunch) {
  EXPECT_EQ(analysedRow("work kernel a 100us 10us launch=0us call=30us api=cudaGraphLaunch\n"
                        "work kernel b 115us 10us launch=last\n"
                        "work kernel c 130us 10us launch=last\n"
                        "work kernel d 150us 10us launch=60us call=20us\n"
                        "work kernel e 170us 10us launch=90us call=6us\n"
                        "work copy Memcpy~HtoD~(Pinned~->~Device) 190us 2us launch=98us call=40us bytes=64\n",
                        "SELECT json_array(launches, launch_call_ns, graph_launches, graph_call_ns, "
                        "graph_kernels, matched, orphans, host_longer_count) FROM analysis_launch"),
            "[2,26000,1,30000,3,5,0,1]");
}

// Of four gaps one is longer than a millisecond, one begins with a copy's call. Of the calls only what is
// within the short gaps counts: 4 us before the second kernel, 2 us before the third.
TEST(Devices, CallsWithinGapsAreTimeOfLaunching) {
  const std::string text =
      "work kernel a 100us 50us launch=0us\n"
      "work kernel b 170us 10us launch=152us call=4us\n"
      "work kernel c 190us 10us launch=182us call=2us\n"
      "work copy Memcpy~HtoD~(Pinned~->~Device) 220us 10us launch=202us call=9us bytes=64\n"
      "work kernel d 5ms 10us launch=300us call=4ms\n";
  const std::string sql = "SELECT json_array(short_wait_ns, launching_ns) FROM analysis_launch";
  EXPECT_EQ(analysedRow(text, sql), "[50000,6000]");
}

TEST(Devices, RanksAreCountedOnce) {
  std::string text;
  for (const char* where : {"rank=0 gpu=0", "rank=1 gpu=1", "rank=0 gpu=2", "rank=1 gpu=3"})
    text += std::string("work kernel a 100us 50us ") + where + "\n";
  EXPECT_EQ(analysedRow(text, "SELECT json_array(devices, ranks) FROM analysis_summary"), "[4,2]");
}

// Events are missing from 30 to 60 us, while a kernel runs until 35 us: what follows it then is not idle
// time.
TEST(Devices, WhatWasLostIsUnattributed) {
  const test::TempFolder folder;
  for (const int from : {20, 30, 40}) {
    const std::string path = folder / "t.pitwall";
    ASSERT_TRUE(test::makeTraceFile("work kernel gemm 10us 25us launch=0us\n"
                                    "work kernel relu 100us 10us launch=90us\n"
                                    "loss " +
                                        std::to_string(from) + "us 60us 7 ring_full\n",
                                    path)
                    .has_value());
    auto trace = Trace::open(path);
    ASSERT_TRUE(trace.has_value());
    const auto report = analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
    ASSERT_TRUE(report.has_value());
    const auto rows = (*trace)->query(
        "SELECT json_array(span_ns, computation_ns, host_wait_ns + idle_ns, all_idle_ns, unattributed_ns), "
        "(SELECT sum(dur_ns) FROM analysis_gap) FROM analysis_device");
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    const int unknown = 60 - std::max(from, 35);
    EXPECT_EQ(std::get<std::string>(rows->rows[0][0]), "[100000,35000," + std::to_string(65 - unknown) +
                                                           "000," + std::to_string(65 - unknown) + "000," +
                                                           std::to_string(unknown) + "000]");
    EXPECT_EQ(std::get<std::int64_t>(rows->rows[0][1]), (65 - unknown) * 1000);
    const auto& shares = report->breakdown.shares;
    EXPECT_EQ(shares.back().category, "unattributed");
    EXPECT_EQ(shares.back().total_ns, unknown * 1000);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0,
                                [](double sum, const TimeShare& share) { return sum + share.share; }),
                1, 1e-12);
  }
}

// The second kernel of each rank is launched late; rank 0 alone waits for its device meanwhile.
TEST(Devices, WhatOneRankWaitsForIsNoCauseOfAnothers) {
  const test::TempFolder folder;
  ASSERT_TRUE(test::makeTraceFile("call cudaStreamSynchronize 20us 30us\n"
                                  "work kernel gemm 10us 10us launch=0us\n"
                                  "work kernel gemm 60us 10us launch=52us\n"
                                  "work kernel gemm 10us 10us rank=1 gpu=1 launch=0us\n"
                                  "work kernel gemm 60us 10us rank=1 gpu=1 launch=52us\n",
                                  folder / "t.pitwall")
                  .has_value());
  auto trace = Trace::open(folder / "t.pitwall");
  ASSERT_TRUE(trace.has_value());
  ASSERT_TRUE(analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).has_value());
  const auto rows = (*trace)->query(
      "SELECT json_group_array(json_array(rank, host_wait_ns, synchronisation_ns)) FROM (SELECT * FROM "
      "analysis_device ORDER BY rank)");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(std::get<std::string>(rows->rows[0][0]), "[[0,10000,30000],[1,40000,0]]");
}

// Two ranks whose k-th collectives are the same, except the second: rank 0 leaves it before rank 1 enters.
TEST(Ranks, CollectivesThatDoNotMeetAreNotCompared) {
  const test::TempFolder folder;
  const std::string path = folder / "t.pitwall";
  std::string text;
  const auto collective = [&text](int rank, int start, int end) {
    text += "work communication nccl_AllReduce " + std::to_string(start) + "us " +
            std::to_string(end - start) + "us rank=" + std::to_string(rank) + " gpu=" + std::to_string(rank) +
            "\n";
  };
  collective(0, 100, 200), collective(1, 130, 200);
  collective(0, 300, 400), collective(1, 500, 600);
  collective(0, 700, 900), collective(1, 760, 900);
  collective(0, 1000, 1100), collective(1, 980, 1100);
  ASSERT_TRUE(test::makeTraceFile(text, path).has_value());
  auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  ASSERT_TRUE(analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).has_value());
  const auto rows = (*trace)->query(
      "SELECT json_group_array(json_array(rank, collectives_compared, lateness_mean_ns, last_share, "
      "wait_ns)) "
      "FROM (SELECT * FROM analysis_rank ORDER BY rank)");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(std::get<std::string>(rows->rows[0][0]),
            "[[0,3,6666.66666666667,0.333333333333333,90000.0],[1,3,30000.0,0.666666666666667,20000.0]]");
}

// A kilobyte of each of four ranks in 10 us, by the definitions of NCCL's own tests.
TEST(Ranks, BandwidthsOfCollectivesAreNccls) {
  const test::TempFolder folder;
  std::string text;
  int start = 0;
  for (const char* name : {"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "Broadcast"})
    text += "work communication nccl_" + std::string(name) + " " + std::to_string(start += 20) +
            "us 10us bytes=1000 args={\"group_size\":4}\n";
  ASSERT_TRUE(test::makeTraceFile(text, folder / "t.pitwall").has_value());
  auto trace = Trace::open(folder / "t.pitwall");
  ASSERT_TRUE(trace.has_value());
  ASSERT_TRUE(analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).has_value());
  const auto rows = (*trace)->query(
      "SELECT group_concat(collective || ' ' || CAST(algorithm_bytes_per_second / 1e6 AS INTEGER) || ' ' || "
      "CAST(bus_bytes_per_second / 1e6 AS INTEGER), ', ') FROM (SELECT * FROM analysis_collective ORDER BY "
      "3)");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(
      std::get<std::string>(rows->rows[0][0]),
      "all_gather 400 300, all_reduce 100 150, all_to_all 100 75, broadcast 100 100, reduce_scatter 100 75");
}

// The kvstore as rules read it: analysis_summary.kvstore and the settings that steer it.
struct KvstoreFacts {
  const char *meta = nullptr, *command_line = "train.py", *operation = "Convolution";
};
std::string kvstoreOf(const KvstoreFacts& known) {
  const test::TempFolder folder;
  auto sink = createTrace(folder / "t.pitwall");
  EXPECT_TRUE(sink.has_value());
  auto& out = **sink;
  if (known.meta != nullptr) out.meta(meta::kKvStore, known.meta);
  out.meta(meta::kProducer, "MXNet profiler");
  out.setting({"MXNET_KVSTORE_BIGARRAY_BOUND", "5000", SettingSource::environment});
  const auto process = out.process({.pid = 1, .name = "python", .command_line = known.command_line});
  const auto thread = out.thread({process, 1, "main"});
  const auto track = out.track({TrackKind::thread, process, thread, {}, "main", ""});
  Event event{.dur_ns = 1000, .name = out.string(known.operation), .kind = EventKind::operatorRun};
  OperatorFacts facts;
  facts.name = known.operation;
  event.op = out.operatorFacts(facts);
  out.events(track, {&event, 1});
  EXPECT_TRUE(out.finish().has_value());
  auto trace = Trace::open(folder / "t.pitwall");
  EXPECT_TRUE(trace.has_value());
  EXPECT_TRUE(analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).has_value());
  auto rows = (*trace)->query(
      "SELECT coalesce(kvstore, 'null'), world_size, (SELECT value || ' ' || source FROM analysis_setting "
      "WHERE name = "
      "'MXNET_KVSTORE_BIGARRAY_BOUND'), (SELECT count(*) FROM analysis_setting WHERE name IN "
      "('MXNET_KVSTORE_REDUCTION_NTHREADS', 'MXNET_KVSTORE_USETREE', 'MXNET_UPDATE_ON_KVSTORE', "
      "'MXNET_ENABLE_GPU_P2P') AND value IS NOT NULL) FROM analysis_summary");
  EXPECT_TRUE(rows.has_value());
  EXPECT_EQ(std::get<std::string>(rows->rows[0][2]), "5000 environment");
  EXPECT_EQ(std::get<std::int64_t>(rows->rows[0][3]), 4) << "what is not set has its default";
  return std::get<std::string>(rows->rows[0][0]);
}

TEST(DeviceFacts, TheKvstoreIsKnownFromWhateverTellsIt) {
  EXPECT_EQ(kvstoreOf({}), "null") << "nothing names one: rules about it keep silent or abstain";
  EXPECT_EQ(kvstoreOf({.meta = "device", .command_line = "train.py --kv-store local"}), "device");
  EXPECT_EQ(kvstoreOf({.command_line = "python train.py --kv-store dist_sync --gpus 0,1"}), "dist_sync");
  EXPECT_EQ(kvstoreOf({.command_line = "train.py --kvstore=nccl"}), "nccl");
  EXPECT_EQ(kvstoreOf({.command_line = "train.py --kvstores nccl"}), "null") << "another option";
  EXPECT_EQ(kvstoreOf({.operation = "KVStoreReduce"}), "local");
  EXPECT_EQ(kvstoreOf({.operation = "KVStoreDistDefaultPush"}), "dist");
  EXPECT_EQ(kvstoreOf({.operation = "KVStoreNCCLReduce"}), "nccl");
}

}  // namespace
}  // namespace pitwall::analysis::devices_test
