#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "db/meta.h"
#include "db/reader.h"
#include "db/ring_format.h"
#include "db/store.h"
#include "runtime/profiler.h"
#include "tests/support/temp_folder.h"

extern char** environ;

namespace pitwall::recovery_test {
namespace {

class RecoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    trace_ = (folder_.path() / "run.pitwall").string();
    counts_path_ = (folder_.path() / "counts").string();
    const int file = ::open(counts_path_.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(ftruncate(file, 4096), 0);
    void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(memory, MAP_FAILED);
    counts_ = static_cast<std::atomic<std::uint64_t>*>(memory);
    ::close(file);
  }
  void TearDown() override { munmap(static_cast<void*>(counts_), 4096); }

  pid_t spawn(const char* mode, const std::vector<std::string>& more = {}) {
    for (int i = 0; i < 4; ++i) counts_[i] = 0;
    std::vector<std::string> words{PITWALL_VICTIM, mode, trace_, counts_path_};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ), 0);
    return child;
  }
  int wait(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  void awaitReady() {
    while (counts_[3] < 2) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  void kill(pid_t child) {
    ::kill(child, SIGKILL);
    const int status = wait(child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }
  std::unique_ptr<Trace> open() {
    auto trace = Trace::open(trace_);
    EXPECT_TRUE(trace.has_value()) << (trace.has_value() ? "" : trace.error().message);
    return std::move(trace).value();
  }
  bool hasRings() const { return std::filesystem::exists(ring::filePath(trace_)); }
  static std::vector<Event> eventsOf(Trace& trace, const std::string& track) {
    std::vector<Event> all;
    for (std::size_t i = 0; i < trace.tracks().size(); ++i) {
      if (trace.tracks()[i].name != track || trace.tracks()[i].kind != TrackKind::thread) continue;
      auto events = trace.events(TrackId{static_cast<std::uint32_t>(i + 1)});
      EXPECT_TRUE(events.has_value());
      all.insert(all.end(), events->begin(), events->end());
    }
    return all;
  }
  // Of the thread's tracks; "" = none.
  static std::string deviceOf(const Trace& trace, const std::string& thread) {
    for (const TrackInfo& track : trace.tracks()) {
      if (track.name != thread || !track.device) continue;
      const DeviceInfo& device = trace.devices()[track.device.value - 1];
      return device.kind + "/" + std::to_string(device.index);
    }
    return "";
  }
  // A trace whose rings hold 500 events that it does not have yet.
  void leaveRings() { EXPECT_EQ(wait(spawn("exec")), 0); }
  // Saves and restores the trace with its rings and other files beside it.
  void keep() const { copyTrace(folder_.path(), folder_.path() / "kept"); }
  void restore() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (isOfTrace(entry.path())) std::filesystem::remove(entry.path());
    }
    copyTrace(folder_.path() / "kept", folder_.path());
  }
  static bool isOfTrace(const std::filesystem::path& path) {
    return path.filename().string().rfind("run.pitwall", 0) == 0;
  }
  static void copyTrace(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::filesystem::create_directories(to);
    for (const auto& entry : std::filesystem::directory_iterator(from)) {
      if (isOfTrace(entry.path())) std::filesystem::copy_file(entry.path(), to / entry.path().filename());
    }
  }
  void writeAt(std::size_t offset, const std::string& bytes) {
    std::fstream file(ring::filePath(trace_), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
  }

  test::TempFolder folder_;
  std::string trace_, counts_path_;
  std::atomic<std::uint64_t>* counts_ = nullptr;  // spans of two threads, iterations, ready
};

TEST_F(RecoveryTest, KilledAnywhereEachRecordIsThereOnce) {
  for (int round = 0; round < 12; ++round) {
    const pid_t victim = spawn("flood");
    awaitReady();
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    kill(victim);
    EXPECT_TRUE(hasRings());
    const auto trace = open();
    EXPECT_FALSE(hasRings());
    EXPECT_FALSE(trace->isComplete());
    EXPECT_TRUE(trace->losses().empty()) << trace->losses()[0].reason;
    for (int t = 0; t < 2; ++t) {
      auto events = eventsOf(*trace, "thread " + std::to_string(t));
      const std::uint64_t counted = counts_[t];
      ASSERT_GE(events.size(), counted) << "round " << round;
      ASSERT_LE(events.size(), counted + 1);
      std::sort(events.begin(), events.end(),
                [](const Event& a, const Event& b) { return a.value < b.value; });
      TimeNs last = 0;
      for (std::size_t i = 0; i < events.size(); ++i) {
        ASSERT_EQ(events[i].value, static_cast<std::int64_t>(i)) << "round " << round;
        ASSERT_GE(events[i].start_ns, last);
        ASSERT_EQ(trace->string(events[i].name), "work");
        last = events[i].start_ns;
      }
    }
    EXPECT_EQ(deviceOf(*trace, "thread 0"), "");
    EXPECT_EQ(deviceOf(*trace, "thread 1"), "cpu/1");
    EXPECT_EQ(trace->devices().size(), 1U);
    const std::uint64_t iterations = counts_[2];
    ASSERT_GE(trace->iterations().size(), iterations);
    ASSERT_LE(trace->iterations().size(), iterations + 1);
    const auto dependencies = trace->dependencies();
    ASSERT_TRUE(dependencies.has_value());
    ASSERT_GE(dependencies->size(), iterations);
    ASSERT_LE(dependencies->size(), iterations + 1);
    EXPECT_EQ(open()->dependencies()->size(), dependencies->size()) << "a second opening adds nothing";
  }
}

TEST_F(RecoveryTest, WhatWasOpenIsShownAsOpenWithAllThatItsNamesStandFor) {
  const pid_t victim = spawn("open");
  awaitReady();
  kill(victim);
  const auto trace = open();
  std::map<std::string, Event> by_name;
  for (const Event& event : eventsOf(*trace, "main")) by_name[trace->string(event.name)] = event;
  ASSERT_EQ(by_name.size(), 4U);
  EXPECT_EQ(trace->string(by_name["outer"].args), R"({"domain":"loop","open":true})");
  EXPECT_EQ(trace->string(by_name["inner"].args), "{\"open\":true}");
  EXPECT_EQ(trace->string(by_name["over"].args), "");
  EXPECT_EQ(by_name["outer"].depth, 0);
  EXPECT_EQ(by_name["inner"].depth, 1);
  EXPECT_EQ(by_name["over"].depth, 2);
  EXPECT_GE(by_name["outer"].start_ns + by_name["outer"].dur_ns, by_name["Convolution"].start_ns);
  ASSERT_EQ(trace->operatorFacts().size(), 1U);
  EXPECT_EQ(trace->operatorFacts()[0].layer, "conv1");
  EXPECT_EQ(trace->operatorFacts()[0].flop, 7);
  const auto counter = std::find_if(trace->tracks().begin(), trace->tracks().end(), [](const TrackInfo& t) {
    return t.name == "queue" && t.unit == "items";
  });
  ASSERT_NE(counter, trace->tracks().end());
  const auto samples =
      trace->counters(TrackId{static_cast<std::uint32_t>(counter - trace->tracks().begin() + 1)});
  ASSERT_EQ(samples->size(), 1U);
  EXPECT_EQ(samples->at(0).value, 3);
  ASSERT_EQ(trace->processes().size(), 1U);
  EXPECT_EQ(trace->processes()[0].pid, victim);
}

// Operators that complete on another thread: each is there once, as ended or as open, on tracks of its device.
TEST_F(RecoveryTest, KilledAnywhereEachAsynchronousOperatorIsThereOnce) {
  std::size_t open_ones = 0;
  for (int round = 0; round < 12; ++round) {
    const pid_t victim = spawn("asynchronous");
    awaitReady();
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    kill(victim);
    const auto trace = open();
    EXPECT_TRUE(trace->losses().empty()) << trace->losses()[0].reason;
    std::map<CorrelationId, bool> ended;
    std::size_t tracks = 0;
    for (std::uint32_t i = 0; i < trace->tracks().size(); ++i) {
      const TrackInfo& track = trace->tracks()[i];
      if (track.name.rfind("cpu 1 asynchronous", 0) != 0) continue;
      ++tracks;
      EXPECT_FALSE(track.thread);
      EXPECT_EQ(deviceOf(*trace, track.name), "cpu/1");
      auto events = trace->events(TrackId{i + 1});
      ASSERT_TRUE(events.has_value());
      std::sort(events->begin(), events->end(),
                [](const Event& a, const Event& b) { return a.start_ns < b.start_ns; });
      TimeNs last = 0;
      for (const Event& event : *events) {
        ASSERT_GE(event.start_ns, last) << "round " << round;
        last = event.start_ns + event.dur_ns;
        const std::string args = trace->string(event.args);
        const bool is_open = args == R"({"device":"cpu/1","open":true})";
        open_ones += is_open ? 1U : 0U;
        if (!is_open) {
          ASSERT_EQ(args, R"({"device":"cpu/1"})");
        }
        ASSERT_EQ(event.kind, EventKind::operatorRun);
        ASSERT_EQ(trace->operatorFacts()[event.op.value - 1].name, "Receive");
        ASSERT_LE(event.pushed_ns, event.ready_ns);
        ASSERT_TRUE(ended.emplace(event.correlation, !is_open).second)
            << event.correlation << " is there twice";
      }
    }
    EXPECT_LE(tracks, 5U);
    const std::uint64_t counted = counts_[0];
    std::uint64_t there = 0;
    for (const auto& [correlation, is_ended] : ended) there += is_ended ? 1U : 0U;
    ASSERT_GE(there, counted) << "round " << round;
    ASSERT_LE(there, counted + 1);
    EXPECT_EQ(open()->tracks().size(), trace->tracks().size());
  }
  EXPECT_GT(open_ones, 0U);
}

TEST_F(RecoveryTest, ARingFileOfTheFormatBeforeIsRead) {
  for (const char version : {'\x02', '\x03'}) {  // they end before further pairs of clocks
    leaveRings();
    const auto bytes = static_cast<char>(offsetof(ring::FileHeader, more_pairs) & 0xffU);
    const auto more = static_cast<char>(offsetof(ring::FileHeader, more_pairs) >> 8U);
    writeAt(offsetof(ring::FileHeader, version), {version, 0, 0, 0, bytes, more, 0, 0});
    EXPECT_EQ(eventsOf(*open(), "main").size(), 500U);
  }
  leaveRings();
  writeAt(offsetof(ring::FileHeader, version), std::string("\x01\0\0\0", 4));
  const auto trace = open();
  ASSERT_EQ(trace->losses().size(), 1U);
  EXPECT_NE(trace->losses()[0].reason.find("has ring format 1"), std::string::npos);
}

TEST_F(RecoveryTest, SecretsOfTheCommandLineAreNeitherInTheTraceNorInTheRings) {
  EXPECT_EQ(wait(spawn("exec", {"--api-key", "correct-horse", "--epochs", "3"})), 0);
  for (const std::string& path : {trace_, ring::filePath(trace_)}) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_GT(bytes.size(), 4096U);
    EXPECT_EQ(bytes.find("correct-horse"), std::string::npos) << path;
  }
  const auto trace = open();
  ASSERT_EQ(trace->processes().size(), 1U);
  EXPECT_NE(trace->processes()[0].command_line.find("--api-key [redacted] --epochs 3"), std::string::npos);
  EXPECT_EQ(trace->processes()[0].name, "recorder_victim");
}

