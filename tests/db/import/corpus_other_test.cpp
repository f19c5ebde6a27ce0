// Nsight exports, oneDNN logs and the rest of the corpus.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "tests/db/import/corpus.h"
#include "tests/db/import/imported.h"

namespace pitwall::test::corpus_other_test {
namespace {

TEST(ImportCorpus, NsightRowsBusyAndSpan) {
  PITWALL_NEEDS_CORPUS();
  int files = 0;
  for (const auto& [path, expected] : expectedCounts()) {
    if (path.substr(0, 5) != "nsys/") continue;
    SCOPED_TRACE(path);
    ++files;
    const auto imported = importFiles({corpusFolder() + "/" + path});
    ASSERT_EQ(imported->error, "");
    EXPECT_TRUE(imported->summary.complete());
    EXPECT_EQ(imported->summary.inputs.at(0).format, "Nsight Systems SQLite export");
    for (const auto& [table, rows] : below(expected, "rows")) {
      if (imported->summary.records.count("rows " + table) == 0) continue;  // names, facts, secrets
      EXPECT_EQ(imported->records("rows " + table), std::atoll(rows.c_str())) << table;
    }
    for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"}) {
      EXPECT_GT(imported->records(std::string("rows ") + table), 0) << table;
    }
    auto use = deviceUse(*imported);
    for (const auto& [key, value] : below(expected, "gpu")) {
      const int device = std::atoi(key.c_str());
      const std::int64_t ns = std::atoll(value.c_str());
      EXPECT_EQ(key.find("busy") != std::string::npos ? use[device].busy_ns : use[device].span_ns, ns) << key;
    }
    std::int64_t kernels = 0;
    for (const auto& [track, event] : imported->sink.all_events) {
      if (event.kind == EventKind::kernel || event.kind == EventKind::communication) kernels += event.dur_ns;
    }
    EXPECT_EQ(kernels, std::atoll(expected.at("kernel_sum_ns").c_str()));
  }
  EXPECT_EQ(files, 3);
}

TEST(ImportCorpus, NsightNamesKindsAndProcesses) {
  PITWALL_NEEDS_CORPUS();
  const auto imported = importFiles({corpusFolder() + "/nsys/mfu_2gpu_before.sqlite"});
  ASSERT_EQ(imported->error, "");
  std::int64_t pageable = 0;
  std::int64_t sync_ns = 0;
  for (const auto& [track, event] : imported->sink.all_events) {
    const std::string name = imported->sink.text(event.name);
    if (name == "Memcpy HtoD (Pageable -> Device)" && event.value == 8) ++pageable;
    if (name == "cudaStreamSynchronize" && event.kind == EventKind::api) sync_ns += event.dur_ns;
  }
  EXPECT_EQ(pageable, 34);
  EXPECT_NEAR(static_cast<double>(sync_ns) / 1e6, 324.5, 0.05);
  int python = 0;
  for (const ProcessInfo& process : imported->sink.processes) {
    if (process.name == "python3") ++python;
  }
  EXPECT_EQ(python, 2);
  for (const auto& [key, value] : imported->sink.meta_values) {
    EXPECT_EQ(value.find("NV_LIBCUBLAS"), std::string::npos) << "the environment was taken over in " << key;
  }
}

TEST(ImportCorpus, OneDnnSumsAndLines) {
  PITWALL_NEEDS_CORPUS();
  int files = 0;
  for (const auto& [path, expected] : expectedCounts()) {
    const Expected lines = below(expected, "lines");
    if (lines.empty()) continue;
    SCOPED_TRACE(path);
    ++files;
    const auto imported = importFiles({corpusFolder() + "/" + path});
    ASSERT_EQ(imported->error, "");
    std::map<std::string, std::int64_t> sums;
    for (const auto& [track, event] : imported->sink.all_events) {
      if (event.kind == EventKind::operatorRun &&
          imported->sink.facts.at(event.op.value - 1).backend == "onednn") {
        sums[imported->sink.text(event.name)] += event.dur_ns;
      }
    }
    for (const auto& [primitive, ms] : below(expected, "exec_ms")) {
      EXPECT_NEAR(static_cast<double>(sums[primitive]) / 1e6, std::atof(ms.c_str()), 2e-3) << primitive;
      sums.erase(primitive);
    }
    EXPECT_TRUE(sums.empty()) << sums.begin()->first;
    EXPECT_EQ(imported->records("lines exec"),
              lines.count("exec") ? std::atoll(lines.at("exec").c_str()) : 0);
    const std::int64_t created = imported->records("lines create") + imported->records("lines dispatch");
    EXPECT_EQ(created, lines.count("create") ? std::atoll(lines.at("create").c_str()) : 0);
    EXPECT_EQ(imported->records("lines torn"), 0);
  }
  EXPECT_EQ(files, 23);
}

TEST(ImportCorpus, OneDnnTraps) {
  PITWALL_NEEDS_CORPUS();
  const auto gpu =
      importFiles({corpusFolder() + "/onednn_snippets/v1.90_cnn_inference_gpu_NO_TIME_FIELD.log"});
  EXPECT_EQ(Imported::counted(gpu->summary.repaired, "executions without a time"), 3);
  const auto mkl = importFiles({corpusFolder() + "/onednn_snippets/v1.1.2_mxnet_conv_with_mkl.log"});
  EXPECT_EQ(mkl->only("SGEMM").dur_ns, 8'930'000);
}

TEST(ImportCorpus, JsonLinesOfSystemMetrics) {
  PITWALL_NEEDS_CORPUS();
  const std::string folder = corpusFolder() + "/sagemaker_debugger/";
  const auto whole = importFiles({folder + "1591160699.algo-1.json"});
  ASSERT_EQ(whole->error, "");
  EXPECT_TRUE(whole->summary.complete());
  EXPECT_EQ(whole->events("counter samples"), 14);
  const auto cut = importFiles({folder + "1591160699.algo-1.json.corrupt"});
  ASSERT_EQ(cut->error, "");
  EXPECT_FALSE(cut->summary.complete());
  EXPECT_EQ(cut->events("counter samples"), 13);
  EXPECT_NE(cut->summary.inputs.at(0).damage.find("line 14"), std::string::npos)
      << cut->summary.inputs.at(0).damage;
}

// For each file a trace or a message. A file that is not a trace gets a message saying so.
TEST(ImportCorpus, EveryFileGivesEventsOrAMessage) {
  PITWALL_NEEDS_CORPUS();
  int traces = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpusFolder())) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path().string());
    const auto imported = importFiles({entry.path().string()});
    const std::string extension = entry.path().extension();
    const std::string name = entry.path().filename();
    const bool other = extension == ".csv" || extension == ".txt" || name == "README.md" ||
                       name == "MANIFEST.md" || name == "EXPECTED_COUNTS.json" ||
                       name == "google_cloud_trace.json" || name == "binary_garbage.json";
    if (other) {
      EXPECT_NE(imported->error, "");
      EXPECT_EQ(imported->code, ErrorCode::invalidInput);
      continue;
    }
    ASSERT_EQ(imported->error, "");
    ++traces;
    const bool dropped = Imported::counted(imported->summary.dropped, "") > 0;
    const std::int64_t found = imported->summary.totalEvents() + imported->events("counter samples");
    EXPECT_TRUE(found > 0 || dropped || Imported::counted(imported->summary.not_understood, "") > 0);
    EXPECT_EQ(static_cast<std::size_t>(imported->summary.totalEvents()), imported->sink.all_events.size());
  }
  EXPECT_GE(traces, 90);
}

