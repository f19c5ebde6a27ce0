// The analyses over real traces of other tools, against what those tools and the corpus's makers computed.
#include <fmt/core.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "analyzer/analysis.h"
#include "analyzer/critical_path/path.h"
#include "tests/analyzer/analyzed.h"
#include "tests/db/import/corpus.h"

namespace pitwall::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Analyzed> analyzeFile(const std::string& input) { return analyzeFiles({input}); }

std::unique_ptr<Analyzed> analyzeCorpus(const std::string& name) {
  return analyzeFile(corpusFolder() + "/" + name);
}

std::unique_ptr<Analyzed> analyzeText(const std::string& text) {
  const auto input = fs::path(testing::TempDir()) / fmt::format("pitwall-dumps-{}.txt", getpid());
  std::ofstream(input) << text;
  auto result = analyzeFile(input.string());
  fs::remove(input);
  return result;
}

// "computation_time,1.225308837890625,16.2" -> ms by name.
std::map<std::string, double> timelineCsv(const std::string& path) {
  std::map<std::string, double> result;
  std::istringstream lines(readFile(path));
  for (std::string line; std::getline(lines, line);) {
    const auto comma = line.find(',');
    if (comma != std::string::npos) result[line.substr(0, comma)] = std::atof(line.c_str() + comma + 1);
  }
  return result;
}

constexpr const char* kTraceLens[][2] = {
    {"h100/Falconsai_nsfw_image_detection__1016002.json.gz",
     "h100/Falconsai_nsfw_image_detection__1016002_perf_report_csvs"},
    {"h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz",
     "h100/facebook_timesformer-base-finetuned-k400__1016002_perf_report_csvs"},
    {"h100/gaunernst_bert-small-uncased__1016001.json.gz",
     "h100/gaunernst_bert-small-uncased__1016001_perf_report_csvs"},
    {"mi210/gpu_only_trace/gpu_only_trace.json.gz", "mi210/gpu_only_trace/gpu_only_trace_perf_report_csvs"},
    {"mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
     "mi300/Qwen_Qwen1.5-0.5B-Chat__1016005_perf_report_csvs"},
    {"mi300/gaunernst_bert-small-uncased__1016001.json.gz",
     "mi300/gaunernst_bert-small-uncased__1016001_perf_report_csvs"},
    {"torch_compile_triton/trace.json.gz", "torch_compile_triton/trace_perf_report_csvs"},
};

TEST(AnalysisCorpus, DeviceTimesAreTraceLensToTheMicrosecond) {
  PITWALL_NEEDS_CORPUS();
  for (const auto& [trace, folder] : kTraceLens) {
    SCOPED_TRACE(trace);
    const auto a = analyzeCorpus(std::string("tracelens/") + trace);
    ASSERT_EQ(a->error, "");
    const auto expected = timelineCsv(corpusFolder() + "/tracelens/" + folder + "/gpu_timeline.csv");
    ASSERT_FALSE(expected.empty());
    const std::pair<const char*, const char*> kColumns[] = {{"computation_time", "computation_ns"},
                                                            {"exposed_comm_time", "communication_ns"},
                                                            {"exposed_memcpy_time", "copies_ns"},
                                                            {"busy_time", "busy_ns"},
                                                            {"idle_time", "all_idle_ns"},
                                                            {"total_time", "span_ns"},
                                                            {"total_comm_time", "communication_total_ns"},
                                                            {"total_memcpy_time", "copies_total_ns"}};
    for (const auto& [csv, column] : kColumns) {
      EXPECT_NEAR(a->number(fmt::format("SELECT {} / 1e6 FROM analysis_device", column)), expected.at(csv),
                  0.001)
          << csv;
    }
    EXPECT_EQ(a->number("SELECT span_ns - computation_ns - communication_ns - copies_ns - data_wait_ns - "
                        "synchronisation_ns "
                        "- host_wait_ns - kernel_wait_ns - idle_ns FROM analysis_device"),
              0);
  }
}

