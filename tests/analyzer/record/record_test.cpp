// Whole recordings of small programs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "analyzer/record/sample/thread_state.h"
#include "analyzer/record_program.h"
#include "db/meta.h"
#include "db/reader.h"
#include "tests/support/read_all.h"
#include "tests/support/temp_folder.h"

namespace pitwall::record_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Record : public testing::Test {
 protected:
  RecordOptions options(std::vector<std::string> command) const {
    RecordOptions result;
    result.command = std::move(command);
    result.output = folder_ / "x.pitwall";
    result.producer = "test";
    return result;
  }
  RecordOptions target(const std::string& mode, int number = 0) const {
    return options({PITWALL_RECORD_TARGET, mode, std::to_string(number)});
  }
  Recorded run(const RecordOptions& options) {
    auto recorded = recordProgram(options);
    EXPECT_TRUE(recorded.has_value()) << (recorded.has_value() ? "" : recorded.error().message);
    return recorded.has_value() ? recorded.value() : Recorded{};
  }
  std::unique_ptr<Trace> open() {
    auto trace = Trace::open(folder_ / "x.pitwall");
    EXPECT_TRUE(trace.has_value()) << (trace.has_value() ? "" : trace.error().message);
    return trace.has_value() ? std::move(trace.value()) : nullptr;
  }
  std::vector<std::string> filesLeft() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  test::TempFolder folder_;
};

// Samples of every track of that name; of a process (no thread) or of threads.
std::vector<std::vector<CounterSample>> samplesOf(Trace& trace, const std::string& name, bool of_threads) {
  std::vector<std::vector<CounterSample>> result;
  for (std::size_t i = 0; i < trace.tracks().size(); ++i) {
    const TrackInfo& track = trace.tracks()[i];
    if (track.kind != TrackKind::counter || track.name != name || bool(track.thread) != of_threads) continue;
    result.push_back(trace.counters(TrackId{static_cast<std::uint32_t>(i + 1)}).value());
  }
  return result;
}

// The integral of a rate: each sample is valid until the next.
double integral(const std::vector<CounterSample>& samples) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    sum += samples[i].value * static_cast<double>(samples[i + 1].time_ns - samples[i].time_ns) * 1e-9;
  }
  return sum;
}

TEST_F(Record, PassesOnExitCodesAndSignals) {
  EXPECT_EQ(run(options({"sh", "-c", "exit 7"})).exit_code, 7);
  EXPECT_EQ(run(options({"sh", "-c", "kill -9 $$"})).exit_signal, SIGKILL);
  EXPECT_EQ(open()->meta(meta::kExitSignal), "9");
  EXPECT_FALSE(open()->meta(meta::kExitCode).has_value());  // a code of 0 would be read as success
  // A signal sent to the recorder reaches the program.
  EXPECT_EQ(
      run(options({"sh", "-c", "trap 'kill $!; exit 9' TERM; sleep 20 & kill -TERM $PPID; wait"})).exit_code,
      9);
  EXPECT_TRUE(open()->isComplete());
}

TEST_F(Record, ASecondInterruptEndsTheRecordingOfAProgramThatIgnoresIt) {
  // Several, since two that arrive before the first is read are one.
  const auto before = std::signal(SIGINT, [](int) {});
  const auto recorded =
      run(options({"sh", "-c",
                   "trap '' INT; for i in 1 2 3 4 5 6; do kill -INT $PPID; sleep 0.2; done; "
                   "exec sleep 30 >/dev/null 2>&1"}));
  EXPECT_EQ(recorded.exit_code, 130);
  EXPECT_LT(recorded.seconds, 30);
  const auto program = static_cast<pid_t>(open()->processes().front().pid);
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  std::signal(SIGINT, before);
  EXPECT_TRUE(open()->isComplete());
}

