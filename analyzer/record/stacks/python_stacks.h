// Python stacks of another process, read from its memory while it runs.
//
// Nothing stops the process, so that memory may change between two reads. A stack counts only if the pointer to
// the thread's innermost frame is the same before and after its frames are read, and if each of them leads to a
// code object. Frames are read in one call, at the places where they were last time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/record/stacks/frame_table.h"
#include "analyzer/record/stacks/process_memory.h"
#include "analyzer/record/stacks/python_code.h"
#include "analyzer/record/stacks/python_layout.h"
#include "db/result.h"

namespace pitwall::record {

class PythonStacks {
 public:
  // `runtime` is the address of _PyRuntime; memory and frames outlive the object. Errors: unsupported.
  static Result<std::unique_ptr<PythonStacks>> create(const ProcessMemory& memory, FrameTable& frames,
                                                      Address runtime, int minor);

  // Finds the threads again; false while the interpreter has none.
  bool findThreads();
  bool hasThread(pid_t tid) const { return threads_.contains(tid); }

  enum class Read : std::uint8_t {
    none,  // the thread runs no Python function
    done,
    torn,  // it changed while it was read, each time
  };
  // Numbers of the frames, outermost first.
  Read read(pid_t tid, std::vector<std::uint32_t>& frames);

  // After read(): the value of an argument of frame `frame` in the stack, where it is a number from 0 to 2^30.
  std::optional<std::uint32_t> argument(std::size_t frame, std::uint32_t index) const;

  // Whether an address that a thread waits at is part of the interpreter lock (GIL).
  bool isInterpreterLock(Address at) const;

 private:
  // Memory where a thread's frames were.
  struct Area {
    Address from = 0;
    std::vector<std::uint8_t> bytes;
  };
  struct Thread {
    Address state = 0;
    Address cframe = 0;  // where layout_.frame_in_cframe: what led to the innermost frame
    bool seen = false;
    std::vector<Area> areas;
  };
  PythonStacks(const ProcessMemory& memory, FrameTable& frames, Address runtime, PythonLayout layout)
      : memory_(memory), runtime_(runtime), layout_(layout), code_(memory, layout_, frames) {}
  // A value that the last search for threads read, of at most 8 bytes.
  struct Link {
    Address at = 0;
    std::uint64_t value = 0;
    std::size_t size = 0;
    bool lasts = false;  // as long as an interpreter
  };
  template <class T>
  std::optional<T> link(Address at, bool lasts = false);
  bool linksHold();
  void findThreadsOf(Address interpreter, std::size_t& left);
  pid_t systemId(Address state);
  std::optional<Address> innermost(Thread& thread) const;
  struct Tops {
    Address before = 0, after = 0;  // the innermost frame, before and after the areas were read
  };
  Tops fetch(Thread& thread);
  const std::uint8_t* frameBytes(const Thread& thread, Address frame, std::vector<std::uint8_t>& scratch);
  bool walk(const Thread& thread, Address top);
  void placeAreas(Thread& thread) const;

  const ProcessMemory& memory_;
  const Address runtime_;
  const PythonLayout layout_;
  PythonCode code_;
  std::unordered_map<pid_t, Thread> threads_;
  std::vector<Address> locks_;
  std::vector<Link> links_;
  std::uint32_t searches_ = 0;
  bool all_linked_ = false;                 // the last search could read everything
  std::vector<std::uint64_t> now_;          // scratch: of the links
  std::vector<ProcessMemory::Part> parts_;  // scratch
  std::vector<Address> walked_;             // scratch: frames, innermost first
  std::vector<Address> functions_;          // those of `places_`
  std::vector<PythonCode::Place> places_;   // scratch
  bool outside_ = false;                    // the last walk read frames besides the areas
};

}  // namespace pitwall::record