// Name, sum and count; a name can have several rows by stream and parent.
std::map<std::string, std::pair<double, double>> kernelCsv(const std::string& path) {
  std::map<std::string, std::pair<double, double>> result;
  std::istringstream lines(readFile(path));
  std::vector<std::string> head;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        cells.emplace_back();
      else if (c != '\r')
        cells.back() += c;
    }
    if (head.empty()) {
      head = cells;
      continue;
    }
    std::string name;
    double sum = 0, count = 0;
    bool carried_in = false;  // without a launch in the file
    for (std::size_t i = 0; i < std::min(head.size(), cells.size()); ++i) {
      if (head[i] == "Parent cpu_op") carried_in = cells[i].empty();
      if (head[i] == "Kernel name") name = cells[i];
      if (head[i].ends_with("_sum")) sum = std::atof(cells[i].c_str());
      if (head[i].ends_with("_count")) count = std::atof(cells[i].c_str());
    }
    if (carried_in) continue;
    result[name].first += sum;
    result[name].second += count;
  }
  return result;
}

TEST(AnalysisCorpus, KernelsAreTraceLensToTheMicrosecond) {
  PITWALL_NEEDS_CORPUS();
  for (const auto& [trace, folder] : kTraceLens) {
    SCOPED_TRACE(trace);
    const auto a = analyzeCorpus(std::string("tracelens/") + trace);
    ASSERT_EQ(a->error, "");
    const auto expected = kernelCsv(corpusFolder() + "/tracelens/" + folder + "/kernel_summary.csv");
    ASSERT_FALSE(expected.empty());
    std::map<std::string, std::pair<double, double>> actual;
    for (const auto& row : a->rows("SELECT name, total_ns / 1e3, count FROM analysis_kernel").rows) {
      actual[std::get<std::string>(row[0])] = {std::get<double>(row[1]),
                                               static_cast<double>(std::get<std::int64_t>(row[2]))};
    }
    for (const auto& [name, sums] : expected) {
      EXPECT_NEAR(actual[name].first, sums.first, 1.0) << name;
      EXPECT_EQ(actual[name].second, sums.second) << name;
    }
  }
}

TEST(AnalysisCorpus, EveryKindOfTraceSumsToItsSpan) {
  PITWALL_NEEDS_CORPUS();
  for (const auto& [path, expected] : expectedCounts()) {
    if (path.rfind("hta/", 0) != 0 && path.rfind("nsys/", 0) != 0) continue;
    SCOPED_TRACE(path);
    const auto a = analyzeCorpus(path);
    ASSERT_EQ(a->error, "");
    EXPECT_EQ(
        a->number(
            "SELECT coalesce(sum(span_ns - computation_ns - communication_ns - copies_ns - data_wait_ns - "
            "synchronisation_ns - host_wait_ns - kernel_wait_ns - idle_ns), 0) FROM analysis_device"),
        0);
    EXPECT_EQ(a->number("SELECT coalesce(sum(span_ns - device_ns - host_ns - delay_ns - nothing_ns), 0) FROM "
                        "analysis_critical_path"),
              0);
    EXPECT_EQ(
        a->number("SELECT count(*) FROM (SELECT start_ns, lag(start_ns + dur_ns) OVER (ORDER BY start_ns) AS "
                  "before FROM analysis_critical_step) WHERE before IS NOT NULL AND before <> start_ns"),
        0);
    double shares = 0;
    for (const auto& share : a->report.breakdown.shares) shares += share.share;
    if (a->report.breakdown.wall_ns > 0) {
      EXPECT_NEAR(shares, 1, 1e-9);
    }
  }
}