TEST_F(Record, CpuTimeOfProcessAndThreadsAddsUp) {
  const auto recorded = run(target("burn", 400));
  EXPECT_EQ(recorded.exit_code, 0);
  auto trace = open();
  ASSERT_THAT(trace->processes(), SizeIs(1));
  EXPECT_EQ(trace->processes()[0].name, "record_target");
  EXPECT_THAT(trace->processes()[0].command_line, HasSubstr("burn 400"));
  // Compared with the times that the kernel returned from wait().
  const double used = std::stod(trace->meta(meta::kProcessCpuNs).value()) * 1e-9;
  EXPECT_GE(used, 0.8);
  const auto process = samplesOf(*trace, "cpu", false);
  ASSERT_THAT(process, SizeIs(1));
  EXPECT_NEAR(integral(process[0]), used, 0.02 + used * 0.02);
  double threads = 0;
  for (const auto& thread : samplesOf(*trace, "cpu", true)) {
    threads += integral(thread);
    for (const auto& sample : thread) {
      EXPECT_GE(sample.value, 0);
      EXPECT_LE(sample.value, 1);
    }
  }
  EXPECT_GT(threads, used * 0.5);
  EXPECT_LT(threads, used * 1.02 + 0.01);
  EXPECT_FALSE(samplesOf(*trace, "resident memory", false).empty());
  EXPECT_FALSE(samplesOf(*trace, "voluntary switches", true).empty());
  EXPECT_TRUE(trace->meta(meta::kUsableCpus).has_value());
  EXPECT_EQ(trace->meta(meta::kOpenMpRuntime), "none");
}

TEST_F(Record, AThreadThatEndsBetweenSamplesUsesNoMoreThanItsProcess) {
  auto rarely = target("burn-and-wait", 560);
  rarely.sample_hz = 4;
  EXPECT_EQ(run(rarely).exit_code, 0);
  auto trace = open();
  const double used = std::stod(trace->meta(meta::kProcessCpuNs).value()) * 1e-9;
  double threads = 0;
  for (const auto& thread : samplesOf(*trace, "cpu", true)) threads += integral(thread);
  EXPECT_GT(threads, used * 0.5);
  EXPECT_LT(threads, used * 1.02 + 0.01);
}

double mean(const std::vector<CounterSample>& samples) {
  double sum = 0;
  for (const auto& sample : samples) sum += sample.value;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

// The number of samples with this value on all tracks `state`.
int samplesIn(Trace& trace, record::ThreadState state) {
  int count = 0;
  for (const auto& samples : samplesOf(trace, "state", true)) {
    count += static_cast<int>(std::ranges::count(samples, static_cast<double>(state), &CounterSample::value));
  }
  return count;
}

TEST_F(Record, WhatThreadsWaitFor) {
  run(target("mutex", 400));
  auto trace = open();
  EXPECT_GE(samplesIn(*trace, record::ThreadState::mutex), 3);  // one thread has the mutex,
  EXPECT_GE(samplesIn(*trace, record::ThreadState::sleep), 6);  // and sleeps,
  EXPECT_GE(samplesIn(*trace, record::ThreadState::wait), 6);   // while the main one waits for both
  run(target("fork"));
  trace = open();
  EXPECT_GE(samplesIn(*trace, record::ThreadState::child), 6);
  run(target("burn", 400));
  trace = open();
  EXPECT_GE(samplesIn(*trace, record::ThreadState::running), 6);
  EXPECT_EQ(samplesIn(*trace, record::ThreadState::mutex), 0);
}

TEST_F(Record, WhatOtherProgramsTakeOfTheMachine) {
  const pid_t other = fork();  // before the recording, so it does not belong to the program
  ASSERT_GE(other, 0);
  for (volatile double sink = 1; other == 0;) sink = sink * 1.0000001;
  run(target("fork"));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  auto trace = open();
  const auto others = samplesOf(*trace, "other processes cpu", false);
  ASSERT_THAT(others, SizeIs(1));
  EXPECT_GE(mean(others[0]), 0.3);
  EXPECT_FALSE(samplesOf(*trace, "host runnable threads", false).empty());
}

TEST_F(Record, ShortProcessesOfTheProgramAreNotOthers) {
  run(target("short-processes", 60));
  auto trace = open();
  // Compared with the machine's load and the program's times from wait().
  const double own = std::stod(trace->meta(meta::kProcessCpuNs).value()) * 1e-9;
  EXPECT_GE(own, 1.2);
  const auto host = samplesOf(*trace, "host cpu", false),
             others = samplesOf(*trace, "other processes cpu", false);
  ASSERT_THAT(others, SizeIs(1));
  EXPECT_LE(integral(others[0]), integral(host[0]) - 0.8 * own);
}

TEST_F(Record, FiveHundredThreads) {
  const auto recorded = run(target("threads", 500));
  EXPECT_GE(recorded.most_threads, 500);
  auto trace = open();
  EXPECT_GE(trace->threads().size(), 500u);
  EXPECT_TRUE(trace->isComplete());
}

TEST_F(Record, AThreadPerEventMakesNoTracks) {
  run(target("short-threads", 2000));
  EXPECT_LT(open()->threads().size(), 50u);
}

TEST_F(Record, FollowsForksWithoutExec) {
  const auto recorded = run(target("fork"));
  EXPECT_EQ(recorded.processes, 2);
  auto trace = open();
  ASSERT_THAT(trace->processes(), SizeIs(2));
  EXPECT_NE(trace->processes()[0].pid, trace->processes()[1].pid);
}

TEST_F(Record, AnExecIsAnotherProgramInTheSameProcess) {
  EXPECT_EQ(run(target("exec")).exit_code, 4);
  auto trace = open();
  std::vector<std::string> lines;
  for (const auto& process : trace->processes()) {
    if (process.pid == trace->processes()[0].pid) lines.push_back(process.command_line);
  }
  EXPECT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines, Contains("sh -c sleep 0.6; exit 4"));
}

