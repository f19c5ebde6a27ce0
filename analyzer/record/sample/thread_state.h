// The state of a thread when it is sampled: running, or what it waits for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace pitwall::record {

// The values of the track `state`; docs/recording.md names them.
enum class ThreadState : int {
  running = 0,           // on a CPU, or ready for one
  mutex = 1,             // for a mutex that another thread holds
  timedWait = 2,         // in a futex with a timeout, as waits for Python's interpreter lock
  wait = 3,              // in a futex without one: for work, a result, the end of a thread
  sleep = 4,             // for a time
  poll = 5,              // for events of files and sockets
  input = 6,             // for data from a pipe, socket or terminal
  output = 7,            // for a pipe or socket to accept data
  storageRead = 8,       // in a call that reads a file
  storageWrite = 9,      // in a call that writes one
  sync = 10,             // in fsync and similar calls
  uninterruptible = 11,  // in the kernel otherwise: page faults from files, opening, deleting
  child = 12,            // for a process to end
  asleep = 13,           // otherwise, or unknown
  stopped = 14           // by a signal or a debugger
};

// `letter` as in /proc/PID/task/TID/stat; `syscall` is the text of the file `syscall` in the same folder, ""
// when it cannot be read. A thread that waits in a futex as for a mutex is in the state `mutex`; see LockAddresses.
ThreadState threadState(char letter, std::string_view syscall);

// The first argument of a system call, of the text of the file `syscall`; 0 = none.
std::uint64_t firstArgument(std::string_view syscall);

// The addresses at which the threads of a process waited as for a mutex. Where only one thread ever waits, it may be its
// own semaphore: workers of engines and of TBB sleep like that until there is work.
class LockAddresses {
 public:
  // As threadState(), but `wait` instead of `mutex` until another thread, too, has waited at that address.
  ThreadState stateOf(pid_t thread, char letter, std::string_view syscall);
  void clear() { waiters_.clear(); }

 private:
  struct Waiter {
    pid_t first;
    bool others;
  };
  std::unordered_map<std::uint64_t, Waiter> waiters_;
};

}  // namespace pitwall::record
