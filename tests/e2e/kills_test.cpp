// Programs killed at random moments: what they printed as done is in their traces. Directly, with PITWALL_TRACE set; through
// `pitwall record`; and with the recorder killed too.
//
// PITWALL_KILLS=200 kills as often (12 otherwise); PITWALL_TEST_SEED chooses the moments.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "db/reader.h"
#include "tests/support/read_all.h"
#include "tests/support/temp_folder.h"

namespace pitwall::kills_test {
namespace {

namespace fs = std::filesystem;

enum class Way { direct, recorded, recorder_too };
constexpr std::array kWays = {Way::direct, Way::recorded, Way::recorder_too};
const char* nameOf(Way way) {
  return way == Way::direct ? "directly" : way == Way::recorded ? "recorded" : "with its recorder";
}

// By the name of the zone, the last number.
using Numbers = std::map<std::string, std::int64_t>;

// The complete lines of what the program has printed.
Numbers printedIn(const std::string& path) {
  std::string text = test::readAll(path);
  text.resize(text.rfind('\n') + 1);
  std::istringstream lines(text);
  Numbers last;
  std::string name;
  for (std::int64_t number = 0; lines >> name >> number;) last[name] = number;
  return last;
}

// One program with the way of its end.
class Victim {
 public:
  Victim(Way way, int delay_ms, bool recorder_first)
      : way_(way), delay_(delay_ms), recorder_first_(recorder_first), output_(folder_ / "printed") {}

  std::string title() const { return fmt::format("killed {} after {} ms", nameOf(way_), delay_.count()); }

  void start() {
    std::ofstream(output_).close();
    started_ = std::chrono::steady_clock::now();
    child_ = ::fork();
    if (child_ != 0) return;
    ::dup2(::open(output_.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
    ::dup2(::open((folder_ / "errors").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    if (::chdir(folder_.path().c_str()) != 0) ::_exit(126);
    if (way_ == Way::direct) {
      ::setenv("PITWALL_TRACE", "run.pitwall", 1);
      ::execl(PITWALL_KILLS_PROGRAM, PITWALL_KILLS_PROGRAM, nullptr);
    } else {
      ::execl(PITWALL_COMMAND, PITWALL_COMMAND, "record", "-q", "-o", "run.pitwall", "--",
              PITWALL_KILLS_PROGRAM, nullptr);
    }
    ::_exit(127);
  }

  void killInTime() {
    std::this_thread::sleep_until(started_ + delay_);
    const pid_t program = programId();
    if (way_ == Way::recorder_too && recorder_first_) ::kill(child_, SIGKILL);
    if (program > 0) ::kill(program, SIGKILL);
    if (way_ == Way::recorder_too && !recorder_first_) ::kill(child_, SIGKILL);
  }

  // What was printed; each that is not in a trace is a failure.
  Numbers check() {
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    const std::string errors = test::readAll(folder_ / "errors");
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << title() << ": " << status << " " << errors;
    Numbers printed = printedIn(output_);
    printed.erase("pid");
    const auto recorded = recordedNumbers();
    for (const auto& [name, last] : printed) {
      const auto found = recorded.find(name);
      const std::set<std::int64_t> none;
      const auto& numbers = found == recorded.end() ? none : found->second;
      std::int64_t missing = 0, first_missing = 0;
      for (std::int64_t i = 1; i <= last; ++i) {
        if (numbers.count(i) == 0 && missing++ == 0) first_missing = i;
      }
      EXPECT_EQ(missing, 0) << title() << ": of " << last << " zones '" << name
                            << "' that were printed, the first missing is " << first_missing << "; "
                            << errors;
    }
    return printed;
  }

 private:
  // The program itself prints it first; before that it is the recorder's only child.
  pid_t programId() const {
    if (way_ == Way::direct) return child_;
    for (int i = 0; i < 2000; ++i) {
      const Numbers printed = printedIn(output_);
      if (const auto found = printed.find("pid"); found != printed.end())
        return static_cast<pid_t>(found->second);
      std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", child_));
      if (pid_t one = 0; children >> one) return one;
      if (way_ == Way::recorder_too) return 0;  // not started yet, and never will be
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return 0;
  }

  std::map<std::string, std::set<std::int64_t>> recordedNumbers() const {
    std::map<std::string, std::set<std::int64_t>> numbers;
    std::vector<fs::path> traces;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".pitwall") traces.push_back(entry.path());
    }
    for (const fs::path& path : traces) {
      const auto trace = Trace::open(path);
      if (!trace
               .has_value()) {  // a trace that was only begun holds nothing; what is missing is reported below
        std::printf("%s: %s\n", title().c_str(), trace.error().message.c_str());
        continue;
      }
      for (std::size_t i = 1; i <= (*trace)->tracks().size(); ++i) {
        if ((*trace)->tracks()[i - 1].kind == TrackKind::counter) continue;
        const auto events = (*trace)->events(TrackId{static_cast<std::uint32_t>(i)});
        EXPECT_TRUE(events.has_value()) << title();
        for (const Event& event : events.value()) numbers[(*trace)->string(event.name)].insert(event.value);
      }
    }
    return numbers;
  }

  const Way way_;
  const std::chrono::milliseconds delay_;
  const bool recorder_first_;
  const test::TempFolder folder_;
  const std::string output_;
  std::chrono::steady_clock::time_point started_;
  pid_t child_ = -1;
};

int numberFrom(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// One program of each way at a time.
TEST(Kills, LoseNothingThatWasPrintedAsDone) {
  const int kills = numberFrom("PITWALL_KILLS", 12), seed = numberFrom("PITWALL_TEST_SEED", 1);
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_int_distribution<int> delay(0, 2000);
  std::int64_t printed = 0;
  int before_anything = 0;
  for (int done = 0; done < kills; done += static_cast<int>(kWays.size())) {
    std::vector<std::unique_ptr<Victim>> victims;
    for (const Way way : kWays)
      victims.push_back(std::make_unique<Victim>(way, delay(random), random() % 2 == 0));
    for (auto& victim : victims) victim->start();
    std::vector<std::thread> killers;
    for (auto& victim : victims) killers.emplace_back([&victim] { victim->killInTime(); });
    for (auto& killer : killers) killer.join();
    for (auto& victim : victims) {
      const Numbers numbers = victim->check();
      before_anything += numbers.empty() ? 1 : 0;
      for (const auto& [name, last] : numbers) printed += last;
    }
  }
  std::printf("%d kills, %d before anything was printed, %lld zones printed, seed %d\n", kills,
              before_anything, static_cast<long long>(printed), seed);
  EXPECT_GT(printed, 0);
}

}  // namespace
}  // namespace pitwall::kills_test
