// CSV files of nvprof and rocprofv3; regular expressions read the fixtures independently.
#include "db/import/input/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"

namespace pitwall::test::csv_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Adds up what `value` makes of each match.
template <class Value>
std::int64_t sumOf(const std::string& text, const std::string& pattern, const Value& value) {
  std::int64_t total = 0;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    total += value(*at);
  return total;
}
std::int64_t nanoseconds(const std::string& number, double scale) {
  return std::llround(std::stod(number) * scale);
}
std::int64_t totalNs(const Imported& imported) {
  std::int64_t total = 0;
  for (const auto& [track, event] : imported.sink.all_events) total += event.dur_ns;
  return total;
}

TEST(Csv, ValuesWithQuotesAndCommas) {
  EXPECT_THAT(import::csvValues("a,\"b,\"\"c\"\"\",,d\r"), ElementsAre("a", "b,\"c\"", "", "d"));
  EXPECT_THAT(import::csvValues(""), ElementsAre(""));
  EXPECT_THAT(import::csvValues("\"open, to the end"), ElementsAre("open, to the end"));
  EXPECT_EQ(import::csvValues(std::string(1000, ',')).size(), 256U);
  const import::CsvHeader header({"LDS_Block_Size", "b"});
  EXPECT_EQ(header["Lds_Block_Size"].of({"x", "y"}), "x");
  EXPECT_EQ(header["b"].of({"x"}), "") << "a short line";
  EXPECT_FALSE(header["c"]);
  EXPECT_EQ(header["c"].of({"x"}), "");
}

TEST(ImportNvprofCsv, TheSummaryHoldsSums) {
  const std::string text = readAll(seedFile("nvprof_csv/summary.csv"));
  const auto imported = importText(text);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "nvprof CSV, summary");
  EXPECT_EQ(imported->sink.meta_values.at("import.timeline"), "sums only");
  const auto milliseconds = [](const std::smatch& row) { return nanoseconds(row[1], 1e6); };
  EXPECT_EQ(totalNs(*imported),
            sumOf(text, "\n\"(?:GPU activities|API calls)\",[0-9.]+,([0-9.]+),", milliseconds));
  EXPECT_EQ(imported->only("volta_sgemm_128x64_nn").value, 100) << "calls";
  EXPECT_EQ(imported->only("void add<float, int=3>(float*, int)").kind, EventKind::kernel);
  EXPECT_EQ(imported->only("[CUDA memcpy HtoD]").kind, EventKind::copy);
  EXPECT_EQ(imported->only("cudaLaunchKernel").kind, EventKind::api);
  EXPECT_EQ(imported->sink.processes.at(0).pid, 4711);
}

TEST(ImportNvprofCsv, TheTraceHoldsTimesInUnitsOfTheirColumns) {
  const std::string text = readAll(seedFile("nvprof_csv/gpu_trace.csv"));
  const auto imported = importText(text);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "nvprof CSV, trace");
  EXPECT_EQ(imported->sink.meta_values.count("import.timeline"), 0U);
  const auto microseconds = [](const std::smatch& row) { return nanoseconds(row[1], 1e3); };
  EXPECT_EQ(totalNs(*imported), sumOf(text, "\n[0-9.]+,([0-9.]+),", microseconds));
  const Event kernel = imported->only("volta_sgemm_128x64_nn");
  EXPECT_EQ(kernel.start_ns, 4'650'000 - 4'643'346);
  const KernelFacts& facts = imported->sink.kernels.at(kernel.kernel.value - 1);
  EXPECT_EQ(facts.grid, (std::array<std::int32_t, 3>{80, 2, 1}));
  EXPECT_EQ(facts.static_shared_bytes, 12 * 1024);
  EXPECT_EQ(facts.dynamic_shared_bytes, 64);
  EXPECT_EQ(imported->only("[CUDA memcpy HtoD]").value, 128 * 1024);
  EXPECT_EQ(imported->only("ncclAllReduceRingLLKernel_sum_f32").kind, EventKind::communication);
  EXPECT_EQ(imported->sink.devices.at(0).name, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(imported->sink.devices.at(0).index, 1);
  EXPECT_EQ(imported->track(imported->named("volta_sgemm_128x64_nn").front().first).name, "gpu 1 stream 7");
  ASSERT_EQ(imported->summary.notes.size(), 1U);
  EXPECT_THAT(imported->summary.notes[0], HasSubstr("invalid timestamps"));
  for (const auto& [key, value] : imported->sink.meta_values)
    EXPECT_EQ(value.find("train.py"), std::string::npos) << "the command line is left out";
}