TEST_F(RecoveryTest, AProgramThatExecutesAnotherLosesNothing) {
  leaveRings();
  EXPECT_EQ(eventsOf(*open(), "main").size(), 500U);
  EXPECT_EQ(open()->meta(meta::kRecorderCompleted), "500");
}

TEST_F(RecoveryTest, AChildThatOutlivesItsParentDoesNotKeepTheTraceIncomplete) {
  const int status = wait(spawn("fork"));
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(eventsOf(*open(), "main").size(), 500U);
  ::kill(static_cast<pid_t>(counts_[0].load()), SIGKILL);
}

TEST_F(RecoveryTest, ARecordingThatRunsIsLeftAlone) {
  Profiler profiler({.flush_interval_ms = 60'000});
  auto sink = createTrace(trace_);
  ASSERT_TRUE(sink.has_value());
  ASSERT_TRUE(profiler.start(std::move(*sink), {.ring_path = ring::filePath(trace_)}).has_value());
  const Ticks now = Profiler::now();
  profiler.span(profiler.site("work", EventKind::scope), now, now);
  ASSERT_TRUE(profiler.flush().has_value());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(eventsOf(*open(), "main").size(), 1U);
  profiler.span(profiler.site("work", EventKind::scope), now, Profiler::now());
  EXPECT_TRUE(hasRings());
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_FALSE(hasRings());
  const auto trace = open();
  EXPECT_TRUE(trace->isComplete());
  EXPECT_EQ(eventsOf(*trace, "main").size(), 2U);
  EXPECT_EQ(trace->meta(meta::kRecorderRings), "file");
}

TEST_F(RecoveryTest, ARingFileThatCannotBeReadIsAMessage) {
  struct Case {
    std::function<void()> spoil;
    std::string says;
  };
  const std::string rings = ring::filePath(trace_);
  const Case cases[] = {
      {[&] { writeAt(offsetof(ring::FileHeader, version), std::string("\x63\0\0\0", 4)); },
       "ring format 99, this Pitwall reads " + std::to_string(ring::kVersion) +
           "; open the trace once with the Pitwall that recorded it"},
      {[&] { writeAt(0, "something else"); }, "is not a ring file"},
      {[&] { writeAt(offsetof(ring::FileHeader, start_unix_ns), "x"); }, "its header is inconsistent"},
      {[&] { std::filesystem::resize_file(rings, 100); }, "is truncated: 100 bytes"},
      {[&] { std::filesystem::resize_file(rings, ring::kPage + 100); }, "was truncated"},
  };
  for (const Case& c : cases) {
    leaveRings();
    c.spoil();
    const auto trace = open();
    ASSERT_EQ(trace->losses().size(), 1U) << c.says;
    EXPECT_NE(trace->losses()[0].reason.find(c.says), std::string::npos) << trace->losses()[0].reason;
    EXPECT_TRUE(eventsOf(*trace, "main").empty());
    std::filesystem::remove(rings);
  }
}

TEST_F(RecoveryTest, DamagedRecordsDoNotCrash) {
  leaveRings();
  keep();
  std::uint64_t state = 42;
  const auto size = std::filesystem::file_size(ring::filePath(trace_));
  for (int round = 0; round < 10; ++round) {
    restore();
    std::fstream file(ring::filePath(trace_), std::ios::in | std::ios::out | std::ios::binary);
    for (int i = 0; i < 400; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      file.seekp(static_cast<std::streamoff>(ring::kPage + (state >> 20U) % (size - ring::kPage)));
      file.put(static_cast<char>(state >> 60U));
    }
    file.close();
    EXPECT_TRUE(Trace::open(trace_).has_value());
  }
}

TEST_F(RecoveryTest, RingsOfAnotherRecordingStayOut) {
  leaveRings();
  std::filesystem::rename(ring::filePath(trace_), trace_ + ".kept");
  leaveRings();
  EXPECT_EQ(eventsOf(*open(), "main").size(), 500U);
  std::filesystem::rename(trace_ + ".kept", ring::filePath(trace_));
  EXPECT_EQ(eventsOf(*open(), "main").size(), 500U);
}

// The limit on file sizes simulates a full disk: the program continues, and the trace reports the loss.
TEST_F(RecoveryTest, AFullDiskIsALossAndNotTheProgramsEnd) {
  const int status = wait(spawn("disk"));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const auto trace = open();
  EXPECT_FALSE(trace->isComplete());
  ASSERT_FALSE(trace->losses().empty());
  EXPECT_GE(trace->losses().back().count, 1000);
  EXPECT_NE(trace->losses().back().reason, "");
  EXPECT_FALSE(hasRings()) << "reported once, kept in the trace";
}

}  // namespace
}  // namespace pitwall::recovery_test
