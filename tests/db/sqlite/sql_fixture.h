// A random trace to query by SQL, and its content.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test {

class Sql : public ::testing::Test {
 protected:
  static constexpr int kEventTracks = 4;

  void SetUp() override {
    content_ = makeRandomTrace({.seed = 21, .events_per_track = 700});
    const std::string path = folder_ / "a.pitwall";
    writeTrace(path, content_, {.chunk_events = 64});
    trace_ = mustOpen(path);
    ASSERT_NE(trace_, nullptr);
  }

  std::string dump(const std::string& sql) {
    std::string text;
    for (const auto& row : mustQuery(*trace_, sql).rows) {
      for (const SqlValue& value : row) text += show(value) + ' ';
      text += '\n';
    }
    return text;
  }

  static std::string show(const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return '\'' + *text + '\'';
    return "NULL";
  }

  std::string nameOf(StringId id) const { return id ? content_.strings[id.value - 1] : ""; }

  TempFolder folder_;
  RandomTrace content_;
  std::unique_ptr<Trace> trace_;
};

}  // namespace pitwall::test
