// Chrome, Kineto and MXNet JSON of the corpus against counts and sums that were computed without Pitwall.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "tests/db/import/corpus.h"
#include "tests/db/import/imported.h"

namespace pitwall::test::corpus_chrome_test {
namespace {

// The rows of an expected answer, its header left out.
std::vector<std::string> expectedRows(const std::string& name) {
  std::istringstream text(readFile(corpusFolder() + "/perfetto_json/" + name + ".expected.txt"));
  std::vector<std::string> rows;
  bool answer = false;
  for (std::string line; std::getline(text, line);) {
    if (answer && !line.empty()) rows.push_back(line);
    if (line == "-- expected csv") answer = true;
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

std::unique_ptr<Imported> perfettoCase(const std::string& name) {
  return importFiles({corpusFolder() + "/perfetto_json/" + name + ".json"});
}

// (start, length, name) of all ranges, absolute, as that other tool's answers give them.
std::vector<std::string> ranges(const Imported& imported, std::int64_t zero_ns, bool with_depth) {
  std::vector<std::string> rows;
  for (const auto& [track, event] : imported.sink.all_events) {
    std::string row = std::to_string(event.start_ns + zero_ns) + "," + std::to_string(event.dur_ns) + ",\"" +
                      imported.sink.text(event.name) + "\"";
    if (with_depth) row += "," + std::to_string(event.depth);
    rows.push_back(row);
  }
  return rows;
}

TEST(ImportCorpus, EventsByPhaseAndCategory) {
  PITWALL_NEEDS_CORPUS();
  int files = 0;
  for (const auto& [path, expected] : expectedCounts()) {
    const Expected phases = below(expected, "ph");
    if (phases.empty()) continue;
    SCOPED_TRACE(path);
    ++files;
    const auto imported = importFiles({corpusFolder() + "/" + path});
    ASSERT_EQ(imported->error, "");
    EXPECT_TRUE(imported->summary.complete());
    std::int64_t events = 0;
    for (const auto& [phase, count] : phases) {
      EXPECT_EQ(imported->records("phase " + phase), std::atoll(count.c_str())) << "phase " << phase;
      events += std::atoll(count.c_str());
    }
    EXPECT_EQ(events, std::atoll(expected.at("events").c_str()));
    for (const auto& [category, count] : below(expected, "cat")) {
      if (category == "None") continue;
      EXPECT_EQ(imported->records("category " + category), std::atoll(count.c_str()))
          << "category " << category;
    }
    for (const auto& [what, entry] : imported->summary.dropped) {
      EXPECT_TRUE(what.substr(0, 9) == "arguments" || what.substr(0, 4) == "ends" ||
                  what.substr(0, 6) == "arrows" || what.substr(0, 12) == "asynchronous" ||
                  what.find("(dur)") != std::string::npos || what.find("(ts)") != std::string::npos ||
                  what.substr(0, 14) == "counter values")
          << what << ": " << entry.example;
    }
  }
  EXPECT_GE(files, 30);
}

// Three of the expected sums were added up in doubles of microseconds since 1970, which are 1 ns coarse:
// these are the same sums in decimal arithmetic.
const std::map<std::string, std::int64_t> kExactBusyNs = {
    {"hta/nccl_parser_config/nccl_data.json.gz", 157'500'014},
    {"tracelens/mi210/gpu_only_trace/gpu_only_trace.json.gz", 5'343'422},
    {"tracelens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 43'062'802},
};

TEST(ImportCorpus, DeviceBusyAndSpanToTheNanosecond) {
  PITWALL_NEEDS_CORPUS();
  int devices = 0;
  for (const auto& [path, expected] : expectedCounts()) {
    const Expected gpu = below(expected, "gpu");
    if (gpu.empty() || expected.count("events") == 0) continue;
    SCOPED_TRACE(path);
    const auto imported = importFiles({corpusFolder() + "/" + path});
    ASSERT_EQ(imported->error, "");
    auto use = deviceUse(*imported);
    for (const auto& [key, value] : gpu) {
      const int device = std::atoi(key.c_str());
      if (key.find("/ops") != std::string::npos) {
        EXPECT_EQ(use[device].operations, std::atoll(value.c_str()));
        ++devices;
      }
      const double ns = std::round(std::atof(value.c_str()) * 1000);
      if (key.find("busy_union_us") != std::string::npos) {
        const auto exact = kExactBusyNs.find(path);
        const double wanted = exact == kExactBusyNs.end() ? ns : static_cast<double>(exact->second);
        EXPECT_LE(std::fabs(static_cast<double>(use[device].busy_ns) - wanted), 1);
      }
      if (key.find("span_us") != std::string::npos) {
        EXPECT_LE(std::fabs(static_cast<double>(use[device].span_ns) - ns), 1);
      }
    }
  }
  EXPECT_GE(devices, 15);
}

// Kernels launched by the previous step are distinguished: within the step's range on the device the sums are
// those that another tool printed (gpu_timeline.csv beside the trace).
TEST(ImportCorpus, DeviceBusyWithinAStep) {
  PITWALL_NEEDS_CORPUS();
  const auto imported =
      importFiles({corpusFolder() + "/tracelens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"});
  ASSERT_EQ(imported->error, "");
  Event step;
  for (const auto& [track, event] : imported->named("ProfilerStep#6")) {
    if (imported->track(track).kind == TrackKind::stream) step = event;
  }
  EXPECT_EQ(step.dur_ns, 33'131'336);
  auto clipped = std::make_unique<Imported>();
  clipped->sink.tracks = imported->sink.tracks;
  clipped->sink.devices = imported->sink.devices;
  for (const auto& entry : imported->sink.all_events) {
    if (entry.second.start_ns >= step.start_ns) clipped->sink.all_events.push_back(entry);
  }
  EXPECT_NEAR(static_cast<double>(deviceUse(*clipped)[2].busy_ns), 29'743'928, 20);
}

// Sums that another tool printed for the whole of a trace (gpu_timeline.csv beside it), in ms.
TEST(ImportCorpus, DeviceTimesOfAnotherTool) {
  PITWALL_NEEDS_CORPUS();
  int files = 0;
  for (const auto& [path, expected] : expectedCounts()) {
    const std::size_t at = path.find("_perf_report_csvs/gpu_timeline.csv");
    if (at == std::string::npos || path.find("Qwen") != std::string::npos) continue;  // tested by step above
    SCOPED_TRACE(path);
    ++files;
    const auto imported = importFiles({corpusFolder() + "/" + path.substr(0, at) + ".json.gz"});
    ASSERT_EQ(imported->error, "");
    std::map<std::string, double> sums;
    std::istringstream text(readFile(corpusFolder() + "/" + path));
    for (std::string line; std::getline(text, line);) {
      const std::size_t comma = line.find(',');
      sums[line.substr(0, comma)] = std::atof(line.substr(comma + 1).c_str());
    }
    const auto use = deviceUse(*imported);
    ASSERT_EQ(use.size(), 1U);
    EXPECT_NEAR(static_cast<double>(use.begin()->second.busy_ns) / 1e6, sums.at("busy_time"), 1e-3);
    EXPECT_NEAR(static_cast<double>(use.begin()->second.span_ns) / 1e6, sums.at("total_time"), 1e-3);
    double copies = 0;
    for (const auto& [track, event] : imported->sink.all_events) {
      if (event.kind == EventKind::copy && imported->sink.text(event.name).substr(0, 6) == "Memcpy")
        copies += static_cast<double>(event.dur_ns) / 1e6;
    }
    EXPECT_NEAR(copies, sums.at("total_memcpy_time"), 1e-3);
  }
  EXPECT_EQ(files, 6);
}

TEST(ImportCorpus, RanksAndDevicesOfKineto) {
  PITWALL_NEEDS_CORPUS();
  for (const auto& [path, expected] : expectedCounts()) {
    const auto rank = expected.find("distributedInfo/rank");
    if (rank == expected.end() || rank->second == "null") continue;
    SCOPED_TRACE(path);
    const auto imported = importFiles({corpusFolder() + "/" + path});
    ASSERT_EQ(imported->error, "");
    EXPECT_EQ(imported->summary.inputs.at(0).format, "PyTorch Kineto JSON");
    EXPECT_EQ(imported->summary.ranks, std::vector<int>{std::atoi(rank->second.c_str())});
    for (const ProcessInfo& process : imported->sink.processes) {
      EXPECT_EQ(process.rank, std::atoi(rank->second.c_str()));
    }
  }
}

TEST(ImportCorpus, LaunchesOfKinetoAreJoined) {
  PITWALL_NEEDS_CORPUS();
  const auto imported =
      importFiles({corpusFolder() + "/hta/critical_path/cuda_event_sync/event_sync_trace.json.gz"});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->events("dependencies"), 5);  // four kernels and a copy
  EXPECT_EQ(imported->events("wait"), 4);          // cuda_sync
  const auto carried =
      importFiles({corpusFolder() + "/tracelens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"});
  EXPECT_GT(carried->events("kernel"), carried->events("dependencies"));
  bool noted = false;
  for (const std::string& note : carried->summary.notes)
    noted = noted || note.find("no launch in the file") != std::string::npos;
  EXPECT_TRUE(noted);
}

TEST(ImportCorpus, MxNetOperatorsCountedOnce) {
  PITWALL_NEEDS_CORPUS();
  for (const std::string path :
       {"mxnet/cpu_mnist_cnn_profile_output.json", "mxnet/gpu_mnist_cnn_profile_output.json"}) {
    SCOPED_TRACE(path);
    const auto imported = importFiles({corpusFolder() + "/" + path});
    ASSERT_EQ(imported->error, "");
    const Expected& expected = expectedCounts().at(path);
    EXPECT_EQ(imported->events("operator"), std::atoll(expected.at("ph/B").c_str()));
    EXPECT_EQ(imported->events("counter samples"), std::atoll(expected.at("ph/C").c_str()));
    EXPECT_EQ(imported->named("Convolution").size(), 2U);
    EXPECT_EQ(imported->sink.processes.size(), 1U);
  }
}

TEST(ImportCorpus, MxNetTableAgreesWithTheTimeline) {
  PITWALL_NEEDS_CORPUS();
  const auto table = importFiles({corpusFolder() + "/mxnet/EXPECTED_mnist_cnn_dumps.md"});
  const auto timeline = importFiles({corpusFolder() + "/mxnet/cpu_mnist_cnn_profile_output.json"});
  ASSERT_EQ(table->error, "");
  ASSERT_EQ(timeline->error, "");
  EXPECT_EQ(table->summary.inputs.at(0).format, "MXNet profiler table (dumps)");
  for (const std::string name :
       {"Convolution", "Pooling", "Activation", "FullyConnected", "_image_to_tensor"}) {
    SCOPED_TRACE(name);
    std::int64_t count = -1;
    for (const auto& [track, event] : table->named(name)) {
      if (table->track(track).name == "table 1: operator") count = event.value;
    }
    EXPECT_EQ(count, static_cast<std::int64_t>(timeline->named(name).size()));
  }
  const auto other = importFiles({corpusFolder() + "/mxnet/dumps_fashion_mnist_text_only.md"});
  EXPECT_EQ(other->error, "");
  EXPECT_GT(other->events("operator"), 10);
}

TEST(ImportCorpus, AnswersOfAnotherToolToCornerCases) {
  PITWALL_NEEDS_CORPUS();
  {
    const auto imported = perfettoCase("x_event_order");
    EXPECT_EQ(ranges(*imported, 1000, false).size(), expectedRows("x_event_order").size());
    EXPECT_EQ(imported->only("Parent").depth, 0);
    EXPECT_EQ(imported->only("Child").depth, 1);
    EXPECT_EQ(imported->only("Parent").dur_ns, 10000);
    EXPECT_EQ(imported->only("Child").dur_ns, 5000);
    EXPECT_EQ(imported->named("Parent").front().first, imported->named("Child").front().first);
  }
  for (const std::string name : {"invalid_string_ts_and_dur", "string_ts_trailing_chars"}) {
    SCOPED_TRACE(name);
    const auto imported = perfettoCase(name);
    EXPECT_EQ(imported->error, "");
    EXPECT_EQ(imported->sink.all_events.size(), expectedRows(name).size());
    EXPECT_EQ(Imported::counted(imported->summary.dropped, "events whose"), 2);
  }
  {
    const auto imported = perfettoCase("json_incomplete");
    EXPECT_EQ(imported->sink.all_events.size(), 1U);
    EXPECT_EQ(imported->only("typecheck").dur_ns, 8'000'000);
    EXPECT_EQ(Imported::counted(imported->summary.repaired, "an array of events that is not closed"), 1);
  }
  {
    const auto imported = perfettoCase("json_id2_local_int_id");
    EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1750244461563845000");
    EXPECT_EQ(imported->only("write").dur_ns, 167000);
  }
  EXPECT_EQ(perfettoCase("json_id2_global_string_id")->only("AsyncId2GlobalString").dur_ns, 100'000);
  {
    const auto imported = perfettoCase("overlapping_complete_event_recovered");
    EXPECT_EQ(imported->sink.all_events.size(), 2U);
    EXPECT_EQ(Imported::counted(imported->summary.repaired, "events that overlap"), 1);
  }
  {
    const auto imported = perfettoCase("args_ordered");
    EXPECT_EQ(imported->sink.all_events.size(), 2U);
    EXPECT_EQ(Imported::counted(imported->summary.repaired, "commas too many"), 2);
  }
}

TEST(ImportCorpus, CountersThreadStatesAndMetadataOfCornerCases) {
  PITWALL_NEEDS_CORPUS();
  {
    const auto imported = perfettoCase("json_counter_args");
    std::vector<std::string> rows;
    for (const auto& [track, sample] : imported->sink.all_counters) {
      char row[200];
      std::snprintf(row, sizeof row, "%lld,\"[NULL]\",\"%s\",%.6f",
                    static_cast<long long>(imported->sink.processes.at(0).pid),
                    imported->track(track).name.c_str(), sample.value);
      rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, expectedRows("json_counter_args"));
    EXPECT_EQ(Imported::counted(imported->summary.dropped, "counter values"), 5);
  }
  {
    const auto imported = perfettoCase("json_thread_state");
    EXPECT_EQ(imported->sink.all_events.size(), expectedRows("json_thread_state").size());
    EXPECT_EQ(imported->only("D").start_ns, 15'000'000);
    EXPECT_EQ(imported->only("D").dur_ns, 8'000'000);
  }
  {
    const auto imported = perfettoCase("json_trace_metadata");
    EXPECT_EQ(imported->sink.meta_values.at("import.metadata.cpuThrottling"), "1");
    EXPECT_EQ(imported->sink.meta_values.at("import.metadata.source"), "DevTools");
    EXPECT_EQ(imported->sink.meta_values.at("import.metadata.startTime"), "2023-09-21T21:04:15.706Z");
  }
  {
    const auto imported = perfettoCase("json_thread_state_sched");
    std::vector<std::string> rows;
    for (const auto& [track, event] : imported->named("Running"))
      rows.push_back(std::to_string(event.start_ns + 1'000'000) + "," + std::to_string(event.dur_ns));
    ASSERT_EQ(rows.size(), expectedRows("json_thread_state_sched").size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(expectedRows("json_thread_state_sched")[i].substr(0, rows[i].size() + 1), rows[i] + ",");
  }
  // Asynchronous ranges belong to no thread: that tool's answer is empty.
  for (const std::string name : {"json_async", "json_id2"}) {
    SCOPED_TRACE(name);
    const auto imported = perfettoCase(name);
    EXPECT_TRUE(expectedRows(name).empty());
    EXPECT_FALSE(imported->sink.all_events.empty());
    for (const auto& [track, event] : imported->sink.all_events) EXPECT_FALSE(imported->track(track).thread);
  }
  {
    const auto imported = perfettoCase("json_sort_index_ordering");
    EXPECT_EQ(imported->sink.all_events.size(), 4U);
    EXPECT_EQ(Imported::counted(imported->summary.not_understood, "hints for display"), 8);
  }
}

}  // namespace
}  // namespace pitwall::test::corpus_chrome_test