TEST(AnalysisCorpus, LaunchBoundInferenceIsNamed) {
  PITWALL_NEEDS_CORPUS();
  for (const char* name : {"h100/gaunernst_bert-small-uncased__1016001.json.gz",
                           "h100/Falconsai_nsfw_image_detection__1016002.json.gz"}) {
    const auto a = analyzeCorpus(std::string("tracelens/") + name);
    ASSERT_EQ(a->error, "");
    const auto* found = a->finding("gpu/launch-bound");
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->severity, Severity::high);
    for (const auto& finding : a->report.findings) {
      for (const auto& proposal : finding.proposals)
        EXPECT_NE(proposal.name.rfind("MXNET_", 0), 0U) << proposal.name << " for PyTorch";
    }
  }
}

TEST(AnalysisCorpus, BusyDevicesAreLeftInPeace) {
  PITWALL_NEEDS_CORPUS();
  for (const char* name : {"tracelens/h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz",
                           "nsys/healthy_1pct.sqlite"}) {
    const auto a = analyzeCorpus(name);
    ASSERT_EQ(a->error, "");
    EXPECT_EQ(a->finding("gpu/idle"), nullptr) << name;
    EXPECT_EQ(a->finding("gpu/launch-bound"), nullptr) << name;
    EXPECT_EQ(a->finding("communication/share"), nullptr) << name;
  }
}

TEST(AnalysisCorpus, NsightCapturesIdleAndCopies) {
  PITWALL_NEEDS_CORPUS();
  const auto mock = analyzeCorpus("nsys/mock.sqlite");
  ASSERT_EQ(mock->error, "");
  ASSERT_NE(mock->finding("gpu/idle"), nullptr);
  EXPECT_EQ(mock->finding("gpu/idle")->severity, Severity::high);
  EXPECT_EQ(mock->finding("communication/share"), nullptr);
  const auto mfu = analyzeCorpus("nsys/mfu_2gpu_before.sqlite");
  ASSERT_EQ(mfu->error, "");
  EXPECT_EQ(mfu->number("SELECT span_ns FROM analysis_device WHERE device = 'gpu 0'"), 299848812);
  EXPECT_EQ(mfu->number("SELECT busy_ns FROM analysis_device WHERE device = 'gpu 0'"), 273817787);
  EXPECT_NEAR(mfu->number("SELECT 1.0 * all_idle_ns / span_ns FROM analysis_device WHERE device = 'gpu 1'"),
              0.1051, 0.0001);
  EXPECT_EQ(mfu->finding("gpu/pageable-copies"), nullptr) << "34 copies of 8 bytes";
  EXPECT_EQ(mfu->finding("gpu/synchronises"), nullptr) << "it waits for a device that is busy";
}

TEST(AnalysisCorpus, SpinningThreadsAreDistinguishedFromSleepingOnes) {
  PITWALL_NEEDS_CORPUS();
  for (const char* name : {"omp2_active_r1", "omp2_active_r2"}) {
    const auto a = analyzeCorpus(fmt::format("onednn_generated/ab_threads/{}.log", name));
    ASSERT_EQ(a->error, "");
    EXPECT_NE(a->finding("threads/stalls"), nullptr) << name;
  }
  for (const char* name : {"omp2_passive_r1", "omp1_r1", "omp4_r1"}) {
    const auto a = analyzeCorpus(fmt::format("onednn_generated/ab_threads/{}.log", name));
    ASSERT_EQ(a->error, "");
    EXPECT_EQ(a->finding("threads/stalls"), nullptr) << name;
  }
}

