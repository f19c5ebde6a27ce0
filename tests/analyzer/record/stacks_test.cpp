// Stacks in whole recordings: of Debian's Python and of a C++ program.
#include "db/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "analyzer/record_program.h"
#include "db/meta.h"
#include "db/reader.h"
#include "tests/support/temp_folder.h"

namespace pitwall::stacks_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr char kPython[] = "/usr/bin/python3";

// Samples of one thread by function: within it, and with it innermost. States are functions, too.
struct ThreadSamples {
  std::int64_t all = 0;
  std::map<std::string, int> within, innermost, lines;

  double share(const std::map<std::string, int>& of, const std::string& function) const {
    const auto found = of.find(function);
    return all == 0 || found == of.end() ? 0 : static_cast<double>(found->second) / static_cast<double>(all);
  }
};

class Stacks : public testing::Test {
 protected:
  Recorded record(std::vector<std::string> command, StackMode mode = StackMode::automatic) {
    RecordOptions options;
    options.command = std::move(command);
    options.output = folder_ / "x.pitwall";
    options.producer = "test";
    options.frameworks = false;
    options.stacks = mode;
    auto recorded = recordProgram(options);
    EXPECT_TRUE(recorded.has_value()) << (recorded.has_value() ? "" : recorded.error().message);
    trace_ = Trace::open(folder_ / "x.pitwall").value();
    return recorded.has_value() ? *recorded : Recorded{};
  }
  Recorded python(const std::string& what, const std::string& seconds) {
    return record({kPython, PITWALL_STACKS_PROGRAM, what, seconds});
  }

  std::vector<ThreadSamples> threads() {
    std::vector<ThreadSamples> all;
    for (std::uint32_t i = 0; i < trace_->tracks().size(); ++i) {
      if (trace_->tracks()[i].unit != kStackUnit || trace_->tracks()[i].name == kNativeFunctionTrack)
        continue;
      ThreadSamples& thread = all.emplace_back();
      const auto samples = trace_->counters(TrackId{i + 1}).value();
      for (const CounterSample& sample : samples) add(sample, thread);
    }
    return all;
  }
  void add(const CounterSample& sample, ThreadSamples& thread) {
    StackId stack = stackOf(sample, trace_->stacks().size());
    if (stack) ++thread.all;
    std::map<std::string, int> seen;
    for (bool first = true; stack; stack = trace_->stacks()[stack.value - 1].caller) {
      const FrameInfo& frame = trace_->frames()[trace_->stacks()[stack.value - 1].frame.value - 1];
      if (seen[frame.function]++ == 0) ++thread.within[frame.function];
      if (first && frame.language != kStateLanguage) {
        ++thread.innermost[frame.function];
        first = false;
      }
      if (frame.function == "main_loop") ++thread.lines[std::to_string(frame.line)];
    }
  }
  // The thread with most samples within the function.
  ThreadSamples threadWithin(const std::string& function) {
    ThreadSamples best;
    for (const ThreadSamples& thread : threads()) {
      if (thread.share(thread.within, function) > best.share(best.within, function)) best = thread;
    }
    return best;
  }

  test::TempFolder folder_;
  std::unique_ptr<Trace> trace_;
};

class PythonStacksOfAProgram : public Stacks {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kPython)) GTEST_SKIP() << "there is no " << kPython;
  }
};

TEST_F(PythonStacksOfAProgram, ThreadsAreInTheirFunctions) {
  EXPECT_EQ(python("threads", "1.0").exit_code, 0);
  const auto main = threadWithin("main_loop");
  ASSERT_GT(main.all, 10);
  EXPECT_GT(main.share(main.within, "main_loop"), 0.5);
  EXPECT_GT(main.share(main.innermost, "spin"), 0.1);  // beside start-up, longer on a busy machine
  EXPECT_GT(main.share(main.within, "threads"), 0.5);
  EXPECT_THAT(main.lines, Contains(testing::Pair("18", testing::Gt(0))));
  // Two threads compute in Python: each waits for the other.
  const auto other = threadWithin("other_loop");
  EXPECT_GT(other.share(other.within, "other_loop"), 0.5);
  EXPECT_GT(other.share(other.within, "waiting: interpreter lock") +
                main.share(main.within, "waiting: interpreter lock"),
            0.2);
  const auto sleeper = threadWithin("sleeper");
  EXPECT_GT(sleeper.share(sleeper.innermost, "sleeper"), 0.8);
  EXPECT_GT(sleeper.share(sleeper.within, "sleeping"), 0.8);
  const auto reader = threadWithin("reader");
  EXPECT_GT(reader.share(reader.within, "waiting: input of a pipe, socket or terminal"), 0.8);
  const auto files = trace_->frames();
  EXPECT_TRUE(std::ranges::any_of(files, [](const FrameInfo& frame) {
    return frame.function == "spin" && frame.file == PITWALL_STACKS_PROGRAM && frame.language == "python";
  }));
  EXPECT_TRUE(trace_->meta(meta::kStackHz).has_value());
}