// No file of the corpus is left out: each is compared with its expected numbers, is itself an expected
// answer, or is listed here with the reason why there is nothing to compare.
TEST(ImportCorpus, EveryFileIsComparedOrHasItsReason) {
  PITWALL_NEEDS_CORPUS();
  const std::map<std::string, std::string> reasons = {
      {"catapult/README.md", "describes its folder"},
      {"catapult/google_cloud_trace.json",
       "spans of a cloud service, which is another format: refused with a message"},
      {"mxnet/EXPECTED_mnist_cnn_dumps.md", "compared with its timeline by MxNetTableAgreesWithTheTimeline"},
      {"mxnet/dumps_fashion_mnist_text_only.md",
       "has no timeline: rows and totals are checked as they stand"},
      {"perfetto_json/args_ordered.json",
       "no JSON: commas too many, which Pitwall repairs; checked with its answer"},
      {"perfetto_json/json_incomplete.json", "no JSON: cut on purpose; checked with its answer"},
      {"sagemaker_debugger/1591160699.algo-1.json", "JSON lines: checked by JsonLinesOfSystemMetrics"},
      {"sagemaker_debugger/1591160699.algo-1.json.corrupt", "cut: checked by JsonLinesOfSystemMetrics"},
  };
  for (const auto& [path, expected] : expectedCounts()) {
    const bool compared = !below(expected, "ph").empty() || !below(expected, "rows").empty() ||
                          !below(expected, "lines").empty();
    const bool answer =
        path.find(".expected.txt") != std::string::npos || path.find("_csvs/") != std::string::npos;
    const bool malformed = path.substr(0, 10) == "malformed/";  // corpus_malformed_test.cpp
    EXPECT_TRUE(compared || answer || malformed || reasons.count(path) > 0) << path;
  }
  for (const auto& [path, reason] : reasons) EXPECT_EQ(expectedCounts().count(path), 1U) << path;
}

}  // namespace
}  // namespace pitwall::test::corpus_other_test