TEST(AnalysisCorpus, VerboseLogsTellReordersAndMissingFusion) {
  PITWALL_NEEDS_CORPUS();
  const auto reorders = analyzeCorpus("onednn_snippets/v1.1.2_mxnet_conv_with_mkl.log");
  ASSERT_EQ(reorders->error, "");
  EXPECT_NE(reorders->finding("onednn/reorder-share"), nullptr);
  EXPECT_NEAR(
      reorders->number("SELECT 1.0 * sum(CASE WHEN name = 'reorder' THEN total_ns END) / sum(total_ns) FROM "
                       "analysis_operator WHERE backend = 'onednn'"),
      0.69, 0.005);
  const auto unfused = analyzeCorpus("onednn_snippets/v3.2.0_mlp_unfused.log");
  ASSERT_EQ(unfused->error, "");
  EXPECT_NE(unfused->finding("onednn/unfused"), nullptr);
  const auto fused = analyzeCorpus("onednn_snippets/v3.2.0_mlp_fused.log");
  ASSERT_EQ(fused->error, "");
  EXPECT_EQ(fused->finding("onednn/unfused"), nullptr);
}

TEST(AnalysisCorpus, CollectivesAreThoseOfTheTrace) {
  PITWALL_NEEDS_CORPUS();
  const auto a = analyzeCorpus("hta/nccl_parser_config/nccl_data.json.gz");
  ASSERT_EQ(a->error, "");
  EXPECT_EQ(a->number("SELECT sum(count) FROM analysis_collective WHERE collective = 'all_reduce'"), 15);
  EXPECT_EQ(a->number("SELECT sum(count) FROM analysis_collective WHERE collective = 'broadcast'"), 6);
  EXPECT_EQ(a->number("SELECT sum(total_ns) FROM analysis_collective"), 46876493);
  EXPECT_EQ(a->number("SELECT json_extract(args, '$.in_elements') FROM event WHERE kind = 'communication' "
                      "AND name LIKE '%AllReduce%' ORDER BY start_ns LIMIT 1"),
            2049000);
  EXPECT_EQ(a->number("SELECT min(group_size) FROM analysis_collective"), 2);
  EXPECT_EQ(a->number("SELECT max(group_size) FROM analysis_collective"), 2);
  EXPECT_EQ(a->number("SELECT sum(bytes) FROM analysis_collective WHERE collective = 'all_reduce'"),
            a->number("SELECT sum(4 * json_extract(args, '$.in_elements')) FROM event WHERE kind = "
                      "'communication' AND name LIKE '%AllReduce%'"));
  // Of two ranks a ring moves as much over the link as it reduces.
  EXPECT_EQ(a->number("SELECT max(abs(bus_bytes_per_second - algorithm_bytes_per_second)) FROM "
                      "analysis_collective WHERE collective = 'all_reduce'"),
            0);
}

TEST(AnalysisCorpus, RangesWithHardwareCountersAreOnTheDevice) {
  PITWALL_NEEDS_CORPUS();
  const auto a = analyzeCorpus("hta/cupti_profiler/benchmark_result_924719_1679055439_trace.json.gz");
  ASSERT_EQ(a->error, "");
  EXPECT_EQ(a->number("SELECT sum(count) FROM analysis_name WHERE kind = 'scope' AND track_kind = 'stream'"),
            77);
  EXPECT_GT(a->number("SELECT sum(count) FROM analysis_name WHERE name LIKE '%fft2d_r2c_32x32%'"), 0);
  EXPECT_EQ(
      a->number(
          "SELECT count(*) FROM analysis_counter WHERE name LIKE 'gpu 0: smsp__sass%' AND samples = 77"),
      9)
      << "each range has all nine counters";
  EXPECT_EQ(
      a->number("SELECT value FROM counter WHERE name LIKE '%ffma_pred_on.sum' ORDER BY time_ns LIMIT 1"),
      38731776);
  EXPECT_EQ(a->number("SELECT count(*) FROM analysis_device"), 0) << "no kernel was recorded";
  const auto stack = a->rows(
      "SELECT o.name FROM event r JOIN dependency d ON d.target = r.correlation JOIN event c ON "
      "c.correlation "
      "= d.source JOIN event o ON o.track = c.track AND o.kind = 'operator' AND o.start_ns <= c.start_ns AND "
      "o.end_ns >= c.end_ns WHERE r.id = (SELECT id FROM event WHERE name LIKE '%fft2d_r2c_32x32%' ORDER BY "
      "start_ns LIMIT 1) ORDER BY o.start_ns");
  ASSERT_EQ(stack.rows.size(), 4U);
  EXPECT_EQ(std::get<std::string>(stack.rows[0][0]), "aten::conv2d");
  EXPECT_EQ(std::get<std::string>(stack.rows[3][0]), "aten::cudnn_convolution");
}

