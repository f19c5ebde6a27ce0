// The C interface in programs that fork.
#include "runtime/profiler_c.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/temp_folder.h"

namespace pitwall::profiler_c_test {
namespace {

// Another thread begins and ends recordings all the time. A child that waits for its locks is ended by the alarm.
TEST(ProfilerC, AForkWhileARecordingBeginsOrEndsLeavesNoLockBehind) {
  const test::TempFolder folder;
  const std::string trace = folder / "x.pitwall";
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
      EXPECT_EQ(pitwall_start(trace.c_str()), 0) << pitwall_last_error();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      EXPECT_EQ(pitwall_stop(), 0) << pitwall_last_error();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      (void)pitwall_stop();
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    if (HasFailure()) break;
  }
  over = true;
  other.join();
}

}  // namespace
}  // namespace pitwall::profiler_c_test
