// Perfetto's traces: sequences with their own names and clocks, tracks, counters, arrows, what is not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"
#include "tests/db/import/wire.h"

namespace pitwall::test::perfetto_test {
namespace {

using testing::HasSubstr;

// A packet of the trace.
std::string packet(const std::string& members) { return bytes(1, members); }
std::string event(std::uint64_t type, std::uint64_t track, const std::string& more = {}) {
  return bytes(11, number(9, type) + number(11, track) + more);
}
std::string threadTrack(std::uint64_t uuid, std::uint64_t pid, std::uint64_t tid) {
  return packet(bytes(60, number(1, uuid) + bytes(4, number(1, pid) + number(2, tid))));
}
std::string at(std::uint64_t time) { return number(8, time) + number(10, 1); }

std::unique_ptr<Imported> tracks() { return importFiles({seedFile("perfetto/tracks.pftrace")}); }

// Events by type, also those in compressed packets.
void countTypes(const std::string& trace, std::map<std::uint64_t, std::int64_t>& types,
                std::int64_t& packets) {
  for (const Decoded& one : decoded(trace).messages(1)) {
    ++packets;
    for (const Decoded& event : one.messages(11)) ++types[event.one(9)];
    if (const std::string packed = one.text(50); !packed.empty()) {
      std::string plain(1 << 16, '\0');
      uLongf size = plain.size();
      ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(plain.data()), &size,
                           reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
                Z_OK);
      plain.resize(size);
      countTypes(plain, types, packets);
    }
  }
}

TEST(ImportPerfetto, CountsAgreeWithAnotherReader) {
  std::map<std::uint64_t, std::int64_t> types;
  std::int64_t packets = 0;
  countTypes(readAll(seedFile("perfetto/tracks.pftrace")), types, packets);
  const auto imported = tracks();
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "Perfetto trace");
  EXPECT_TRUE(imported->summary.complete());
  EXPECT_EQ(imported->records("packets"), packets);
  EXPECT_EQ(imported->events("scope"), types[1]);
  EXPECT_EQ(types[1], types[2] + 1) << "one range stays open";
  EXPECT_EQ(imported->events("instant") + Imported::counted(imported->summary.dropped, "packets whose names"),
            types[3]);
  EXPECT_EQ(imported->events("counter samples"), types[4]);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "packets: ftrace events"), 1);
  ASSERT_EQ(imported->summary.notes.size(), 1U);
  EXPECT_THAT(imported->summary.notes[0], HasSubstr("packets were lost while recording"));
}

