// One process, sampled at chosen moments.
#include "analyzer/record/sample/process_probe.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "analyzer/record/sample/sample_log.h"
#include "analyzer/record/sample/trace_clock.h"
#include "tests/support/memory_sink.h"

namespace pitwall::record::process_probe_test {
namespace {

using namespace std::chrono_literals;

class Target {
 public:
  explicit Target(std::string mode) {
    std::string program = PITWALL_RECORD_TARGET;
    char* const arguments[] = {program.data(), mode.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, program.c_str(), nullptr, nullptr, arguments, environ), 0);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  void waitUntilStopped() const {
    int status = 0;
    ASSERT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void resume() const { kill(pid_, SIGCONT); }

 private:
  pid_t pid_ = 0;
};

bool isAgain(const ProcessFacts& facts) {
  return std::ranges::any_of(facts.environment,
                             [](const auto& variable) { return variable.first == "RECORD_TARGET_AGAIN"; });
}

// As programs do whose libraries read the environment when they are loaded.
TEST(ProcessProbe, AProgramThatStartsItselfAgainHasItsLastEnvironment) {
  const Target target("again");
  target.waitUntilStopped();
  test::MemorySink sink;
  SampleLog log(sink, std::nullopt);
  const TraceClock clock;
  ProbeBudget budget;
  ProcessProbe probe(target.pid(), clock.now());
  ASSERT_TRUE(probe.sample(clock, log, budget, true));
  ASSERT_TRUE(probe.described());
  EXPECT_FALSE(probe.facts().environment.empty());
  EXPECT_FALSE(isAgain(probe.facts()));
  target.resume();
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!isAgain(probe.facts()) && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(probe.sample(clock, log, budget, true));
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_TRUE(isAgain(probe.facts()));
  log.writeAll(clock.now());
  EXPECT_EQ(sink.processes.size(), 1U) << "the same program";
}

}  // namespace
}  // namespace pitwall::record::process_probe_test