// The critical path through the window of a range of the program.
analysis::CriticalPath criticalPathOf(const Analyzed& a, const std::string& range, int which,
                                      TimeNs end_after_begin_ns = 0) {
  const auto gathered = analysis::gatherActivity(*a.trace);
  EXPECT_TRUE(gathered.has_value());
  const auto found =
      a.rows(fmt::format("SELECT start_ns, dur_ns FROM event WHERE name = '{}' AND kind = 'scope' ORDER BY "
                         "start_ns LIMIT 1 OFFSET {}",
                         range, which));
  if (found.rows.empty()) return {};
  const auto begin = std::get<std::int64_t>(found.rows[0][0]), dur = std::get<std::int64_t>(found.rows[0][1]);
  const auto path = analysis::criticalPathOfDevices(
      *a.trace, *gathered, {begin, begin + (end_after_begin_ns > 0 ? end_after_begin_ns : dur)},
      ProcessId{1});
  EXPECT_TRUE(path.has_value());
  return path.value();
}

// "PART NAME US" of each step.
std::vector<std::string> criticalSteps(const Analyzed& a, const std::string& range, int which,
                                       TimeNs end_after_begin_ns = 0) {
  std::vector<std::string> steps;
  for (const auto& step : criticalPathOf(a, range, which, end_after_begin_ns).steps) {
    const auto& name =
        step.key.op ? a.trace->operatorFacts()[step.key.op.value - 1].name : a.trace->string(step.key.name);
    steps.push_back(fmt::format("{} {} {}", toString(step.key.part), name.substr(0, 20),
                                (step.end_ns - step.start_ns) / 1000));
  }
  return steps;
}

// What the path passes, as HTA counts it: events that take time; their starts and ends; what is between two
// outermost events of a thread, or between a launch and its work.
struct Passed {
  std::int64_t events = 0, starts_and_ends = 0, links = 0;
};

Passed passedBy(const Analyzed& a, const analysis::CriticalPath& path) {
  Passed passed;
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const auto& step = path.steps[i];
    const auto part = step.key.part;
    if (part == analysis::PathPart::kernel || part == analysis::PathPart::copy) {
      passed.events += 1, passed.starts_and_ends += 2;
    } else if (part == analysis::PathPart::operatorRun || part == analysis::PathPart::call) {
      // All that the path does on this thread: the one moment at which it leaves is the next part's.
      const TimeNs from = step.start_ns;
      const auto isOnThread = [&](const analysis::PathStep& s) {
        return s.track == step.track || s.key.part == analysis::PathPart::nothing;
      };
      while (i + 1 < path.steps.size() && isOnThread(path.steps[i + 1])) {
        ++i;
        if (path.steps[i].key.part == analysis::PathPart::nothing) passed.links += 1;
      }
      const auto counts = a.rows(fmt::format(
          "SELECT count(*), sum(start_ns >= {0}) + sum(start_ns + dur_ns < {1}) FROM event WHERE track = {2} "
          "AND kind IN ('operator', 'api') AND dur_ns > 0 AND start_ns < {1} AND start_ns + dur_ns > {0}",
          from, path.steps[i].end_ns, step.track.value));
      passed.events += std::get<std::int64_t>(counts.rows[0][0]);
      passed.starts_and_ends += std::get<std::int64_t>(counts.rows[0][1]);
    } else if (part == analysis::PathPart::launchDelay) {
      passed.links += 1;
    }
  }
  return passed;
}

