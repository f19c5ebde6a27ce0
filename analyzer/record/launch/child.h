// Starts a program in two steps: first a process that waits, so that its id is known and its trace can be
// opened; then the program itself.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall::record {

struct ChildSetup {
  std::string path;                  // of the program
  std::vector<std::string> command;  // its arguments, the first being its name
  // Called in the new process with its id; returns the program's environment.
  std::function<std::vector<std::string>(pid_t)> environment;
  sigset_t signal_mask{};  // initial mask of the program
  int output = -1;         // becomes its standard output; -1 = ours
  bool error_too = false;  // and its standard error
  std::string folder;      // to start it in; "" = ours
  // In its own process group, without input, and killed when the calling thread's process ends.
  bool is_apart = false;
};

class Child {
 public:
  // Call while this process has one thread. Errors: io when no process can be created.
  static Result<Child> fork(const ChildSetup& setup);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  // ends a process that still waits

  // Starts the program. Errors: notFound (the program or its interpreter), unsupported (not executable).
  Status start();

  pid_t pid() const { return pid_; }

 private:
  Child(pid_t pid, int gate, int answer, std::string path)
      : pid_(pid), gate_(gate), answer_(answer), path_(std::move(path)) {}
  pid_t pid_;
  int gate_;    // written to start the program
  int answer_;  // read: errno of a failed exec; closed by a successful one
  std::string path_;
};

}  // namespace pitwall::record
