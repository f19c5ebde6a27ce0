// Databases of nvprof and rocprofv3, of our own making in the real schema; SQLite answers independently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/import/formats.h"
#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"

namespace pitwall::test::vendor_database_test {
namespace {

using testing::HasSubstr;

std::int64_t totalNs(const Imported& imported, EventKind kind) {
  std::int64_t total = 0;
  for (const auto& [track, event] : imported.sink.all_events) total += event.kind == kind ? event.dur_ns : 0;
  return total;
}

// Of the event of this name: the one that launched it.
std::string launcherOf(const Imported& imported, const std::string& work) {
  const CorrelationId target = imported.only(work).correlation;
  for (const Dependency& edge : imported.sink.all_dependencies) {
    if (edge.target != target || edge.kind != DependencyKind::launch) continue;
    for (const auto& [track, event] : imported.sink.all_events) {
      if (event.correlation == edge.source) return imported.sink.text(event.name);
    }
  }
  return {};
}

std::string nvprofFile() { return seedFile("nvprof_sqlite/small.nvvp"); }
std::int64_t nvprofSum(const std::string& what, const std::string& table) {
  return numberBySql("SELECT " + what + " FROM CUPTI_ACTIVITY_KIND_" + table, {}, nvprofFile());
}

TEST(ImportNvprof, CountsAndSumsAgreeWithSqlite) {
  const auto imported = importFiles({nvprofFile()});
  ASSERT_EQ(imported->error, "");
  EXPECT_TRUE(imported->summary.complete());
  EXPECT_EQ(imported->summary.inputs[0].format, "nvprof database") << "not Nsight Systems";
  EXPECT_EQ(imported->events("api"), nvprofSum("count(*)", "RUNTIME") + nvprofSum("count(*)", "DRIVER"));
  EXPECT_EQ(totalNs(*imported, EventKind::api),
            nvprofSum("sum(\"end\"-start)", "RUNTIME") + nvprofSum("sum(\"end\"-start)", "DRIVER"));
  EXPECT_EQ(imported->events("kernel") + imported->events("communication"),
            nvprofSum("count(*)", "CONCURRENT_KERNEL"));
  EXPECT_EQ(totalNs(*imported, EventKind::kernel) + totalNs(*imported, EventKind::communication),
            nvprofSum("sum(\"end\"-start)", "CONCURRENT_KERNEL"));
  EXPECT_EQ(totalNs(*imported, EventKind::copy),
            nvprofSum("sum(\"end\"-start)", "MEMCPY") + nvprofSum("sum(\"end\"-start)", "MEMSET"));
  EXPECT_EQ(imported->events("scope"), nvprofSum("count(*)", "MARKER WHERE flags=2"));
  EXPECT_EQ(imported->events("instant"), nvprofSum("count(*)", "MARKER WHERE flags=1"));
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "ends of ranges without a begin"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "tables that are not read"), 1);
}

TEST(ImportNvprof, NamesThreadsLaunchesAndFacts) {
  const auto imported = importFiles({nvprofFile()});
  EXPECT_EQ(launcherOf(*imported, "volta_sgemm_128x64_nn"), "cudaLaunchKernel") << "not the driver's call";
  EXPECT_EQ(launcherOf(*imported, "Memcpy HtoD (Pageable -> Device)"), "cudaMemcpyAsync");
  EXPECT_EQ(imported->only("Memcpy HtoD (Pageable -> Device)").value, 4096);
  EXPECT_EQ(imported->only("ncclAllReduceRingLLKernel_sum_f32").kind, EventKind::communication);
  EXPECT_EQ(imported->sink.text(imported->only("CUDA runtime call 9999").args), R"({"return_value":2})");
  const Event kernel = imported->only("volta_sgemm_128x64_nn");
  const KernelFacts& facts = imported->sink.kernels.at(kernel.kernel.value - 1);
  EXPECT_EQ(facts.grid, (std::array<std::int32_t, 3>{80, 2, 1}));
  EXPECT_EQ(facts.registers_per_thread, 128);
  EXPECT_EQ(facts.static_shared_bytes, 12288);
  // 65536 registers hold two blocks of 256 threads with 128 each: 16 of 64 warps.
  EXPECT_DOUBLE_EQ(facts.theoretical_occupancy, 0.25);
  EXPECT_EQ(facts.limiter, "registers");
  EXPECT_EQ(imported->sink.devices.at(0).name, "Tesla V100-SXM2-16GB");
  const auto track = [&](const char* name) { return imported->named(name).front().first.value; };
  EXPECT_EQ(track("forward"), track("cudaLaunchKernel")) << "the range's thread is given in bytes";
  EXPECT_EQ(imported->only("forward").dur_ns, 5200);
  ASSERT_EQ(imported->sink.iterations.size(), 2U);
  EXPECT_EQ(imported->sink.iterations[0].index, 3);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1500000000000000000");
}

