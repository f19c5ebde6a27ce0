// Devices and kernels of real traces, against the tables that TraceLens computed of them.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/analyzer/analyzed_corpus.h"

namespace pitwall::test::corpus_tracelens_test {
namespace {

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

}  // namespace
}  // namespace pitwall::test::corpus_tracelens_test
