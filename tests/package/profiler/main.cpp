// Records from C and from C++ with nothing but the installed package, and reads what came of it.
#include <cstdio>

#include "db/reader.h"
#include "db/store.h"
#include "runtime/profiler.h"
#include "runtime/profiler_c.h"
#include "runtime/record_macros.h"

extern "C" int recordFromC(const char* path);

static int recordFromCpp(const char* path) {
  auto sink = pitwall::createTrace(path);
  if (!sink.has_value()) return -1;
  pitwall::Profiler profiler;
  if (!profiler.start(std::move(sink).value(), {.ring_path = pitwall::ring::filePath(path)}).has_value())
    return -1;
  {
    PITWALL_SCOPE_IN("outer", "cpp");
    for (int i = 0; i < 3; ++i) {
      PITWALL_SCOPE("inner");
    }
    PITWALL_COUNTER("queue|items", 2);
  }
  return profiler.stop().has_value() ? 0 : -1;
}

static bool isRight(const char* path) {
  auto trace = pitwall::Trace::open(path);
  if (!trace.has_value()) return std::fprintf(stderr, "%s\n", trace.error().message.c_str()), false;
  const auto rows = trace.value()->query(
      "SELECT (SELECT count(*) FROM event WHERE name = 'inner' AND depth = 1), (SELECT count(*) FROM event "
      "WHERE "
      "name = 'outer' AND args LIKE '%domain%'), (SELECT count(*) FROM counter)");
  if (!rows.has_value()) return std::fprintf(stderr, "%s\n", rows.error().message.c_str()), false;
  const auto& row = rows->rows.at(0);
  return row[0] == pitwall::SqlValue(std::int64_t{3}) && row[1] == pitwall::SqlValue(std::int64_t{1}) &&
         row[2] == pitwall::SqlValue(std::int64_t{1});
}

int main() {
  if (recordFromC("c.pitwall") != 0) return std::fprintf(stderr, "%s\n", pitwall_last_error()), 1;
  if (recordFromCpp("cpp.pitwall") != 0) return 1;
  if (!isRight("c.pitwall") || !isRight("cpp.pitwall")) return 1;
  std::printf("profiler: recorded from C and from C++\n");
  return 0;
}