std::string rocpdFile() { return seedFile("rocpd/small.db"); }
std::int64_t rocpdSum(const std::string& what, const std::string& table) {
  return numberBySql("SELECT " + what + " FROM rocpd_" + table + "_00006409_00d1", {}, rocpdFile());
}

TEST(ImportRocpd, CountsAndSumsAgreeWithSqlite) {
  const auto imported = importFiles({rocpdFile()});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "rocpd database of rocprofv3");
  EXPECT_EQ(imported->summary.inputs[0].version, "schema 3");
  EXPECT_EQ(imported->events("api") + imported->events("scope"), rocpdSum("count(*)", "region"));
  EXPECT_EQ(totalNs(*imported, EventKind::api) + totalNs(*imported, EventKind::scope),
            rocpdSum("sum(\"end\"-start)", "region"));
  EXPECT_EQ(imported->events("kernel"), rocpdSum("count(*)", "kernel_dispatch"));
  EXPECT_EQ(totalNs(*imported, EventKind::kernel), rocpdSum("sum(\"end\"-start)", "kernel_dispatch"));
  EXPECT_EQ(totalNs(*imported, EventKind::copy), rocpdSum("sum(\"end\"-start)", "memory_copy"));
  EXPECT_EQ(imported->only("Memcpy HtoD").value, rocpdSum("sum(size)", "memory_copy"));
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "tables that are not read"), 1);
}

TEST(ImportRocpd, NamesLaunchesFactsAndNoSecrets) {
  const auto imported = importFiles({rocpdFile()});
  EXPECT_EQ(launcherOf(*imported, "gemm(float*)"), "hipLaunchKernel");
  EXPECT_EQ(launcherOf(*imported, "Memcpy HtoD"), "hipMemcpyAsync");
  const KernelFacts& facts = imported->sink.kernels.at(imported->only("gemm(float*)").kernel.value - 1);
  EXPECT_EQ(facts.grid, (std::array<std::int32_t, 3>{4, 2, 1})) << "1000 work items are 4 groups of 256";
  EXPECT_EQ(facts.block, (std::array<std::int32_t, 3>{256, 1, 1}));
  EXPECT_EQ(facts.registers_per_thread, 64);
  EXPECT_EQ(facts.static_shared_bytes, 1024);
  const TrackInfo& stream = imported->track(imported->named("gemm(float*)").front().first);
  EXPECT_EQ(imported->sink.devices.at(stream.device.value - 1).index, 1);
  EXPECT_EQ(imported->sink.devices.at(stream.device.value - 1).name, "AMD Instinct MI210");
  const TrackInfo& thread = imported->track(imported->named("hipLaunchKernel").front().first);
  EXPECT_EQ(thread.name, "main thread");
  EXPECT_EQ(imported->sink.threads.at(thread.thread.value - 1).tid, 4712);
  EXPECT_EQ(imported->sink.processes.at(0).name, "python3");
  EXPECT_EQ(imported->sink.processes.at(0).pid, 4711);
  EXPECT_EQ(imported->only("step 5").kind, EventKind::scope);
  ASSERT_EQ(imported->sink.iterations.size(), 2U);
  for (const ProcessInfo& process : imported->sink.processes)
    EXPECT_EQ((process.name + process.command_line).find("hunter2"), std::string::npos);
  for (const auto& [key, value] : imported->sink.meta_values)
    EXPECT_EQ(value.find("hunter2"), std::string::npos) << key;
}

TEST(ImportDatabases, AreRecognisedByTheirTables) {
  const auto id = [](const std::string& path) {
    return import::formatOf(import::fileStart(readAll(path).substr(0, 65536)))->id;
  };
  EXPECT_EQ(id(nvprofFile()), import::FormatId::nvprofDatabase);
  EXPECT_EQ(id(rocpdFile()), import::FormatId::rocpd);
}

}  // namespace
}  // namespace pitwall::test::vendor_database_test
