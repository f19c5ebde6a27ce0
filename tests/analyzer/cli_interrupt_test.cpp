// Ctrl-C during each command, and two commands that write one file.
#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/analyzer/command.h"

namespace pitwall::cli_interrupt_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::readAll;
using testing::HasSubstr;

void pause(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

// A running `pitwall`, ended with its owner. Its standard output is a pipe that is not read.
class Running {
 public:
  Running(const std::string& arguments, const fs::path& folder, const std::string& more = "") {
    EXPECT_EQ(::pipe2(output_, O_CLOEXEC), 0);
    const std::string line = fmt::format("TMPDIR={}/tmp exec {} {} {} 2>{}", folder.string(), PITWALL_COMMAND,
                                         arguments, more, (folder / "err").string());
    child_ = ::fork();
    if (child_ != 0) return;
    ::dup2(output_[1], STDOUT_FILENO);
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  ~Running() {
    if (child_ > 0 && !ended_) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::close(output_[0]);
    ::close(output_[1]);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Waits until the command has taken over SIGINT. False: it has ended before.
  bool takesSignals() const {
    const std::string status = fmt::format("/proc/{}/status", child_);
    while (::kill(child_, 0) == 0) {
      const std::string text = readAll(status);
      const auto at = text.find("SigBlk:\t");
      if (text.find("State:\tZ") != std::string::npos) return false;
      if (at != std::string::npos &&
          (std::stoull(text.substr(at + 8, 16), nullptr, 16) >> (SIGINT - 1) & 1) != 0)
        return true;
      pause(1ms);
    }
    return false;
  }

  void interrupt() const { ::kill(child_, SIGINT); }

  // The exit code as a shell has it; -1 when it has not ended within the time.
  int code(std::chrono::seconds most = 20s) {
    for (const auto end = std::chrono::steady_clock::now() + most; std::chrono::steady_clock::now() < end;
         pause(2ms)) {
      int status = 0;
      if (::waitpid(child_, &status, WNOHANG) != child_) continue;
      ended_ = true;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return -1;
  }

 private:
  pid_t child_ = -1;
  int output_[2] = {-1, -1};
  bool ended_ = false;
};

class Interrupt : public test::Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    fs::create_directory(folder_ / "tmp");
    fs::create_directory(folder_ / "made");
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    out_ = at("made/out");
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  // Some hundred megabytes of events in a file of some hundred kilobytes: gzip's members are read one after the other.
  std::string bigFile() const {
    std::string block;
    for (int i = 0; i < 20'000; ++i)
      block +=
          fmt::format(",{{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":{},\"dur\":2,\"name\":\"a\"}}", 10 * i);
    std::ofstream(at("start")) << R"([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"})";
    std::ofstream(at("block")) << block;
    const int status = std::system(
        fmt::format(
            "cd {} && gzip -1 start block && (cat start.gz; i=0; while [ $i -lt 300 ]; do cat block.gz; "
            "i=$((i + 1)); done) >big.json.gz",
            folder_.string())
            .c_str());
    EXPECT_EQ(status, 0);
    return at("big.json.gz");
  }

  void expectNothingLeft(const std::string& command) const {
    EXPECT_TRUE(fs::is_empty(folder_ / "made"))
        << command << " left " << *fs::directory_iterator(folder_ / "made");
    EXPECT_TRUE(fs::is_empty(folder_ / "tmp"))
        << command << " left " << *fs::directory_iterator(folder_ / "tmp");
  }

  void expectEndsAtOnce(const std::string& arguments, std::chrono::milliseconds after) {
    Running command(arguments, folder_);
    ASSERT_TRUE(command.takesSignals()) << arguments << " ended: " << readAll(at("err"));
    pause(after);
    command.interrupt();
    EXPECT_EQ(command.code(), 130) << arguments << ": " << readAll(at("err"));
    EXPECT_THAT(readAll(at("err")), HasSubstr("pitwall: interrupted")) << arguments;
    expectNothingLeft(arguments);
  }

  std::string out_;
};

TEST_F(Interrupt, EndsEachCommandThatWaitsForAPipe) {
  const std::string pipe = at("pipe");
  for (const std::string& command :
       {"import " + pipe + " -o " + out_, "import - -o " + out_ + " <>" + pipe,
        "export " + pipe + " -o " + out_, "analyze " + pipe, "compare " + trace_ + " " + pipe,
        "query " + pipe + " 'SELECT 1'", "query " + trace_ + " - <>" + pipe}) {
    expectEndsAtOnce(command, 0ms);
  }
}

TEST_F(Interrupt, EndsAnEndlessQuery) {
  expectEndsAtOnce(
      "query " + trace_ +
          " 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'",
      50ms);
}

TEST_F(Interrupt, EndsAnOutputThatIsNotRead) {
  expectEndsAtOnce("query " + trace_ +
                       " 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c'",
                   50ms);
}

TEST_F(Interrupt, EndsTheReadingOfABigFile) {
  const std::string big = bigFile();
  for (const auto after : {0ms, 300ms}) {
    for (const std::string& command :
         {"import " + big + " -o " + out_, "export " + big + " --rows -o " + out_, "export " + big + " -o -",
          "analyze " + big, "compare " + big + " " + trace_}) {
      expectEndsAtOnce(command, after);
    }
  }
}

TEST_F(Interrupt, EndsACalibration) {
  ::setenv("XDG_CACHE_HOME", at("cache").c_str(), 1);
  expectEndsAtOnce("env --calibrate", 100ms);
  ::unsetenv("XDG_CACHE_HOME");
}

// The program has ended, and what a framework wrote in it is being merged.
TEST_F(Interrupt, EndsTheMergingOfARecordingWhosePartsStay) {
  const std::string big = bigFile(), parts = out_ + ".parts";
  const std::string script = at("program.sh");
  std::ofstream(script) << fmt::format(
      "mv {0} {1}/big.json && printf 'pitwall: about a profile\\nframework Test\\nprocess %d\\npath "
      "{1}/big.json\\n' $$ "
      ">{1}/big.about\n",
      big, parts);
  Running command(fmt::format("record -q --stacks off -o {} -- sh {}", out_, script), folder_);
  ASSERT_TRUE(command.takesSignals()) << readAll(at("err"));
  while (command.takesSignals() && !fs::exists(out_ + ".merging")) pause(1ms);
  command.interrupt();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(command.code(), 130) << readAll(at("err"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s) << "and not after the whole merge";
  EXPECT_THAT(readAll(at("err")), HasSubstr("pitwall import " + out_ + " " + parts + "/* -o all.pitwall"));
  EXPECT_TRUE(Trace::open(out_).has_value());
  EXPECT_TRUE(fs::exists(parts + "/big.json"));
  EXPECT_FALSE(fs::exists(out_ + ".merging"));
}

TEST_F(Interrupt, LeavesTheOldFile) {
  const std::string big = bigFile();
  fs::copy_file(trace_, out_);
  const std::string before = readAll(out_);
  Running command("import " + big + " -o " + out_, folder_);
  ASSERT_TRUE(command.takesSignals());
  while (!fs::exists(out_ + ".tmp")) pause(1ms);
  command.interrupt();
  EXPECT_EQ(command.code(), 130);
  EXPECT_EQ(readAll(out_), before);
  fs::remove(out_);
  expectNothingLeft("import over a trace");
}

TEST_F(Interrupt, ASecondImportToOneNameSaysSo) {
  const std::string big = bigFile(), small = at("small.json");
  std::ofstream(small) << R"([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}])";
  Running first("import " + big + " -o " + out_, folder_);
  ASSERT_TRUE(first.takesSignals());
  while (!fs::exists(out_ + ".tmp")) pause(1ms);
  const auto second = pitwall("import " + small + " -o " + out_);
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("another command is writing it"));
  EXPECT_TRUE(fs::exists(out_ + ".tmp"));
  first.interrupt();
  EXPECT_EQ(first.code(), 130);
  expectNothingLeft("import");
  EXPECT_EQ(pitwall("import " + small + " -o " + out_).code, 0);
}

TEST_F(Interrupt, ImportsToOneNameAtATimeGiveOneWholeTrace) {
  std::ofstream(at("small.json")) << R"([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}])";
  std::vector<std::unique_ptr<Running>> all;
  for (int i = 0; i < 6; ++i)
    all.push_back(std::make_unique<Running>("import " + at("small.json") + " -o " + out_, folder_,
                                            fmt::format("2>>{}", at("all"))));
  int made = 0;
  for (auto& one : all) {
    const int code = one->code();
    EXPECT_TRUE(code == 0 || code == 2) << code;
    made += code == 0 ? 1 : 0;
  }
  EXPECT_GE(made, 1);
  auto trace = Trace::open(out_);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_TRUE((*trace)->isComplete());
  EXPECT_EQ((*trace)->events(TrackId{1})->size(), 1U);
  trace->reset();
  fs::remove(out_);
  expectNothingLeft("imports");
}

}  // namespace
}  // namespace pitwall::cli_interrupt_test
