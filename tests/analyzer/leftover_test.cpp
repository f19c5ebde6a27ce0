// What a killed search leaves running has ended, with its files closed, when the next search goes on.
#include "analyzer/tune/leftover.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/support/temp_folder.h"

namespace pitwall::leftover_test {
namespace {

namespace fs = std::filesystem;
using tuning::endLeftover;
using tuning::noteGroup;

// A shell in a separate process group that locks a file and fills its memory, which takes the kernel a while to free.
class Left {
 public:
  Left(const fs::path& folder, const char* variable) : ready_(folder / "ready"), process_(::fork()) {
    const std::string text = "exec 9>'" + (folder / "lock").string() +
                             "'; flock 9; text=$(head -c 100000000 /dev/zero | tr '\\0' a); echo > '" +
                             ready_.string() + "'; while :; do sleep 1 9>&-; done";
    if (process_ == 0) {
      ::setpgid(0, 0);
      ::execl("/usr/bin/env", "env", variable, "sh", "-c", text.c_str(), nullptr);
      ::_exit(127);
    }
  }
  ~Left() {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Left(const Left&) = delete;
  Left& operator=(const Left&) = delete;

  bool waitUntilReady() const {
    for (int i = 0; i < 4000 && !fs::exists(ready_); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return fs::exists(ready_);
  }
  pid_t process() const { return process_; }

 private:
  fs::path ready_;
  pid_t process_;
};

bool isLocked(const fs::path& file) {
  const int opened = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  const bool locked = ::flock(opened, LOCK_EX | LOCK_NB) != 0;
  ::close(opened);
  return locked;
}

TEST(Leftover, HasClosedItsFilesWhenTheNextSearchGoesOn) {
  const test::TempFolder folder;
  const Left left(folder.path(), "PITWALL_TRIAL=0");
  ASSERT_TRUE(left.waitUntilReady());
  ASSERT_TRUE(isLocked(folder.path() / "lock"));
  const std::string file = (folder.path() / "running").string();
  noteGroup(file, left.process());
  endLeftover(file);
  EXPECT_FALSE(isLocked(folder.path() / "lock"));
  EXPECT_FALSE(fs::exists(file));
}

TEST(Leftover, AGroupOfAnotherProgramGoesOn) {
  const test::TempFolder folder;
  const Left left(folder.path(), "PITWALL_OTHER=0");
  ASSERT_TRUE(left.waitUntilReady());
  const std::string file = (folder.path() / "running").string();
  noteGroup(file, left.process());
  endLeftover(file);
  EXPECT_EQ(::waitpid(left.process(), nullptr, WNOHANG), 0);
  EXPECT_TRUE(isLocked(folder.path() / "lock"));
}

}  // namespace
}  // namespace pitwall::leftover_test
