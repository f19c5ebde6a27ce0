// Nsight exports, made here with only the tables that a case needs.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "tests/db/import/imported.h"

namespace pitwall::test::nsight_test {
namespace {

class Database {
 public:
  explicit Database(const std::string& sql) : file_("", "export.sqlite") {
    std::filesystem::remove(file_.path());
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(file_.path().c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_free(message);
    sqlite3_close(database);
  }
  const TemporaryFile& file() const { return file_; }
  std::unique_ptr<Imported> import() const { return importFiles({file_.path()}); }

 private:
  TemporaryFile file_;
};

const char kStrings[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'gemm'),(2,'void "
    "gemm<float>'),(3,'cudaLaunchKernel_v7000'),(4,'ncclDevKernel_Sum'),"
    "(5,'iteration 4'),(6,'main thread');";
// Two processes with equal correlation numbers and similar pids, with the columns in another order than
// usual.
const char kTwoProcesses[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(globalPid INT, streamId INT, deviceId INT, correlationId INT, "
    "start INT,"
    " end INT, shortName INT, demangledName INT, somethingNew TEXT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
    "(16777216,7,0,100,2000,5000,1,2,'x'),(33554432,7,1,100,3000,4000,4,2,'x');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId "
    "INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000,1100,16777226,100,3),(1500,1600,33554442,100,3);"
    "CREATE TABLE PROCESSES(globalPid INT, pid INT, name TEXT);"
    "INSERT INTO PROCESSES VALUES (16777216,1,'rank zero'),(33554432,2,'rank one');"
    "CREATE TABLE ThreadNames(nameId INT, priority INT, globalTid INT); INSERT INTO ThreadNames VALUES "
    "(6,0,16777226);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INT); INSERT INTO TARGET_INFO_SESSION_START_TIME "
    "VALUES (1700000000000000000);"
    "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT); INSERT INTO META_DATA_EXPORT VALUES "
    "('EXPORT_SCHEMA_VERSION','3.99.0');"
    "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);"
    "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','box'),('DeviceEnvironment','API_TOKEN=secret');";

TEST(ImportNsight, ColumnsByNameLaunchesByProcess) {
  const auto imported = Database(std::string(kStrings) + kTwoProcesses).import();
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].version, "schema 3.99.0");
  EXPECT_EQ(imported->only("gemm").start_ns, 1000);
  EXPECT_EQ(imported->only("ncclDevKernel_Sum").kind, EventKind::communication);
  ASSERT_EQ(imported->sink.all_dependencies.size(), 2U);
  std::map<CorrelationId, std::int64_t> call;
  for (const auto& [track, event] : imported->named("cudaLaunchKernel"))
    call[event.correlation] = event.start_ns;
  std::map<CorrelationId, CorrelationId> launch;
  for (const Dependency& edge : imported->sink.all_dependencies) launch[edge.target] = edge.source;
  EXPECT_EQ(call[launch[imported->only("gemm").correlation]], 0);
  EXPECT_EQ(call[launch[imported->only("ncclDevKernel_Sum").correlation]], 500);
  ASSERT_EQ(imported->sink.processes.size(), 2U);
  EXPECT_EQ(imported->sink.processes[0].name, "rank zero");
  EXPECT_EQ(imported->sink.processes[0].pid, 1);
  const TrackInfo& thread = imported->track(imported->named("cudaLaunchKernel").front().first);
  EXPECT_EQ(thread.name, "main thread");
  EXPECT_EQ(imported->sink.threads.at(thread.thread.value - 1).tid, 10);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000001000");
}

TEST(ImportNsight, SecretsAreNotTakenOver) {
  const auto imported = Database(std::string(kStrings) + kTwoProcesses).import();
  EXPECT_EQ(imported->sink.meta_values.at("host.name"), "box");
  for (const auto& [key, value] : imported->sink.meta_values)
    EXPECT_EQ(value.find("API_TOKEN"), std::string::npos) << key;
}

// The oldest exports: neither processes nor enumerations nor most columns.
TEST(ImportNsight, OldExports) {
  const auto imported =
      Database(std::string(kStrings) +
               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, "
               "correlationId INT, demangledName INT);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10,20,0,7,100,2);"
               "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId "
               "INT, nameId INT);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-3000,-500,16777226,100,3);"
               "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT, "
               "correlationId INT, copyKind INT, bytes INT, srcKind INT, dstKind INT);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (30,40,0,7,101,1,8,0,2);")
          .import();
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->only("void gemm<float>").start_ns, 3010);
  EXPECT_EQ(imported->only("Memcpy HtoD (Pageable -> Device)").value, 8);
  EXPECT_EQ(imported->events("dependencies"), 1);
}

TEST(ImportNsight, EnumerationsAreReadNotAssumed) {
  const auto imported = Database(
                            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, copyKind INT, "
                            "srcKind INT, dstKind INT);"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (30,40,51,61,62),(50,60,52,61,62);"
                            "CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INT, name TEXT, label TEXT);"
                            "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (51,'CUDA_MEMCPY_KIND_UVM_HTOD','x');"
                            "CREATE TABLE ENUM_CUDA_MEM_KIND(id INT, name TEXT, label TEXT);"
                            "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (61,'A','Alpha'),(62,'B','Beta');")
                            .import();
  EXPECT_EQ(imported->named("Memcpy UVM HtoD (Alpha -> Beta)").size(), 1U);
  EXPECT_EQ(imported->named("Memcpy kind 52 (Alpha -> Beta)").size(), 1U);
}

TEST(ImportNsight, MigrationsAndPageFaultsOfManagedMemory) {
  const auto imported =
      Database(
          "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, copyKind INT, srcKind "
          "INT, dstKind INT, migrationCause INT);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (30,40,0,11,4,4,2),(50,60,0,11,4,4,1),"
          "(70,80,0,12,4,4,NULL);"
          "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start INT, end INT, globalPid INT, deviceId INT, "
          "address INT, numberOfPageFaults INT, faultAccessType INT);"
          "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (20,45,16777216,1,4096,7,2);"
          "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS(start INT, globalPid INT, address INT);"
          "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (90,16777216,4096);")
          .import();
  ASSERT_EQ(imported->error, "");
  const Event on_demand = imported->only("Memcpy UVM HtoD (Managed -> Managed)");
  EXPECT_EQ(imported->sink.text(on_demand.args), R"({"cause":"page fault"})");
  EXPECT_EQ(imported->named("Memcpy UVM HtoD (Managed -> Managed), requested").size(), 1U);
  EXPECT_FALSE(imported->only("Memcpy UVM DtoH (Managed -> Managed)").args);
  const auto [track, fault] = imported->named("GPU page fault (write)").at(0);
  EXPECT_EQ(fault.kind, EventKind::scope);
  EXPECT_EQ(fault.start_ns, 0);
  EXPECT_EQ(fault.dur_ns, 25);
  EXPECT_EQ(fault.value, 7);
  EXPECT_EQ(imported->track(track).name, "gpu 1 unified memory: page faults");
  EXPECT_EQ(imported->track(track).kind, TrackKind::stream);
  EXPECT_EQ(imported->only("CPU page fault").kind, EventKind::instant);
  EXPECT_EQ(imported->only("CPU page fault").start_ns, 70);
  EXPECT_TRUE(imported->summary.not_understood.empty());
}

TEST(ImportNsight, PayloadsOfRanges) {
  const auto imported =
      Database(
          std::string(kStrings) +
          "INSERT INTO StringIds VALUES (9,'{ \"loss\": 0.5 }');"
          "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT, category "
          "INT, uint64Value INT, int32Value INT, doubleValue REAL, jsonText TEXT, jsonTextId INT, "
          "binaryData TEXT);"
          "INSERT INTO NVTX_EVENTS VALUES (0,9,59,'unsigned',16777226,4,77,NULL,NULL,NULL,NULL,NULL),"
          "(10,19,59,'signed',16777226,NULL,NULL,-3,NULL,NULL,NULL,NULL),"
          "(20,29,59,'real',16777226,NULL,NULL,NULL,1.5,NULL,NULL,NULL),"
          "(30,39,59,'json',16777226,NULL,NULL,NULL,NULL,NULL,9,NULL),"
          "(40,49,59,'no json',16777226,NULL,NULL,NULL,NULL,'{ \"cut',NULL,NULL),"
          "(50,59,59,'binary',16777226,NULL,NULL,NULL,NULL,NULL,NULL,'0011'),"
          "(60,69,59,'bare',16777226,NULL,NULL,NULL,NULL,NULL,NULL,NULL);")
          .import();
  ASSERT_EQ(imported->error, "");
  const auto args = [&](const char* name) { return imported->sink.text(imported->only(name).args); };
  EXPECT_EQ(imported->only("unsigned").value, 77);
  EXPECT_EQ(args("unsigned"), "{\"category\":4}");
  EXPECT_EQ(imported->only("signed").value, -3);
  EXPECT_EQ(args("real"), "{\"payload\":1.5}");
  EXPECT_EQ(args("json"), "{\"payload\":{\"loss\":0.5}}");
  EXPECT_EQ(args("no json"), "{\"payload\":\"{ \\\"cut\"}");
  EXPECT_EQ(args("bare"), "");
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "NVTX payloads in binary form"), 1);
}

TEST(ImportNsight, RangesStepsAndUnknownTables) {
  const auto imported =
      Database(
          std::string(kStrings) +
          "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, textId INT, globalTid INT);"
          "INSERT INTO NVTX_EVENTS VALUES (0,100,59,NULL,5,16777226),(100,200,59,'iteration "
          "5',NULL,16777226),"
          "(10,20,59,'inner',NULL,16777226),(15,NULL,34,'mark',NULL,16777226),(30,NULL,60,'open',NULL,"
          "16777226),"
          "(0,NULL,75,'a domain',NULL,16777226);"
          "CREATE TABLE GPU_METRICS(timestamp INT); INSERT INTO GPU_METRICS VALUES (1),(2);")
          .import();
  EXPECT_EQ(imported->only("inner").depth, 1);
  EXPECT_EQ(imported->only("mark").kind, EventKind::instant);
  EXPECT_EQ(imported->only("open").dur_ns, 170);
  ASSERT_EQ(imported->sink.iterations.size(), 3U);
  EXPECT_EQ(imported->sink.iterations[0].index, 4);
  EXPECT_EQ(imported->sink.iterations[2].time_ns, 200);
  EXPECT_EQ(imported->summary.not_understood.at("tables that are not read").example, "GPU_METRICS (2 rows)");
  EXPECT_TRUE(imported->named("a domain").empty());
}

TEST(ImportNsight, DanglingNamesAndReversedTimes) {
  const auto imported = Database(std::string(kStrings) +
                                 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, shortName INT);"
                                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
                                 "(20,10,99),(5,9223372036854775807,1),(-9223372036854775807,5,1);")
                            .import();
  EXPECT_EQ(imported->only("kernel 99").dur_ns, 0);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "events that end before"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events with a time out of range"), 2);
}