TEST_F(Record, FollowsProcessesWhoseParentsAreGone) {
  auto all = target("daemon", 800);
  all.wait_all = true;
  const auto recorded = run(all);
  EXPECT_GE(recorded.processes, 2);
  EXPECT_GE(recorded.seconds, 0.8);
  const auto first = run(target("daemon", 800));
  EXPECT_THAT(first.notes, Contains(HasSubstr("--wait-all")));
}

TEST_F(Record, NothingIsStartedWhenTheTraceCannotBeWritten) {
  const std::string marker = folder_ / "ran";
  auto bad = options({"sh", "-c", "touch " + marker});
  bad.output = folder_ / "none/x.pitwall";
  const auto no_folder = recordProgram(bad);
  ASSERT_FALSE(no_folder.has_value());
  EXPECT_EQ(no_folder.error().code, ErrorCode::io);
  EXPECT_THAT(no_folder.error().message, HasSubstr("none/x.pitwall"));
  bad.output = folder_ / "x%q";
  EXPECT_EQ(recordProgram(bad).error().code, ErrorCode::invalidInput);
  bad = options({"no-such-program-anywhere"});
  EXPECT_EQ(recordProgram(bad).error().code, ErrorCode::notFound);
  std::ofstream(folder_ / "script") << "#!/no/such/interpreter\n";
  std::filesystem::permissions(folder_ / "script", std::filesystem::perms::owner_all);
  EXPECT_EQ(recordProgram(options({folder_ / "script"})).error().code, ErrorCode::notFound);
  EXPECT_EQ(recordProgram(options({folder_.path().string()})).error().code, ErrorCode::unsupported);
  EXPECT_EQ(recordProgram(options({})).error().code, ErrorCode::invalidInput);
  std::filesystem::remove(folder_ / "script");
  EXPECT_THAT(filesLeft(), IsEmpty());
}