TEST(ImportNvprofCsv, RowsThatCannotBeReadAreCounted) {
  const auto imported = importText(
      "==1== Profiling result:\n\"Start\",\"Duration\",\"Stream\",\"Name\"\nfurlongs,us,,\n1,2,7,\"a\"\n"
      "==1== Profiling "
      "result:\n\"Start\",\"Duration\",\"Stream\",\"Name\"\nus,us,,\n1,2,7,\"a\"\nx,2,7,\"b\"\n");
  EXPECT_EQ(imported->summary.totalEvents(), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "rows without a start or a duration"), 2);
}

// A row that is left out takes no place, so that no number of them exceeds what a time can hold.
TEST(ImportNvprofCsv, RowsOfTheSummaryThatAreTooLongTakeNoPlace) {
  std::string text = "==7== Profiling result:\n\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Name\"\n,%,s,,\n";
  for (int i = 0; i < 2050; ++i) text += "\"GPU activities\",1,4000000000,1,\"far\"\n";
  text += "\"GPU activities\",1,2,1,\"near\"\n\"GPU activities\",1,1,1,\"next\"\n";
  const auto imported = importText(text);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.totalEvents(), 3) << "the first of the long ones";
  EXPECT_EQ(imported->only("next").start_ns - imported->only("near").start_ns, 2'000'000'000);
}

TEST(ImportNvprofCsv, NotesOfTheFileAreBounded) {
  std::string text =
      "==7== Profiling result:\n\"Start\",\"Duration\",\"Stream\",\"Name\"\nus,us,,\n1,2,7,\"a\"\n";
  for (int i = 0; i < 1500; ++i) text += "==7== Warning: number " + std::to_string(i) + "\n";
  const auto imported = importText(text);
  ASSERT_EQ(imported->summary.notes.size(), 1001U);
  EXPECT_THAT(imported->summary.notes[999], HasSubstr("number 999"));
  EXPECT_EQ(imported->summary.notes.back(), "further notes are left out");
}

TEST(ImportRocmCsv, KernelsByNamesOfColumns) {
  const std::string text = readAll(seedFile("rocm_csv/kernel_trace.csv"));
  const auto imported = importText(text);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "CSV of rocprofv3");
  const auto length = [](const std::smatch& row) { return std::stoll(row[2]) - std::stoll(row[1]); };
  EXPECT_EQ(totalNs(*imported), sumOf(text, ",([0-9]{12,}),([0-9]{12,}),", length));
  EXPECT_EQ(imported->events("kernel"), 2);
  EXPECT_EQ(imported->only("ncclDevKernel_Generic").kind, EventKind::communication);
  const Event kernel = imported->only("gemm(float*, float const*)");
  const KernelFacts& facts = imported->sink.kernels.at(kernel.kernel.value - 1);
  EXPECT_EQ(facts.grid, (std::array<std::int32_t, 3>{10, 2, 1}));
  EXPECT_EQ(facts.block, (std::array<std::int32_t, 3>{64, 2, 1}));
  EXPECT_EQ(facts.registers_per_thread, 64);
  EXPECT_EQ(facts.static_shared_bytes, 1024);
  EXPECT_EQ(facts.local_bytes, 16);
  EXPECT_EQ(imported->sink.devices.at(0).index, 2);
  EXPECT_EQ(imported->track(imported->named("ncclDevKernel_Generic").front().first).name, "gpu 2 stream 3");
}

TEST(ImportRocmCsv, OlderColumnsCopiesCallsAndMarkers) {
  const auto old = importText(
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_"
      "Timestamp\","
      "\"End_Timestamp\",\"Group_Segment_Size\",\"Workgroup_Size_X\",\"Grid_Size_X\"\n"
      "\"KERNEL_DISPATCH\",1,9,15,\"transpose\",0,671599758568,671599825328,32,4,1024\n");
  ASSERT_EQ(old->error, "");
  const Event transpose = old->only("transpose");
  EXPECT_EQ(old->sink.kernels.at(transpose.kernel.value - 1).static_shared_bytes, 32);
  EXPECT_EQ(old->track(old->named("transpose").front().first).name, "gpu 1 stream queue 9");
  const auto copies = importText(
      "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\","
      "\"Start_Timestamp\",\"End_Timestamp\"\n\"MEMORY_COPY\",\"DEVICE_TO_HOST\",\"Agent 3\",\"Agent 0\",0,"
      "14955949675563,14955950239443\n");
  EXPECT_EQ(copies->only("Memcpy DtoH").kind, EventKind::copy);
  EXPECT_EQ(copies->sink.devices.at(0).index, 3);
  const auto calls = importFiles({seedFile("rocm_csv/hip_api_trace.csv")});
  EXPECT_EQ(calls->only("hipLaunchKernel").kind, EventKind::api);
  EXPECT_EQ(calls->only("step 2").kind, EventKind::scope);
  EXPECT_EQ(calls->sink.iterations.size(), 2U);
}

}  // namespace
}  // namespace pitwall::test::csv_test
