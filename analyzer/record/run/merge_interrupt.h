// Ctrl-C while the parts of a recording are merged, which may take as long as importing them.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <thread>

namespace pitwall::record {

// While it is alive, a thread takes SIGINT, which the others have blocked. The first one is meant for the program while that runs,
// and gets passed on to it unless a terminal has done so; further ones, or the first after the program's end, cancel the merge.
class MergeInterrupt {
 public:
  // `program`: 0 = it has ended. `interrupts`: how many there were before.
  MergeInterrupt(pid_t program, int interrupts);
  ~MergeInterrupt();
  MergeInterrupt(const MergeInterrupt&) = delete;
  MergeInterrupt& operator=(const MergeInterrupt&) = delete;

  const std::atomic<bool>& cancelled() const { return cancelled_; }
  int interrupts() const { return interrupts_; }  // with those before

 private:
  void watch();

  const pid_t program_;
  std::atomic<int> interrupts_;
  std::atomic<bool> cancelled_ = false, stopping_ = false;
  std::thread thread_;  // none where none can be made: the merge cannot be cancelled then
};

}  // namespace pitwall::record
