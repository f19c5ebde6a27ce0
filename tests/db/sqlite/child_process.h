// Runs a part of a test in a forked child, so that a kill, limits and the user affect only the child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

namespace pitwall::test {

// Runs `body` in a child; its return value is the child's exit code, 0 = fine.
inline pid_t forkChild(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int code = body();
    std::fflush(nullptr);
    ::_exit(code);
  }
  return child;
}

inline int waitForChild(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define CHILD_CHECK(condition, text)                                                     \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "child, line %d: %s\n", __LINE__, std::string(text).c_str()); \
      return 1;                                                                          \
    }                                                                                    \
  } while (false)

}  // namespace pitwall::test
