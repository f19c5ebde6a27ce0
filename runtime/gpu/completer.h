// Completes operators of GPUs: a thread that looks which events have happened. The operators' workers go on meanwhile, and
// the driver blocks no stream.
//
// It is a separate thread, not a function that the driver calls: such a function is not called after an error of the device,
// and the engine would wait for ever.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "db/mutex.h"
#include "runtime/gpu.h"

namespace pitwall {

class GpuCompleter {
 public:
  // Called on the completer's thread with the result of the work before the event.
  using Done = std::function<void(Status)>;

  explicit GpuCompleter(GpuDriver& driver);
  // Completes what was added before.
  ~GpuCompleter();
  GpuCompleter(const GpuCompleter&) = delete;
  GpuCompleter& operator=(const GpuCompleter&) = delete;

  // Calls `done` once, after `event`, which was recorded in `stream`. Those of one stream are called in the order of add(), and
  // so are those of several where the work of one waits for that of the other.
  void add(GpuStream stream, GpuEvent event, Done done);

 private:
  struct Entry {
    GpuStream stream;
    GpuEvent event;
    Done done;
    std::uint64_t order;  // of add()
  };
  void run();
  bool takeArrived();
  bool completeSome();
  void takeDone(std::vector<std::pair<Entry, Status>>& into, std::uint64_t before);

  GpuDriver& driver_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<Entry> arrived_ PITWALL_GUARDED_BY(mutex_);
  std::uint64_t added_ PITWALL_GUARDED_BY(mutex_) = 0;
  bool stopping_ PITWALL_GUARDED_BY(mutex_) = false;
  std::map<GpuStream, std::deque<Entry>> open_;  // of the thread alone
  std::thread thread_;
};

}  // namespace pitwall
