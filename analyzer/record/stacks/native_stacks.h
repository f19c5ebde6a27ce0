// Native stacks of running threads: call chains that the kernel takes by its CPU clock (perf_event_open).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/record/stacks/process_memory.h"

namespace pitwall::record {

// One thread's ring of samples.
class NativeThread {
 public:
  // Null when the kernel does not allow it; errno has the reason. ENOMEM, EMFILE, ENFILE: not one more.
  static std::unique_ptr<NativeThread> open(pid_t tid, int hz);
  ~NativeThread();
  NativeThread(const NativeThread&) = delete;
  NativeThread& operator=(const NativeThread&) = delete;

  // The newest call chain since the last call, innermost first; empty when the thread has not run. In the kernel it is the chain that
  // called it, but where seesKernel() is false: then the thread seems not to have run.
  std::span<const Address> take();
  bool seesKernel() const { return sees_kernel_; }

 private:
  NativeThread(int file, void* ring, bool sees_kernel)
      : file_(file), ring_(ring), sees_kernel_(sees_kernel) {}
  void keep(const std::uint8_t* record, std::size_t size);
  int file_;
  void* ring_;
  bool sees_kernel_;
  std::vector<Address> chain_;
  std::vector<std::uint8_t> record_;  // scratch
};

// Call chains follow frame pointers. Code that is compiled without them breaks a chain: callers count only as
// far as each return address follows a call instruction.
class ChainCheck {
 public:
  explicit ChainCheck(const ProcessMemory& memory) : memory_(memory) {}
  bool isReturnAddress(Address at);
  // The code may be another now.
  void forget() { known_.clear(); }

 private:
  const ProcessMemory& memory_;
  std::unordered_map<Address, bool> known_;
};

// Whether the bytes before a return address end with a call; x86-64. Elsewhere 4-byte instructions: true.
bool endsWithCall(std::span<const std::uint8_t, 7> before);

}  // namespace pitwall::record
