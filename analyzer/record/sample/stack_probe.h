// Samples what the threads of a process execute or wait for: their stacks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/record/sample/sample_log.h"
#include "analyzer/record/sample/thread_state.h"
#include "analyzer/record/sample/trace_clock.h"
#include "analyzer/record/stacks/process_stacks.h"
#include "db/proc_files.h"

namespace pitwall::record {

// What the probes of one recording share.
class StackRecorder {
 public:
  StackRecorder(StackMode which, double rate, TraceSink& sink) : mode(which), hz(rate), sink_(sink) {}

  // The sink's number of a stack of these frames, outermost first, in that state.
  StackId stack(const std::vector<std::uint32_t>& frames, const std::string& state);

  const StackMode mode;
  const double hz;
  SymbolFiles files;
  FrameTable frames;
  std::int64_t taken = 0, torn = 0;  // stacks of threads that had one; of them, those that were dropped
  std::string note;                  // the first that a process gave

 private:
  FrameId sinkFrame(std::uint32_t frame);
  TraceSink& sink_;
  std::vector<FrameId> sink_frames_;  // by number in `frames`
};

class StackProbe {
 public:
  // `locks` outlives it.
  StackProbe(pid_t pid, LockAddresses& locks, StackRecorder& recorder);

  // Before the threads of a sample: finds the interpreter and its threads. `folder` is /proc/PID.
  void begin(int folder, TimeNs now_ns);
  // `task_folder` is /proc/PID/task. Returns a name for the thread that its functions give, "" when they do not.
  std::string sample(int task_folder, pid_t tid, ThreadRef thread, const TraceClock& clock, SampleLog& log);
  // After them: ends the tracks of threads that ended.
  void end(TimeNs now_ns, SampleLog& log);
  // Ends the tracks of all threads.
  void endAll(TimeNs now_ns, SampleLog& log);

 private:
  static constexpr int kRolesAsked = 100;  // samples of the first thread
  struct Thread {
    SeriesRef series;
    std::optional<SeriesRef> native;  // of a thread that runs Python: kNativeFunctionTrack
    bool seen = false;
    host::RepeatedFile syscall, stat;
    // Of the last sample: most often that of the next one too.
    std::vector<std::uint32_t> frames;
    std::string state;
    StackId stack;
  };
  StackId stackOf(Thread& thread, std::string_view state);
  void addNative(pid_t tid, bool running, ThreadRef ref, TimeNs now_ns, Thread& thread, SampleLog& log);
  // What it waits for; nullopt when it runs.
  std::optional<std::string> waitOf(int task_folder, pid_t tid, Thread& thread);

  const pid_t pid_;
  LockAddresses& locks_;
  StackRecorder& recorder_;
  ProcessStacks stacks_;
  TimeNs refresh_due_ns_ = 0, refresh_every_ns_ = 20'000'000;
  bool syscall_readable_ = true;
  int roles_asked_ = 0;
  std::unordered_map<pid_t, Thread> threads_;
  std::vector<std::uint32_t> frames_;  // scratch
  std::string text_, call_;            // scratch
};

// How a stack's state is named: "waiting: lock"; "" = running.
std::string stateText(ThreadState state);

}  // namespace pitwall::record
