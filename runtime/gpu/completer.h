// Completes operators of GPUs: a thread that looks which events have happened. The operators' workers go on meanwhile, and
// the driver blocks no stream.
//
// It is a separate thread, not a function that the driver calls: such a function is not called after an error of the device,
// and the engine would wait for ever.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <thread>
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

  // Calls `done` once, after `event`, which was recorded in `stream`. Those of one stream are called in the order of add().
  void add(GpuStream stream, GpuEvent event, Done done);

 private:
  struct Entry {
    GpuStream stream;
    GpuEvent event;
    Done done;
  };
  void run();
  bool takeArrived();
  bool completeSome();

  GpuDriver& driver_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<Entry> arrived_ PITWALL_GUARDED_BY(mutex_);
  bool stopping_ PITWALL_GUARDED_BY(mutex_) = false;
  std::map<GpuStream, std::deque<Entry>> open_;  // of the thread alone
  std::thread thread_;
};

}  // namespace pitwall
