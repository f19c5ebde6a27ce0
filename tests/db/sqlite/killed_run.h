// A child that records without end, and its kill.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/db/sqlite/child_process.h"
#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test {

inline constexpr int kPortion = 500;

// Writes numbered events endlessly, on two tracks, and reports how many a flush has confirmed.
inline int recordForever(const std::string& path, int report, bool flushes) {
  auto sink = createTrace(path);
  CHILD_CHECK(sink.has_value(), sink.error().message);
  TraceSink& s = **sink;
  const ThreadId thread = s.thread({s.process({1, "child", "", 0}), 1, "main"});
  const TrackId tracks[] = {s.track({TrackKind::thread, {}, thread, {}, "a", ""}), s.track({})};
  std::vector<Event> events(kPortion);
  for (std::int64_t written = 0;;) {
    for (Event& event : events) {
      event = {.start_ns = written, .dur_ns = 1, .value = written};
      event.name = s.string("name " + std::to_string(written % 50));
      ++written;
    }
    for (const TrackId track : tracks) s.events(track, events);
    s.iteration({.index = written / kPortion, .time_ns = written, .items = kPortion});
    if (flushes && (written / kPortion) % 20 == 0) {
      const Status flushed = s.flush();
      CHILD_CHECK(flushed.has_value(), flushed.error().message);
      CHILD_CHECK(::write(report, &written, sizeof written) == sizeof written, "pipe");
    } else if (!flushes) {
      CHILD_CHECK(::write(report, &written, sizeof written) == sizeof written, "pipe");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

struct KilledRun {
  std::int64_t reported = 0;  // the last number that the child reported
  int reports = 0;
};

// Kills the child once `enough` returns true.
inline KilledRun recordAndKill(const std::string& path, bool flushes, const std::function<bool()>& enough) {
  int ends[2] = {};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = forkChild([&] {
    ::close(ends[0]);
    return recordForever(path, ends[1], flushes);
  });
  ::close(ends[1]);
  KilledRun run;
  // The time starts with the recording; the pipe buffers later numbers.
  if (::read(ends[0], &run.reported, sizeof run.reported) == sizeof run.reported) run.reports = 1;
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const auto drain = [&] {
    for (std::int64_t number = 0; ::read(ends[0], &number, sizeof number) == sizeof number; ++run.reports)
      run.reported = number;
  };
  while (!enough()) {
    drain();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  ::kill(child, SIGKILL);
  EXPECT_EQ(waitForChild(child), 128 + SIGKILL);
  drain();
  ::close(ends[0]);
  return run;
}

// True once `life` has passed since the first call.
inline std::function<bool()> after(std::chrono::milliseconds life) {
  return [life, end = std::optional<std::chrono::steady_clock::time_point>()]() mutable {
    const auto now = std::chrono::steady_clock::now();
    if (!end) end = now + life;
    return now >= *end;
  };
}

}  // namespace pitwall::test
