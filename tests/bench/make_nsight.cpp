#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdio>
#include <memory>

#include "tests/bench/make_trace.h"

namespace pitwall::bench {
namespace {

constexpr char kTables[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);"
    "INSERT INTO PROCESSES VALUES (16777216, 1, 'train');"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass "
    "INTEGER NOT "
    "NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, "
    "callchainId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER "
    "NOT NULL, "
    "contextId INTEGER, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid "
    "INTEGER, "
    "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, "
    "cacheConfig "
    "INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ "
    "INTEGER NOT "
    "NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory "
    "INTEGER NOT "
    "NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal "
    "INTEGER NOT "
    "NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, "
    "sharedMemoryLimitConfig "
    "INTEGER);";

constexpr char kCall[] =
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?1, ?1 + 2100, 0, 16777226, ?2, 1 + ?2 % 3, 0, NULL)";
constexpr char kKernel[] =
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?1, ?1 + 3000 + ?2 % 977, 0, 1, 0, 7, ?2, 16777216, 10 + "
    "?2 % 40, "
    "10 + ?2 % 40, NULL, 1, 0, 32 + 8 * (?2 % 4), 1 << (?2 % 12), 1, 1, 128, 1, 1, 0, 4096, 0, 0, ?2, 8192, "
    "NULL, 0)";

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

Statement prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
  return Statement(statement);
}

bool insert(sqlite3_stmt* statement, std::int64_t first, std::int64_t second) {
  sqlite3_bind_int64(statement, 1, first);
  sqlite3_bind_int64(statement, 2, second);
  const bool done = sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_reset(statement);
  return done;
}

}  // namespace

std::string makeNsight(const std::string& path, std::int64_t rows) {
  std::remove(path.c_str());
  sqlite3* opened = nullptr;
  bool good = sqlite3_open(path.c_str(), &opened) == SQLITE_OK;
  const Database database(opened);
  good = good && sqlite3_exec(opened, kTables, nullptr, nullptr, nullptr) == SQLITE_OK;
  for (int id = 1; good && id < 50; ++id) {
    const std::string sql =
        fmt::format("INSERT INTO StringIds VALUES ({}, '{}{}')", id,
                    id < 10 ? "cudaLaunchKernel_v" : "void a_kernel_of_some_length<float, ", id);
    good = sqlite3_exec(opened, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  if (good) {
    const Statement call = prepare(opened, kCall);
    const Statement kernel = prepare(opened, kKernel);
    for (std::int64_t i = 1; good && i <= rows; ++i) {
      good = insert(call.get(), 1'000'000 + i * 5000, i) && insert(kernel.get(), 1'003'000 + i * 5000, i);
    }
  }
  good = good && sqlite3_exec(opened, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK;
  return good ? std::string() : fmt::format("{}: {}", path, sqlite3_errmsg(opened));
}

}  // namespace pitwall::bench
