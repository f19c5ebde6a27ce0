// The private state of a Profiler: identities, threads, and the recording in progress.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/profiler/drain.h"
#include "runtime/profiler/identities.h"
#include "runtime/profiler/listener_sink.h"
#include "runtime/profiler/thread_log.h"
#include "runtime/profiler/waker.h"

namespace pitwall {

struct Profiler::State {
  State(const ProfilerOptions& chosen, std::uint64_t id, std::atomic<bool>& recording_flag);

  void begin(std::unique_ptr<TraceSink> new_sink, const std::string& ring_path);
  void end();
  void setFile(std::unique_ptr<profiler::RingFile> changed);
  void drainLoop();
  Status drainOnce();
  void keepFirst(const Status& status);

  // Constant after construction.
  const ProfilerOptions options;
  std::atomic<bool>& recording;

  // Synchronise themselves.
  profiler::Waker waker;  // of the drain thread: a ring is half full, or stop()
  profiler::ThreadLogs logs;
  profiler::Identities identities;
  std::atomic<TimeNs> self_ns{0};
  std::atomic<bool> stopping{false};
  std::atomic<bool> in_child{false};  // fork() made this copy: the drain thread does not exist here

  // Guarded by control_mutex: start and stop.
  std::mutex control_mutex;
  std::unique_ptr<std::thread> drain_thread;
  std::unique_ptr<profiler::RingFile> file;  // changed only while no thread records

  // Guarded by sink_mutex, held during calls of the sink.
  std::mutex sink_mutex;
  std::unique_ptr<profiler::ListenerSink> sink;
  RecordingListener* listener = nullptr;
  std::unique_ptr<profiler::Drain> drain;
  std::vector<EventSource*> sources;

  // Guarded by status_mutex, which is never held during a sink's call.
  std::mutex status_mutex;
  std::optional<Error> first_failure;
};

namespace profiler {

// All profilers, so that after fork() none records in the child and no lock stays held.
struct ForkEntry {
  std::atomic<bool>* recording;
  std::atomic<bool>* in_child;
  ThreadLogs* logs;
  Identities* identities;
  std::unique_ptr<RingFile>* file;
};
void registerForkGuard();
void joinForkGuard(const ForkEntry& entry);
void leaveForkGuard(const std::atomic<bool>* recording);

}  // namespace profiler
}  // namespace pitwall
