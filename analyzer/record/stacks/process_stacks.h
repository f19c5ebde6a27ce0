// Stacks of the threads of one process: Python functions, or native ones.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/record/stacks/frame_table.h"
#include "analyzer/record/stacks/native_stacks.h"
#include "analyzer/record/stacks/process_memory.h"
#include "analyzer/record/stacks/python_stacks.h"
#include "analyzer/record/stacks/symbols.h"
#include "analyzer/record_program.h"

namespace pitwall::record {

class ProcessStacks {
 public:
  // The files and frames outlive the object.
  ProcessStacks(pid_t pid, StackMode mode, int hz, SymbolFiles& files, FrameTable& frames);

  // Looks at the mapped libraries again: interpreters are loaded late. `maps` is /proc/PID/maps.
  void refresh(std::string_view maps);

  // Before the stacks of a sample.
  void begin();

  enum class Read : std::uint8_t { none, done, torn };
  // Numbers of the thread's frames, outermost first. `running`: it is on a CPU or ready for one.
  Read read(pid_t tid, bool running, std::vector<std::uint32_t>& frames);
  // Of a thread whose stack is of Python functions: the number of the native function that it executed at most a sample
  // ago. nullopt = it has not run, or that is not known.
  std::optional<std::uint32_t> nativeFunction(pid_t tid, bool running);
  bool runsPython(pid_t tid) const { return python_ != nullptr && python_->hasThread(tid); }
  bool isInterpreterLock(Address at) const { return python_ != nullptr && python_->isInterpreterLock(at); }
  void forget(pid_t tid) {
    native_.erase(tid);
    refused_.erase(tid);
  }

  // After read(): what the thread is by its functions, "DataLoader worker 3"; "" = nothing known.
  std::string roleOf(const std::vector<std::uint32_t>& frames) const;

  // Why some stacks are not read, and what helps; "" = they all are.
  std::string note() const { return note_; }

 private:
  void findInterpreter(const std::vector<Mapping>& mappings);
  NativeThread* openNative(pid_t tid);
  void refuseNative(pid_t tid, int error);
  void addNote(std::string note);
  Read readNative(pid_t tid, bool running, std::vector<std::uint32_t>& frames);

  static constexpr std::size_t kMostNative = 512;  // threads with a ring
  const pid_t pid_;
  const StackMode mode_;
  const int hz_;
  SymbolFiles& files_;
  FrameTable& frames_;
  RemoteMemory memory_;
  Symbols symbols_;
  ChainCheck chains_;
  std::unique_ptr<PythonStacks> python_;
  bool python_refused_ = false, native_refused_ = false;
  std::unordered_map<pid_t, std::unique_ptr<NativeThread>> native_;
  std::unordered_set<pid_t> refused_;  // threads without a ring
  std::string note_;
};

}  // namespace pitwall::record
