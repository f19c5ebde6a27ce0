// The JSON of rocprofv3; SQLite's JSON functions read the fixture independently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"

namespace pitwall::test::rocm_json_test {
namespace {

std::string results() { return readAll(seedFile("rocm_json/results.json")); }

std::int64_t ofTable(const std::string& what, const std::string& table, const std::string& where = "1") {
  return numberBySql("SELECT " + what + " FROM json_each(?1,'$.rocprofiler-sdk-tool[0].buffer_records." +
                         table + "') WHERE " + where,
                     results());
}
constexpr char kLength[] =
    "sum(json_extract(value,'$.end_timestamp')-json_extract(value,'$.start_timestamp'))";

std::int64_t totalNs(const Imported& imported, EventKind kind) {
  std::int64_t total = 0;
  for (const Event& event : imported.sink.eventsOf(kind)) total += event.dur_ns;
  return total;
}

TEST(ImportRocmJson, CountsAndSumsAgreeWithAnotherReader) {
  const auto imported = importText(results());
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "JSON of rocprofv3");
  EXPECT_TRUE(imported->summary.complete());
  EXPECT_EQ(imported->events("api"), ofTable("count(*)", "hip_api"));
  EXPECT_EQ(totalNs(*imported, EventKind::api), ofTable(kLength, "hip_api"));
  EXPECT_EQ(imported->events("kernel") + imported->events("communication"),
            ofTable("count(*)", "kernel_dispatch"));
  EXPECT_EQ(totalNs(*imported, EventKind::kernel) + totalNs(*imported, EventKind::communication),
            ofTable(kLength, "kernel_dispatch"));
  EXPECT_EQ(totalNs(*imported, EventKind::copy), ofTable(kLength, "memory_copy"));
  EXPECT_EQ(imported->sink.eventsOf(EventKind::copy).at(0).value,
            ofTable("sum(json_extract(value,'$.bytes'))", "memory_copy"));
  EXPECT_EQ(imported->events("scope"), ofTable("count(*)", "marker_api"));
  EXPECT_EQ(imported->records("records memory_allocation"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "records that are not read"), 2);
}

TEST(ImportRocmJson, KernelsHaveNamesLaunchesDevicesAndFacts) {
  const auto imported = importText(results());
  const Event gemm = imported->only("gemm(float*, float const*)");
  const KernelFacts& facts = imported->sink.kernels.at(gemm.kernel.value - 1);
  EXPECT_EQ(facts.grid, (std::array<std::int32_t, 3>{10, 2, 1}));
  EXPECT_EQ(facts.block, (std::array<std::int32_t, 3>{64, 2, 1}));
  EXPECT_EQ(facts.registers_per_thread, 64);
  EXPECT_EQ(facts.static_shared_bytes, 1024);
  EXPECT_EQ(imported->only("ncclDevKernel_Generic").kind, EventKind::communication);
  EXPECT_EQ(imported->track(imported->named("ncclDevKernel_Generic").front().first).name, "gpu 1 stream 1");
  EXPECT_EQ(imported->only("kernel 8").kind, EventKind::kernel) << "without a name in the file";
  ASSERT_EQ(imported->sink.all_dependencies.size(), 3U);
  EXPECT_EQ(imported->sink.all_dependencies.front().kind, DependencyKind::launch);
  EXPECT_EQ(imported->only("Memcpy HtoD").value, 65536);
  EXPECT_EQ(imported->sink.devices.at(0).name, "AMD Instinct MI250X");
  EXPECT_EQ(imported->sink.processes.at(0).pid, 4711);
  EXPECT_EQ(imported->only("step 3").kind, EventKind::scope);
  EXPECT_EQ(imported->sink.iterations.size(), 2U);
  for (const std::string& text : imported->sink.strings)
    EXPECT_EQ(text.find("not-imported"), std::string::npos) << "the command line is left out";
}

TEST(ImportRocmJson, WhatIsNoRecordIsCountedAndACutIsNamed) {
  const std::string head =
      R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":"x"},"agents":7,"strings":[],"buffer_records":)";
  const auto odd = importText(
      head +
      R"({"hip_api":[{"kind":1e9,"operation":-4,"start_timestamp":5,"end_timestamp":3},{"start_timestamp":5},4,[],null]}}]})");
  ASSERT_EQ(odd->error, "");
  EXPECT_EQ(odd->events("api"), 1);
  EXPECT_EQ(Imported::counted(odd->summary.dropped, "records without times"), 4);
  const std::string whole = results();
  for (std::size_t length = 40; length + 2 < whole.size(); length += 61) {
    const auto cut = importText(whole.substr(0, length));
    EXPECT_TRUE(!cut->error.empty() || !cut->summary.complete()) << length;
  }
}

}  // namespace
}  // namespace pitwall::test::rocm_json_test