// An incremental clock in microseconds, CLOCK_MONOTONIC and CLOCK_BOOTTIME: all on the last.
TEST(ImportPerfetto, ClocksOfThreeKindsAgree) {
  const auto imported = tracks();
  const auto span = [&](const char* name) {
    const Event found = imported->only(name);
    return std::pair{found.start_ns, found.dur_ns};
  };
  const std::int64_t zero = 2'010'000;  // "step", on CLOCK_BOOTTIME
  EXPECT_EQ(span("step"), (std::pair<std::int64_t, std::int64_t>{0, 25'000}));
  EXPECT_EQ(span("inner"), (std::pair<std::int64_t, std::int64_t>{5'000, 10'000}));
  EXPECT_EQ(span("load"), (std::pair<std::int64_t, std::int64_t>{2'150'000 + 100'000 - zero, 100'000}));
  EXPECT_EQ(span("req14"), (std::pair<std::int64_t, std::int64_t>{3'000'000 - zero, 500'000}));
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000001010000");
}

TEST(ImportPerfetto, NamesArgumentsThreadsAndProcesses) {
  const auto imported = tracks();
  EXPECT_EQ(imported->sink.text(imported->only("step").args),
            R"({"category":"app","batch":32,"shape":[2,3]})");
  EXPECT_EQ(imported->only("inner").depth, 1);
  const TrackInfo& main = imported->track(imported->named("step").front().first);
  EXPECT_EQ(main.name, "main");
  EXPECT_EQ(imported->sink.threads.at(main.thread.value - 1).tid, 101);
  EXPECT_EQ(imported->sink.processes.at(main.process.value - 1).name, "train");
  EXPECT_EQ(imported->sink.processes.at(main.process.value - 1).pid, 100);
  EXPECT_EQ(imported->track(imported->named("load").front().first).name, "loader") << "from the process tree";
}

TEST(ImportPerfetto, TracksOfOneNameStayApart) {
  const auto imported = tracks();
  EXPECT_EQ(imported->track(imported->named("req14").front().first).name, "request");
  EXPECT_EQ(imported->track(imported->named("req15").front().first).name, "request #2");
  EXPECT_EQ(imported->only("req15").depth, 0);
}

TEST(ImportPerfetto, CountersWithUnitsAndIncrements) {
  const auto imported = tracks();
  ASSERT_EQ(imported->samples("queue").size(), 1U);
  EXPECT_EQ(imported->samples("queue")[0].value, 3 * 1024);
  ASSERT_EQ(imported->samples("total").size(), 2U);
  EXPECT_EQ(imported->samples("total")[1].value, 12);
}

TEST(ImportPerfetto, AFlowIsADependency) {
  const auto imported = tracks();
  ASSERT_EQ(imported->sink.all_dependencies.size(), 1U);
  EXPECT_EQ(imported->sink.all_dependencies[0].source, imported->only("step").correlation);
  EXPECT_EQ(imported->sink.all_dependencies[0].target, imported->only("load").correlation);
}

TEST(ImportPerfetto, NumbersOfNamesHoldPerSequenceUntilTheyAreCleared) {
  const auto named = [](std::uint64_t sequence, std::uint64_t flags, const std::string& name) {
    return number(8, 10) + number(10, sequence) + number(13, flags) +
           (name.empty() ? "" : bytes(12, bytes(2, number(1, 1) + bytes(2, name)))) +
           event(3, 1, number(10, 1));
  };
  const auto imported =
      importText(threadTrack(1, 5, 6) + packet(named(1, 1, "first")) + packet(named(2, 1, "second")) +
                 packet(named(1, 2, "")) + packet(named(1, 1, "")) + packet(named(2, 2, "")));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->named("first").size(), 2U);
  EXPECT_EQ(imported->named("second").size(), 2U);
  EXPECT_EQ(imported->named("(unnamed)").size(), 1U) << "cleared";
}

TEST(ImportPerfetto, LegacyEvents) {
  const auto legacy = [](std::uint64_t time, char phase, const std::string& more) {
    return packet(at(time) + bytes(11, number(11, 1) + bytes(23, "old") +
                                           bytes(6, number(2, static_cast<std::uint64_t>(phase)) + more)));
  };
  const auto imported = importText(threadTrack(1, 5, 6) + legacy(1000, 'X', number(3, 7)) +
                                   legacy(9000, 'B', "") + legacy(9500, 'E', "") + legacy(9600, 'O', ""));
  const auto found = imported->named("old");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].second.dur_ns, 7000);
  EXPECT_EQ(found[1].second.dur_ns, 500);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "legacy events of other phases"), 1);
}

TEST(ImportPerfetto, WhatIsDamagedIsCounted) {
  const auto imported =
      importText(threadTrack(1, 5, 6) + packet(at(10) + event(2, 1)) + packet(at(20) + event(3, 77)) +
                 packet(at(30) + number(58, 64) + event(3, 1)) + packet(at(40) + bytes(50, "junk")));
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "ends of ranges without a begin"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events of a clock that no snapshot"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "compressed packets that are damaged"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "events of a track that is not described"), 1);
}

TEST(ImportPerfetto, ACutFileYieldsThePacketsBeforeTheCut) {
  const auto imported = importFiles({seedFile("perfetto/cut.pftrace")});
  ASSERT_EQ(imported->error, "");
  EXPECT_FALSE(imported->summary.complete());
  EXPECT_THAT(imported->summary.inputs[0].damage, HasSubstr("the last packet is cut"));
  EXPECT_EQ(imported->named("step").size(), 1U);
}

}  // namespace
}  // namespace pitwall::test::perfetto_test
