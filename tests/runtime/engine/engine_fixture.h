// Common code of the engine's tests: opening one, pushing lambdas, gates that block an operator.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine.h"

namespace pitwall::test {

struct EngineCase {
  EngineType type = EngineType::naive;
  int workers = 1;
  int bulk = 0;
};

inline std::string caseName(const testing::TestParamInfo<EngineCase>& info) {
  const EngineCase& c = info.param;
  return std::string(toString(c.type)) + "_workers" + std::to_string(c.workers) + "_bulk" +
         std::to_string(c.bulk);
}

inline std::vector<EngineCase> allCases() {
  std::vector<EngineCase> cases;
  for (const int bulk : {0, 15}) {
    cases.push_back({EngineType::naive, 1, bulk});
    for (const int workers : {1, 2, 16}) {
      cases.push_back({EngineType::threaded, workers, bulk});
      cases.push_back({EngineType::threadedPerDevice, workers, bulk});
    }
  }
  return cases;
}

inline EngineOptions optionsOf(const EngineCase& c) {
  EngineOptions options;
  options.type = c.type;
  options.cpu_workers = options.pooled_workers = options.cpu_priority_workers = c.workers;
  return options;
}

// An engine with its profiler.
struct Opened {
  explicit Opened(const EngineOptions& options) {
    auto result = Engine::open(options, profiler);
    EXPECT_TRUE(result.has_value()) << result.error().message;
    engine = std::move(result.value());
  }
  explicit Opened(const EngineCase& c) : Opened(optionsOf(c)) { engine->setBulkSize(c.bulk); }
  Engine* operator->() { return engine.get(); }

  // Pushes `action`, a callable without arguments that returns void or Status.
  template <class Action>
  void run(std::initializer_list<Variable> reads, std::initializer_list<Variable> writes, Action action,
           OperatorClass operator_class = OperatorClass::normal, int priority = 0, Device device = {}) {
    engine->push({.run = [action = std::move(action)](const RunContext&) mutable -> Status {
                    if constexpr (std::is_void_v<decltype(action())>) {
                      action();
                      return {};
                    } else {
                      return action();
                    }
                  },
                  .reads = reads,
                  .writes = writes,
                  .device = device,
                  .operator_class = operator_class,
                  .priority = priority});
  }

  Profiler profiler{{.flush_interval_ms = 0}};  // no drain while a test reads what the sink has
  std::unique_ptr<Engine> engine;
};

inline void expectOk(const Status& status) { EXPECT_TRUE(status.has_value()) << status.error().message; }
inline void expectError(const Status& status, const std::string& part) {
  ASSERT_FALSE(status.has_value()) << "expected: " << part;
  EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
}

// Blocks operators until it is opened; counts arrivals.
class Gate {
 public:
  void open() {
    const std::lock_guard guard(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // Called by operators.
  void pass() {
    std::unique_lock guard(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return open_; });
  }
  // False when fewer than `count` arrive within a long time.
  [[nodiscard]] bool waitForArrivals(int count) {
    std::unique_lock guard(mutex_);
    return changed_.wait_for(guard, std::chrono::seconds(30), [this, count] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

}  // namespace pitwall::test