bool holdsInOrder(const std::vector<std::string>& steps, const std::vector<std::string>& expected) {
  return std::search(steps.begin(), steps.end(), expected.begin(), expected.end()) != steps.end();
}

// HTA counts the starts and ends that its path passes as nodes; it weighs a launch from the begin of its
// call.
TEST(AnalysisCorpus, TheCriticalPathIsHtas) {
  PITWALL_NEEDS_CORPUS();
  const auto a =
      analyzeCorpus("hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz");
  ASSERT_EQ(a->error, "");
  const char* pass = "[param|pytorch.model.alex_net|0|0|0|measure|forward]";
  const auto steps = criticalSteps(*a, pass, 1);
  for (const auto& step : steps)
    EXPECT_TRUE(step.starts_with("operator") || step.starts_with("call") || step.starts_with("nothing"))
        << step;
  EXPECT_TRUE(holdsInOrder(
      steps, {"operator aten::relu_ 15", "operator aten::clamp_min_ 14", "call cudaLaunchKernel 17",
              "operator aten::clamp_min_ 15", "operator aten::relu_ 32"}));
  // Up to the end of the last kernel.
  const auto whole = passedBy(*a, criticalPathOf(*a, pass, 1, 242'690'000));
  EXPECT_EQ(whole.events, 159);
  EXPECT_EQ(whole.starts_and_ends, 315) << "nodes, which 314 edges join";
  EXPECT_EQ(whole.links, 21) << "the edges that HTA shows";
  // Up to the end of the fourth convolution's product: 27 us of launch (15 + 12), 7 us from kernel to kernel.
  const auto kernels = criticalSteps(*a, pass, 1, 222'937'000);
  EXPECT_TRUE(
      holdsInOrder(kernels, {"call cudaLaunchKernel 15", "launch delay  12", "kernel void fft2d_r2c_32x32 63",
                             "device delay  7", "kernel ampere_gcgemm_64x64_ 323"}))
      << fmt::format("{}", fmt::join(kernels, "\n"));
  const auto waiting = analyzeCorpus("hta/critical_path/cuda_event_sync/event_sync_trace.json.gz");
  ASSERT_EQ(waiting->error, "");
  EXPECT_TRUE(holdsInOrder(criticalSteps(*waiting, "ProfilerStep#100", 0),
                           {"kernel at::cuda::(anonymous 36", "call cudaEventSynchronize 8"}))
      << fmt::format("{}", fmt::join(criticalSteps(*waiting, "ProfilerStep#100", 0), "\n"));
}

TEST(AnalysisCorpus, TracesWithoutDevicesOrRanksAreAnalysedAllTheSame) {
  PITWALL_NEEDS_CORPUS();
  for (const char* name : {"hta/rank_non_gpu/rank_non_gpu.json.gz",
                           "hta/distributed_info_unavailable/distributed_info_not_found.json.gz",
                           "hta/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"}) {
    SCOPED_TRACE(name);
    const auto a = analyzeCorpus(name);
    ASSERT_EQ(a->error, "");
    for (const char* table : {"analysis_device", "analysis_launch", "analysis_copy", "analysis_collective"})
      EXPECT_EQ(a->number(fmt::format("SELECT count(*) FROM {}", table)), 0) << table;
    EXPECT_EQ(a->finding("gpu/idle"), nullptr);
    EXPECT_GT(a->number("SELECT count(*) FROM analysis_name"), 0);
  }
}