TEST_F(PythonStacksOfAProgram, AForkedProcessIsReadToo) {
  EXPECT_EQ(python("fork", "0.7").exit_code, 0);
  const auto worker = threadWithin("worker");
  EXPECT_GT(worker.all, 5);
  EXPECT_GT(worker.share(worker.within, "main_loop"), 0.5);
  const auto parent = threadWithin("waiting: child process");
  EXPECT_GT(parent.share(parent.innermost, "fork"), 0.4);
}

TEST_F(PythonStacksOfAProgram, WorkersOfADataLoaderHaveTheirNumbers) {
  EXPECT_EQ(python("loader", "1.5").exit_code, 0);
  EXPECT_THAT(trace_->threads(), Contains(testing::Field(&ThreadInfo::name, "DataLoader worker 3")));
}

// The program's own function stays the innermost one of its stack.
TEST_F(PythonStacksOfAProgram, NativeFunctionsOfAThreadThatRunsPythonAreApart) {
  const Recorded recorded = python("hash", "0.7");
  for (const std::string& note : recorded.notes) {
    if (note.find("native stacks") != note.npos) GTEST_SKIP() << note;
  }
  const auto main = threadWithin("hash_loop");
  EXPECT_GT(main.share(main.innermost, "hash_loop"), 0.5);
  int all = 0, in_library = 0;
  for (std::uint32_t i = 0; i < trace_->tracks().size(); ++i) {
    if (trace_->tracks()[i].name != kNativeFunctionTrack) continue;
    const auto samples = trace_->counters(TrackId{i + 1}).value();
    for (const CounterSample& sample : samples) {
      const StackId stack = stackOf(sample, trace_->stacks().size());
      if (!stack) continue;
      const StackInfo& found = trace_->stacks()[stack.value - 1];
      EXPECT_FALSE(found.caller);
      ++all;
      in_library += trace_->frames()[found.frame.value - 1].file.find("libcrypto") != std::string::npos;
    }
  }
  EXPECT_GT(all, 10);
  EXPECT_GT(in_library, all / 2);
}

TEST_F(PythonStacksOfAProgram, OffRecordsNone) {
  record({kPython, PITWALL_STACKS_PROGRAM, "busy", "0.2"}, StackMode::off);
  EXPECT_TRUE(trace_->stacks().empty());
  EXPECT_TRUE(threads().empty());
  EXPECT_FALSE(trace_->meta(meta::kStackHz).has_value());
}

TEST_F(Stacks, NativeFunctionsOfAProgramWithoutPython) {
  const Recorded recorded = record({PITWALL_RECORD_TARGET, "burn", "700"});
  for (const std::string& note : recorded.notes) {
    if (note.find("native stacks are not recorded") != note.npos) GTEST_SKIP() << note;
  }
  const auto burning = threadWithin("(anonymous namespace)::burnMs(int)");
  EXPECT_GT(burning.all, 5);
  EXPECT_GT(burning.share(burning.within, "(anonymous namespace)::burnMs(int)"), 0.5);
}

TEST_F(Stacks, TimeInTheKernelCountsForTheFunctionThatCalledIt) {
  const Recorded recorded = record({PITWALL_RECORD_TARGET, "kernel", "700"});
  for (const std::string& note : recorded.notes) {
    if (note.find("native stacks") != note.npos) GTEST_SKIP() << note;
  }
  ThreadSamples most;
  for (const ThreadSamples& thread : threads()) {
    if (thread.all > most.all) most = thread;
  }
  EXPECT_GT(most.all, 5);
  EXPECT_GT(most.share(most.innermost, "__read") + most.share(most.innermost, "read") +
                most.share(most.innermost, "__libc_read"),
            0.5);
}

// A share of dropped stacks is one of the stacks that there were: a thread that sleeps has none.
TEST_F(Stacks, OnlyStacksThatWereReadCount) {
  record({"sleep", "0.5"});
  const auto dropped = trace_->meta(meta::kStacksTorn);
  if (!dropped) GTEST_SKIP() << "the machine is too busy: fewer than three samples";
  long long torn = -1, of = -1;
  ASSERT_EQ(std::sscanf(dropped->c_str(), "%lld of %lld", &torn, &of), 2) << *dropped;
  long long read = 0;
  for (const ThreadSamples& thread : threads()) {
    for (const auto& [function, samples] : thread.innermost) read += samples;
  }
  EXPECT_EQ(of, read + torn);
}

