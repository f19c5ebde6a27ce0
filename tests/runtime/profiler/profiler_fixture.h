// A profiler that records into memory.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/profiler.h"
#include "tests/runtime/profiler/shared_sink.h"

namespace pitwall {

using test::Kept;
using test::SharedSink;

class ProfilerTest : public testing::Test {
 protected:
  std::shared_ptr<Kept> start(Profiler& profiler) {
    auto kept = std::make_shared<Kept>();
    EXPECT_TRUE(profiler.start(std::make_unique<SharedSink>(kept)).has_value());
    return kept;
  }
};

inline std::vector<Event> named(const test::MemorySink& sink, const std::string& name) {
  std::vector<Event> found;
  for (const auto& [track, event] : sink.all_events) {
    if (sink.text(event.name) == name) found.push_back(event);
  }
  return found;
}

inline OperatorFacts factsNamed(const std::string& name) {
  OperatorFacts facts;
  facts.name = name;
  return facts;
}

inline void spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace pitwall