TEST(AnalysisCorpus, CallsAreSummedByThread) {
  PITWALL_NEEDS_CORPUS();
  const auto mfu = analyzeCorpus("nsys/mfu_2gpu_before.sqlite");
  ASSERT_EQ(mfu->error, "");
  EXPECT_EQ(mfu->number("SELECT sum(total_ns) FROM analysis_call WHERE name LIKE '%StreamSynchronize%'"),
            324534733);
  EXPECT_GT(mfu->number("SELECT count(*) FROM analysis_call WHERE name LIKE '%StreamSynchronize%'"), 1)
      << "of two processes: one clock does not hold both";
  const auto mxnet = analyzeCorpus("mxnet/cpu_mnist_cnn_profile_output.json");
  ASSERT_EQ(mxnet->error, "");
  EXPECT_EQ(mxnet->number("SELECT sum(count) FROM analysis_name WHERE name = 'Convolution'"), 2)
      << "each is written twice, as a duration and as an asynchronous one";
}

TEST(AnalysisCorpus, PrimitivesTakeWhatTheLogSays) {
  PITWALL_NEEDS_CORPUS();
  const auto mxnet = analyzeCorpus("onednn_snippets/v2.3.2_mxnet_optimize_for_before_after.log");
  ASSERT_EQ(mxnet->error, "");
  EXPECT_EQ(mxnet->number("SELECT sum(total_ns) FROM analysis_name WHERE name = 'eltwise'"), 85439200);
  EXPECT_EQ(mxnet->number("SELECT max(max_ns) FROM analysis_name WHERE name = 'convolution'"), 91511000);
  EXPECT_EQ(mxnet->number("SELECT min(min_ns) FROM analysis_name WHERE name = 'convolution'"), 20460000)
      << "fused";
  for (const auto& [log, ms] : {std::pair{"unfused", 103.93}, std::pair{"fused", 19.11}}) {
    const auto mlp = analyzeCorpus(fmt::format("onednn_snippets/v3.2.0_mlp_{}.log", log));
    ASSERT_EQ(mlp->error, "");
    EXPECT_NEAR(mlp->number("SELECT sum(total_ns) / 1e6 FROM analysis_name WHERE kind = 'operator'"), ms,
                0.005);
  }
  const auto active = analyzeCorpus("onednn_generated/ab_threads/omp2_active_r2.log");
  ASSERT_EQ(active->error, "");
  EXPECT_NEAR(active->number("SELECT avg(dur_ns > 3000000) FROM event WHERE kind = 'operator'"), 0.41, 0.005);
  EXPECT_NEAR(active->number("SELECT max(max_ns) / 1e6 FROM analysis_name WHERE kind = 'operator'"), 41,
              0.05);
  EXPECT_NEAR(
      active->number("SELECT dur_ns / 1e6 FROM event WHERE name = 'eltwise' ORDER BY dur_ns LIMIT 1 OFFSET "
                     "(SELECT CAST(0.9 * count(*) AS INTEGER) FROM event WHERE name = 'eltwise')"),
      11.96, 0.005)
      << "nine of ten";
}

// What mxnet.profiler.dumps() prints, of rows "name milliseconds"; each ran 500 times.
std::string dumps(const std::vector<std::pair<std::string, double>>& rows) {
  std::string text =
      "\nProfile Statistics:\n\tNote the difference in units for different "
      "entries.\noperator\n=================\n";
  text += fmt::format("{:<40}{:>16}{:>16}{:>16}{:>16}{:>16}\n", "Name", "Total Count", "Time (ms)",
                      "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)");
  text += fmt::format("{:<40}{:>16}{:>16}{:>16}{:>16}{:>16}\n", "----", "-----------", "---------",
                      "-------------", "-------------", "-------------");
  for (const auto& [name, ms] : rows)
    text += fmt::format("{:<40}{:>16}{:>16.4f}{:>16.4f}{:>16.4f}{:>16.4f}\n", name, 500, ms, 0.0, ms / 250,
                        ms / 500);
  return text;
}

struct SeedTable {
  const char* what;
  std::vector<std::pair<std::string, double>> rows;
  double communication, with_reduce;
};