TEST_F(Record, AFullDiskEndsTheRecordingNotTheProgram) {
  // A limit on the size of files has the effect of a full disk. Large facts fill it.
  for (int i = 0; i < 400; ++i)
    setenv(("PITWALL_TEST_" + std::to_string(i)).c_str(), std::string(4000, 'a').c_str(), 1);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto recorded = recordProgram(options({"sh", "-c", "sleep 1.5; exit 5"}));
  setrlimit(RLIMIT_FSIZE, &before);
  for (int i = 0; i < 400; ++i) unsetenv(("PITWALL_TEST_" + std::to_string(i)).c_str());
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(recorded->exit_code, 5);
  EXPECT_THAT(recorded->failures, Contains(HasSubstr("the program continues")));
  // The trace reports it too, from its next opening on.
  for (int i = 0; i < 2; ++i) {
    const auto trace = open();
    EXPECT_FALSE(trace->isComplete());
    ASSERT_THAT(trace->losses(), SizeIs(1));
    EXPECT_GE(trace->losses()[0].count, 1);
    EXPECT_GE(trace->losses()[0].to_ns, 1'500'000'000);  // to the program's end
    EXPECT_THAT(recorded->failures, Contains(HasSubstr(trace->losses()[0].reason.substr(0, 60))));
    EXPECT_THAT(filesLeft(), testing::Not(Contains("x.pitwall.rings")));
  }
}

TEST_F(Record, AKilledRecorderLeavesATraceOfTheProgramAlone) {
  const pid_t recorder = fork();
  ASSERT_GE(recorder, 0);
  if (recorder == 0) {
    auto endless = options({"sh", "-c", "sleep 1.5; kill -9 $PPID"});
    (void)recordProgram(endless);
    _exit(0);
  }
  ASSERT_EQ(waitpid(recorder, nullptr, 0), recorder);
  const auto trace = open();
  EXPECT_FALSE(trace->isComplete());
  EXPECT_THAT(trace->losses(), IsEmpty());
  ASSERT_THAT(trace->processes(), testing::Not(IsEmpty()));
  for (const ProcessInfo& process : trace->processes()) EXPECT_NE(process.pid, recorder);
  EXPECT_EQ(trace->processes()[0].command_line.substr(0, 6), "sh -c ");
  EXPECT_GE(std::stoll(trace->meta(meta::kTraceEndNs).value_or("0")), 500'000'000);
}

TEST_F(Record, SecretsOfTheEnvironmentDoNotReachTheFile) {
  setenv("HF_TOKEN", "a-very-secret-value", 1);
  run(options({"sh", "-c", "sleep 0.1", "--password", "another-secret-value"}));
  unsetenv("HF_TOKEN");
  EXPECT_EQ(open()->meta("environment.HF_TOKEN"), "[redacted]");
  const std::string bytes = test::readAll(folder_ / "x.pitwall");
  EXPECT_EQ(bytes.find("a-very-secret-value"), bytes.npos);
  EXPECT_EQ(bytes.find("another-secret-value"), bytes.npos);
  EXPECT_THAT(filesLeft(), testing::ElementsAre("x.pitwall"));
}

TEST_F(Record, AFlightRecorderKeepsTheEnd) {
  auto last = options({"sh", "-c", "sleep 2"});
  last.last_s = 1;
  const auto recorded = run(last);
  const auto cpu = samplesOf(*open(), "cpu", false);
  ASSERT_FALSE(cpu.empty());
  ASSERT_FALSE(cpu[0].empty());
  EXPECT_GE(static_cast<double>(cpu[0].front().time_ns) * 1e-9, recorded.seconds - 1.01);
}

TEST_F(Record, ADurationEndsTheRecordingNotTheProgram) {
  auto brief = options({"sh", "-c", "sleep 1; exit 3"});
  brief.duration_s = 0.3;
  const auto recorded = run(brief);
  EXPECT_EQ(recorded.exit_code, 3);
  EXPECT_GE(recorded.seconds, 0.3);
  EXPECT_FALSE(open()->meta(meta::kExitCode).has_value());  // not known yet
}

TEST_F(Record, WithoutSamplingOnlyFactsAreLeft) {
  auto none = options({"sh", "-c", "exit 0"});
  none.sample_hz = 0;
  run(none);
  auto trace = open();
  ASSERT_THAT(trace->tracks(), SizeIs(1));
  EXPECT_EQ(trace->processes()[0].command_line, "sh -c exit 0");
}

TEST_F(Record, OneDnnLinesGoIntoTheTraceAndNothingElseChanges) {
  const std::string printed = folder_ / "printed";
  const int before = dup(STDOUT_FILENO);
  const int file = ::open(printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  std::fflush(stdout);
  dup2(file, STDOUT_FILENO);
  auto verbose = target("verbose");
  verbose.onednn = true;
  const auto recorded = recordProgram(verbose);
  dup2(before, STDOUT_FILENO);
  close(before);
  close(file);
  ASSERT_TRUE(recorded.has_value());
  EXPECT_THAT(recorded->failures, IsEmpty());
  EXPECT_EQ(test::readAll(printed),
            std::string("Loss: 0.5\n\0\xff binary onednn_verbose\nhalf a line, as a prompt o", 61));
  auto rows = open()->query("SELECT count(*) FROM event WHERE kind = 'operator'");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(std::get<std::int64_t>(rows->rows[0][0]), 100);
  EXPECT_FALSE(samplesOf(*open(), "cpu", false).empty());
  EXPECT_THAT(open()->processes(), SizeIs(1));  // the lines are of the program that printed them
  EXPECT_THAT(open()->processes()[0].command_line, HasSubstr("verbose"));
  EXPECT_TRUE(open()->meta(meta::kExitCode).has_value());
  EXPECT_THAT(filesLeft(), testing::UnorderedElementsAre("printed", "x.pitwall"));
}

}  // namespace
}  // namespace pitwall::record_test
