// The private state of a Profiler: identities, threads, and the recording in progress.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "db/mutex.h"
#include "runtime/profiler/device_tracks.h"
#include "runtime/profiler/drain.h"
#include "runtime/profiler/identities.h"
#include "runtime/profiler/listener_sink.h"
#include "runtime/profiler/thread_log.h"
#include "runtime/profiler/waker.h"

namespace pitwall {

struct Profiler::State {
  State(const ProfilerOptions& chosen, std::uint64_t id, std::atomic<bool>& recording_flag);

  void begin(std::unique_ptr<TraceSink> new_sink, const std::string& ring_path)
      PITWALL_REQUIRES(control_mutex);
  void end() PITWALL_REQUIRES(sink_mutex);
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
  profiler::DeviceTracks device_tracks{logs};
  profiler::Identities identities;
  std::atomic<TimeNs> self_ns{0};
  std::atomic<bool> stopping{false};
  std::atomic<bool> in_child{false};  // fork() made this copy: the drain thread does not exist here

  // Held during start() and stop(). Taken before the other two.
  Mutex control_mutex;
  std::unique_ptr<std::thread> drain_thread PITWALL_GUARDED_BY(control_mutex);
  // Changed by start(), and by the drain thread that stop() waits for, while no thread records.
  std::unique_ptr<profiler::RingFile> file;

  // Held during calls of the sink. Taken before status_mutex.
  Mutex sink_mutex;
  std::unique_ptr<profiler::ListenerSink> sink PITWALL_GUARDED_BY(sink_mutex);
  RecordingListener* listener PITWALL_GUARDED_BY(sink_mutex) = nullptr;
  std::unique_ptr<profiler::Drain> drain PITWALL_GUARDED_BY(sink_mutex);
  std::vector<EventSource*> sources PITWALL_GUARDED_BY(sink_mutex);

  // Never held during a sink's call.
  Mutex status_mutex;
  std::optional<Error> first_failure PITWALL_GUARDED_BY(status_mutex);
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
// A lock whose holder calls profilers: fork() takes it before all others. One at most; it stays for ever.
void guardCallersLock(Mutex& mutex);

}  // namespace profiler
}  // namespace pitwall
