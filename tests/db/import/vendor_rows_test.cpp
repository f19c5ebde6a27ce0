// Databases of nvprof and rocprofv3 with rows that are less usual: copies of the fixtures, changed by SQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"

namespace pitwall::test::vendor_rows_test {
namespace {

using testing::UnorderedElementsAre;

std::unique_ptr<Imported> importChanged(const std::string& seed, const std::string& sql) {
  const TemporaryFile file(readAll(seedFile(seed)));
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(file.path().c_str(), &database), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
  sqlite3_free(error);
  sqlite3_close(database);
  return importFiles({file.path()});
}
std::unique_ptr<Imported> importNvprof(const std::string& sql) {
  return importChanged("nvprof_sqlite/small.nvvp", sql);
}
std::unique_ptr<Imported> importRocpd(const std::string& sql) { return importChanged("rocpd/small.db", sql); }

// The names of the calls that launched something.
std::vector<std::string> launchers(const Imported& imported) {
  std::vector<std::string> names;
  for (const Dependency& edge : imported.sink.all_dependencies) {
    for (const auto& [track, event] : imported.sink.all_events) {
      if (event.correlation == edge.source && edge.kind == DependencyKind::launch)
        names.push_back(imported.sink.text(event.name));
    }
  }
  return names;
}

// The second kernel is launched by the driver's own call, beside calls of the runtime.
TEST(ImportNvprofRows, CallsOfTheDriverLaunchToo) {
  const auto imported = importNvprof(
      "INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER(cbid, start, end, processId, threadId, correlationId, "
      "returnValue) "
      "VALUES (307, 1500000000000008000, 1500000000000008100, 4711, 5, 999, 0)");
  EXPECT_THAT(launchers(*imported),
              UnorderedElementsAre("cudaLaunchKernel", "cudaMemcpyAsync", "CUDA driver call 307"));
}

TEST(ImportNvprofRows, RangesAloneHaveAClock) {
  std::string sql;
  for (const char* table : {"RUNTIME", "DRIVER", "CONCURRENT_KERNEL", "MEMCPY", "MEMSET"})
    sql += std::string("DELETE FROM CUPTI_ACTIVITY_KIND_") + table + ";";
  const auto imported = importNvprof(sql);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->events("scope"), 2);
  EXPECT_EQ(imported->summary.inputs[0].clock, "nanoseconds since 1970");
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1500000000000000000");
}

TEST(ImportNvprofRows, WorkThatWasNotMeasuredIsLeftOut) {
  const auto imported = importNvprof("UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET start = 0, end = 0");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "rows whose times the profiler did not measure"), 1);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1500000000000000000");
  EXPECT_EQ(imported->only("iteration 3").start_ns, 0);
}

TEST(ImportNvprofRows, RangesWithoutAnEndAndWithoutATime) {
  const auto imported = importNvprof(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER(flags, timestamp, id, objectKind, objectId, name, domain) "
      "VALUES "
      "(2, -9223372036854775808, 71, 2, x'6712', 5, 0), (2, 1500000000000008000, 72, 2, x'6712', 6, 0), "
      "(2, 1500000000000009000, 72, 2, x'6712', 6, 0)");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events with a time out of range"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "ranges without an end"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "ranges of a number that begins again"), 1);
}

TEST(ImportNsightRows, RangesWithoutAnEndAndWithoutATime) {
  const auto imported = importChanged(
      "nsight_sqlite/small.sqlite",
      "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) VALUES "
      "(-9223372036854775808, NULL, 59, 'open', 281479288520705), (5, 9223372036854775807, 59, 'step 77', "
      "281479288520705)");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events with a time out of range"), 2);
  for (const IterationMark& mark : imported->sink.iterations) EXPECT_NE(mark.index, 77);
}

// Several processes may write into one file: each counts from another number.
TEST(ImportRocpdRows, NumbersOfEventsMayBeLarge) {
  const auto ordinary = importRocpd("SELECT 1");
  ASSERT_EQ(launchers(*ordinary).size(), 2U);
  const auto imported = importRocpd(
      "UPDATE rocpd_event_00006409_00d1 SET id = id + 5000000000 WHERE id > 2;"
      "UPDATE rocpd_region_00006409_00d1 SET event_id = event_id + 5000000000 WHERE event_id > 2;"
      "UPDATE rocpd_memory_copy_00006409_00d1 SET event_id = event_id + 5000000000;");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(launchers(*imported), launchers(*ordinary));
  EXPECT_EQ(imported->only("step 5").kind, EventKind::scope) << "by the category of its event";
}

TEST(ImportRocpdRows, WorkThatWasNotMeasuredIsLeftOut) {
  const auto imported = importRocpd("UPDATE rocpd_kernel_dispatch_00006409_00d1 SET start = 0, \"end\" = 0");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "rows whose times the profiler did not measure"), 1);
  EXPECT_EQ(imported->only("step 5").start_ns, 0);
}

}  // namespace
}  // namespace pitwall::test::vendor_rows_test