// A program that runs before it is recorded; ended with the object.
class Running {
 public:
  explicit Running(std::vector<std::string> command) : pid_(fork()) {
    if (pid_ != 0) return;
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  ~Running() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

class Attach : public Stacks {
 protected:
  RecordOptions attachTo(pid_t pid, std::optional<double> duration_s) const {
    RecordOptions options;
    options.pid = pid;
    options.duration_s = duration_s;
    options.output = folder_ / "x.pitwall";
    options.producer = "test";
    return options;
  }
  ErrorCode errorOf(const RecordOptions& options) const {
    const auto recorded = recordProgram(options);
    return recorded.has_value() ? ErrorCode::internal : recorded.error().code;
  }
};

TEST_F(Attach, SamplesARunningPythonProgram) {
  if (!std::filesystem::exists(kPython)) GTEST_SKIP() << "there is no " << kPython;
  const Running program({kPython, PITWALL_STACKS_PROGRAM, "busy", "1000"});
  usleep(300'000);
  const auto recorded = recordProgram(attachTo(program.pid(), 1.5));
  ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
  for (const std::string& note : recorded->notes) {
    if (note.find("cannot be read") != note.npos) GTEST_SKIP() << note;
  }
  EXPECT_EQ(recorded->exit_code, 0);
  EXPECT_EQ(kill(program.pid(), 0), 0);  // it continues
  trace_ = Trace::open(folder_ / "x.pitwall").value();
  EXPECT_TRUE(trace_->isComplete());
  EXPECT_EQ(trace_->processes()[0].pid, program.pid());
  const auto main = threadWithin("main_loop");
  EXPECT_GT(main.all, 5);
  EXPECT_GT(main.share(main.within, "main_loop"), 0.5);
  // What it used before does not count.
  for (std::uint32_t i = 0; i < trace_->tracks().size(); ++i) {
    if (trace_->tracks()[i].name != "cpu") continue;
    const auto samples = trace_->counters(TrackId{i + 1}).value();
    for (const CounterSample& sample : samples) EXPECT_LT(sample.value, 1.5);
  }
}

TEST_F(Attach, OtherChildrenOfTheRecorderAreNotTheProgram) {
  const Running other({"/bin/sleep", "1000"});
  const Running program({PITWALL_RECORD_TARGET, "burn", "300"});
  ASSERT_TRUE(recordProgram(attachTo(program.pid(), 0.2)).has_value());
  trace_ = Trace::open(folder_ / "x.pitwall").value();
  ASSERT_EQ(trace_->processes().size(), 1U);
  EXPECT_EQ(trace_->processes()[0].pid, program.pid());
}

TEST_F(Attach, EndsWithTheProgram) {
  const Running program({PITWALL_RECORD_TARGET, "burn", "300"});
  usleep(50'000);
  const auto recorded = recordProgram(attachTo(program.pid(), std::nullopt));
  ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
  EXPECT_TRUE(Trace::open(folder_ / "x.pitwall").value()->isComplete());
}

TEST_F(Attach, ProcessesThatCannotBeRecordedAreRefused) {
  pid_t gone = 0;
  { gone = Running({"/bin/true"}).pid(); }
  EXPECT_EQ(errorOf(attachTo(gone, 1)), ErrorCode::notFound);
  EXPECT_EQ(errorOf(attachTo(-1, 1)), ErrorCode::invalidInput);
  EXPECT_EQ(errorOf(attachTo(getpid(), 1)), ErrorCode::invalidInput);
  RecordOptions both = attachTo(1, 1);
  both.command = {"true"};
  EXPECT_EQ(errorOf(both), ErrorCode::invalidInput);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.pitwall"));
}

TEST_F(Attach, AnotherUsersProcessIsRefused) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    _exit(errorOf(attachTo(1, 1)) == ErrorCode::unsupported ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "another user cannot be taken here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Stacks, AProgramThatEndsAtOnceIsRecorded) {
  for (const auto& [command, code] :
       std::vector<std::pair<std::vector<std::string>, int>>{{{"true"}, 0}, {{"sh", "-c", "exit 3"}, 3}}) {
    const Recorded recorded = record(command);
    EXPECT_EQ(recorded.exit_code, code);
    EXPECT_TRUE(recorded.failures.empty());
    EXPECT_TRUE(trace_->isComplete());
    EXPECT_LE(recorded.processes, 1);
    // A busy machine may have stopped it long enough for samples: they refer to stacks of the trace.
    for (std::uint32_t i = 0; i < trace_->tracks().size(); ++i) {
      if (trace_->tracks()[i].unit != kStackUnit) continue;
      const auto samples = trace_->counters(TrackId{i + 1});
      ASSERT_TRUE(samples.has_value());
      for (const CounterSample& sample : *samples)
        EXPECT_LE(sample.value, static_cast<double>(trace_->stacks().size()));
    }
  }
}

}  // namespace
}  // namespace pitwall::stacks_test
