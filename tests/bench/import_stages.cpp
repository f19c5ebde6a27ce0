#include "tests/bench/import_stages.h"

#include <sqlite3.h>

#include "db/import/chrome/chrome_event.h"
#include "db/import/chrome/event_parser.h"
#include "db/import/input/byte_source.h"
#include "db/import/input/scan.h"
#include "db/import/input/window.h"

namespace pitwall::bench {

std::int64_t parseAlone(const std::string& path) {
  constexpr std::string_view kEvents = "\"traceEvents\": [";
  const ImportOptions options;
  auto source = import::ByteSource::open(path, options.limits);
  if (!source.has_value()) return 0;
  import::Window window(**source, options, path);
  import::ChromeEvent event;
  import::EventParser parser;
  std::int64_t events = 0;
  std::int64_t sum = 0;
  bool inside = false;
  while (!window.atEnd()) {
    if (!window.more(std::size_t{16} << 20).has_value()) return 0;
    for (;;) {
      const std::string_view view = window.view();
      std::size_t at = inside ? 0 : view.find(kEvents);
      if (at == std::string_view::npos) break;
      if (!inside) {
        inside = true;
        window.take(at + kEvents.size());
        continue;
      }
      while (at < view.size() && (view[at] == ',' || import::isJsonSpace(view[at]))) ++at;
      if (at == view.size()) break;
      if (view[at] != '{') return sum == -1 ? 0 : events;
      const import::ParsedEvent parsed = parser.parse(view.substr(at), event);
      if (parsed.status != import::JsonStatus::ok) break;
      window.take(at + parsed.taken);
      ++events;
      sum += event.timeNs().value_or(0) + event.durationNs().value_or(0);
    }
  }
  return events;
}

std::int64_t stepThroughNsight(const std::string& path, Fetch fetch) {
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr) !=
      SQLITE_OK)
    return 0;
  std::int64_t rows = 0;
  std::int64_t sum = 0;
  for (const char* sql :
       {"SELECT start, end, globalTid, correlationId, nameId, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME",
        "SELECT start, end, deviceId, streamId, correlationId, globalPid, shortName, registersPerThread, "
        "gridX, gridY, "
        "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, "
        "sharedMemoryExecuted FROM "
        "CUPTI_ACTIVITY_KIND_KERNEL"}) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) break;
    const int columns = sqlite3_column_count(statement);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      ++rows;
      for (int i = 0; fetch == Fetch::yes && i < columns; ++i) sum += sqlite3_column_int64(statement, i);
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(database);
  return fetch == Fetch::yes && sum == 0 ? 0 : rows;
}

}  // namespace pitwall::bench