TEST(ImportNsight, OtherDatabasesAreRefused) {
  const auto other = Database("CREATE TABLE songs(title TEXT);").import();
  EXPECT_NE(other->error.find("not one of Nsight Systems, nvprof or rocprofv3 (its tables: songs)"),
            std::string::npos)
      << other->error;
  const TemporaryFile wrong("SQLite format 3\0 and then nonsense");
  EXPECT_NE(importFiles({wrong.path()})->error, "");
}

TEST(ImportNsight, CutDatabases) {
  std::string sql =
      std::string(kStrings) + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, shortName INT);";
  for (int i = 0; i < 3000; ++i) {
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(i * 10) + "," +
           std::to_string(i * 10 + 5) + ",1);";
  }
  const Database database("BEGIN;" + sql + "COMMIT;");
  std::ifstream file(database.file().path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const std::size_t length :
       {std::size_t{100}, std::size_t{4096}, whole.size() / 2, whole.size() - 4096}) {
    const TemporaryFile cut(whole.substr(0, length));
    const auto imported = importFiles({cut.path()});
    EXPECT_TRUE(!imported->error.empty() || !imported->summary.complete()) << length;
  }
}

// Facts of kernels, the occupancy that follows from the device's limits, and ranges on the device.
const char kFacts[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, correlationId "
    "INT, "
    "globalPid INT, shortName INT, registersPerThread INT, gridX INT, gridY INT, gridZ INT, blockX INT, "
    "blockY INT, "
    "blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT, localMemoryPerThread INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
    "(200,300,0,7,100,16777216,1,128,10,2,1,256,1,1,1024,2048,16),"
    "(310,350,0,7,101,16777216,1,128,10,2,1,256,1,1,1024,2048,16),(400,500,0,8,102,16777216,1,16,1,1,1,64,1,"
    "1,0,0,0);"
    "CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT, totalMemory INT, cuDevice INT, computeMajor INT, "
    "maxWarpsPerSm INT, "
    "maxBlocksPerSm INT, maxRegistersPerSm INT, maxRegistersPerBlock INT, maxShmemPerSm INT, threadsPerWarp "
    "INT);"
    "INSERT INTO TARGET_INFO_GPU VALUES (0,'GPU',1000,0,8,64,32,65536,65536,167936,32);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId "
    "INT, "
    "returnValue INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,12,16777226,100,3,0),(20,22,16777226,101,3,0),"
    "(40,42,16777226,102,3,2);"
    "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, textId INT, globalTid INT, "
    "domainId INT, "
    "color INT);"
    "INSERT INTO NVTX_EVENTS VALUES "
    "(5,30,59,'forward',NULL,16777226,1,4278255360),(0,60,59,'all',NULL,16777226,0,NULL),"
    "(0,NULL,75,'NCCL',NULL,16777226,1,NULL),(100,200,59,'without work',NULL,16777226,0,NULL);"
    "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);"
    "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('DeviceEnvironment',"
    "'OMP_NUM_THREADS=4;HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123456789;HOME=/home/user');";

TEST(ImportNsight, KernelFactsAndOccupancy) {
  const auto imported = Database(std::string(kStrings) + kFacts).import();
  ASSERT_EQ(imported->error, "");
  std::vector<KernelFacts> facts;
  for (const auto& [track, event] : imported->named("gemm"))
    facts.push_back(imported->sink.kernels.at(event.kernel.value - 1));
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].grid, (std::array<std::int32_t, 3>{10, 2, 1}));
  EXPECT_EQ(facts[0].block, (std::array<std::int32_t, 3>{256, 1, 1}));
  EXPECT_EQ(facts[0].registers_per_thread, 128);
  EXPECT_EQ(facts[0].static_shared_bytes + facts[0].dynamic_shared_bytes, 3072);
  EXPECT_EQ(facts[0].local_bytes, 16);
  // 128 registers a thread are 4096 a warp: 16 of 64 warps.
  EXPECT_DOUBLE_EQ(facts[0].theoretical_occupancy, 0.25);
  EXPECT_EQ(facts[0].limiter, "registers");
  EXPECT_EQ(imported->sink.kernels.size(), 2U);  // equal facts are kept once
}

