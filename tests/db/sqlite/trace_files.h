// Creates and reads trace files in tests; errors fail the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "db/reader.h"
#include "db/store.h"
#include "tests/support/random_trace.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test {

inline std::unique_ptr<TraceSink> mustCreate(const std::string& path, StoreOptions options = {}) {
  auto sink = createTrace(path, options);
  EXPECT_TRUE(sink.has_value()) << sink.error().message;
  return sink.has_value() ? std::move(sink).value() : nullptr;
}

inline std::unique_ptr<Trace> mustOpen(const std::string& path) {
  auto trace = Trace::open(path);
  EXPECT_TRUE(trace.has_value()) << trace.error().message;
  return trace.has_value() ? std::move(trace).value() : nullptr;
}

inline void writeTrace(const std::string& path, const RandomTrace& content, StoreOptions options = {}) {
  auto sink = mustCreate(path, options);
  ASSERT_NE(sink, nullptr);
  feed(*sink, content);
  const Status finished = sink->finish();
  ASSERT_TRUE(finished.has_value()) << finished.error().message;
}

inline SqlRows mustQuery(Trace& trace, const std::string& sql,
                         std::span<const SqlParameter> parameters = {}) {
  auto rows = trace.query(sql, parameters);
  EXPECT_TRUE(rows.has_value()) << rows.error().message;
  return rows.has_value() ? std::move(rows).value() : SqlRows{};
}

// The one integer that the statement yields.
inline std::int64_t mustCount(Trace& trace, const std::string& sql) {
  const SqlRows rows = mustQuery(trace, sql);
  EXPECT_EQ(rows.rows.size(), 1u) << sql;
  if (rows.rows.empty() || !std::holds_alternative<std::int64_t>(rows.rows[0].at(0))) return -1;
  return std::get<std::int64_t>(rows.rows[0][0]);
}

inline std::string readBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline void writeBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace pitwall::test