TEST(AnalysisTables, CommunicationOfATrainingOnOneTwoAndFourGpus) {
  const SeedTable tables[] = {{"1 GPU",
                               {{"WaitForVar", 25.475},
                                {"CopyCPU2GPU", 69.975},
                                {"SyncCopyCPU2GPU", 38354.1},
                                {"CopyGPU2GPU", 36198.746},
                                {"SyncCopyGPU2CPU", 54909.424},
                                {"DeleteVariable", 5.367},
                                {"[FullyConnected,Activation]", 24724.46},
                                {"_zeros", 20.251},
                                {"[_backward_Activation]", 1496.502},
                                {"_backward_FullyConnected", 15115.844},
                                {"adam_update", 75968.027},
                                {"sum", 1341.661}},
                               0.52,
                               0.52},
                              {"2 GPUs",
                               {{"WaitForVar", 42.113},
                                {"CopyGPU2GPU", 130333.624},
                                {"SyncCopyCPU2GPU", 41525.572},
                                {"DeleteVariable", 7.273},
                                {"CopyCPU2GPU", 207.737},
                                {"SyncCopyGPU2CPU", 54367.06},
                                {"[_backward_Activation]", 7313.474},
                                {"_backward_FullyConnected", 11671.674},
                                {"_zeros", 889.516},
                                {"adam_update", 34903.49},
                                {"[FullyConnected,Activation]", 38184.385},
                                {"ElementwiseSum", 11007.014},
                                {"sum", 6335.426}},
                               0.67,
                               0.67},
                              {"4 GPUs",
                               {{"WaitForVar", 56.862},
                                {"KVStoreReduce", 135786.403},
                                {"DeleteVariable", 16.684},
                                {"[_backward_Activation]", 70779.204},
                                {"_backward_FullyConnected", 49550.718},
                                {"adam_update", 229746.453},
                                {"[FullyConnected,Activation]", 74044.214},
                                {"sum", 848.431},
                                {"SyncCopyGPU2CPU", 42517.441},
                                {"SyncCopyCPU2GPU", 50147.506},
                                {"CopyGPU2CPU", 515830.024},
                                {"CopyCPU2GPU", 665246.646},
                                {"CopyGPU2GPU", 18461.143}},
                               0.70,
                               0.77}};
  for (const auto& table : tables) {
    SCOPED_TRACE(table.what);
    const auto a = analyzeText(dumps(table.rows));
    ASSERT_EQ(a->error, "");
    const auto* kvstore = a->finding("communication/kvstore-type");
    ASSERT_NE(kvstore, nullptr);
    EXPECT_NE(kvstore->verdict.find("kvstore='device'"), std::string::npos);
    const auto share = a->number(
        "SELECT 1.0 * sum(CASE WHEN class = 'transfer' AND name NOT LIKE 'KVStore%' THEN total_ns END) / "
        "sum(total_ns) "
        "FROM analysis_name WHERE kind = 'operator'");
    EXPECT_NEAR(share, table.communication, 0.005);
    EXPECT_NE(kvstore->verdict.find(fmt::format("Communication is {:.1f} %", 100 * share)), std::string::npos)
        << kvstore->verdict;
    EXPECT_NEAR(a->number("SELECT 1.0 * sum(CASE WHEN class = 'transfer' THEN total_ns END) / sum(total_ns) "
                          "FROM analysis_name WHERE kind = 'operator'"),
                table.with_reduce, 0.005);
    EXPECT_EQ(a->number("SELECT min(count) FROM analysis_operator"), 500)
        << "executions, not rows of the table";
    EXPECT_TRUE(a->report.critical_path.rows.empty()) << "sums have no order";
    EXPECT_NE(a->finding("input/prefetching-iterator"), nullptr);
    EXPECT_NE(a->finding("kvstore/update-on-host"), nullptr);
    EXPECT_NE(a->finding("kvstore/update-on-host")->verdict.find("adam_update"), std::string::npos);
  }
}

}  // namespace
}  // namespace pitwall::test