TEST(ImportNsight, RangesAreProjectedOntoTheDevice) {
  const auto imported = Database(std::string(kStrings) + kFacts).import();
  std::vector<std::string> projected;
  for (const auto& [track, event] : imported->sink.all_events) {
    const std::string& name = imported->track(track).name;
    if (imported->track(track).kind != TrackKind::stream || event.kind != EventKind::scope) continue;
    projected.push_back(name + ": " + imported->sink.text(event.name) + " " + std::to_string(event.start_ns) +
                        " " + std::to_string(event.dur_ns) + " " + imported->sink.text(event.args));
  }
  std::sort(projected.begin(), projected.end());
  EXPECT_EQ(projected, (std::vector<std::string>{
                           R"(gpu 0 stream 7: NVTX: all 200 150 )",
                           R"(gpu 0 stream 7: NVTX: forward 200 150 {"domain":"NCCL","color":"#00ff00"})",
                           R"(gpu 0 stream 8: NVTX: all 400 100 )"}));
  EXPECT_EQ(imported->sink.text(imported->named("cudaLaunchKernel").back().second.args),
            R"({"return_value":2})");
}

TEST(ImportNsight, OfTheEnvironmentOnlySettingsAreTaken) {
  const auto imported = Database(std::string(kStrings) + kFacts).import();
  ASSERT_EQ(imported->sink.settings.size(), 1U);
  EXPECT_EQ(imported->sink.settings.at("OMP_NUM_THREADS").value, "4");
  EXPECT_EQ(imported->sink.settings.at("OMP_NUM_THREADS").source, SettingSource::environment);
  EXPECT_EQ(imported->records("environment variables left out"), 2);
  for (const auto& [key, value] : imported->sink.meta_values) {
    EXPECT_EQ(value.find("hf_"), std::string::npos) << key;
    EXPECT_EQ(value.find("/home/user"), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace pitwall::test::nsight_test
