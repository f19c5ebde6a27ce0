// Operators that other threads complete.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/runtime/engine/engine_fixture.h"

namespace pitwall::test {

inline Status bad(const char* text) { return fail(ErrorCode::io, text); }

// Threads that complete operators, each some time after it was given. Ends when all are completed.
class Finisher {
 public:
  struct Item {
    Completion completion;
    std::function<Status()> finish;
  };
  // Waits until `batch` operators are there, then completes them, the last first.
  explicit Finisher(std::size_t batch = 1, int threads = 1) : batch_(batch) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Finisher() {
    {
      const std::lock_guard guard(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }
  void give(
      Completion completion, std::function<Status()> finish = [] { return Status(); }) {
    const std::lock_guard guard(mutex_);
    items_.push_back({std::move(completion), std::move(finish)});
    changed_.notify_all();
  }

 private:
  void run() {
    for (;;) {
      std::deque<Item> taken;
      {
        std::unique_lock guard(mutex_);
        changed_.wait(guard, [this] { return ended_ || items_.size() >= batch_; });
        if (items_.empty()) return;
        taken.swap(items_);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      for (; !taken.empty(); taken.pop_back()) taken.back().completion(taken.back().finish());
    }
  }

  const std::size_t batch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pitwall::test
