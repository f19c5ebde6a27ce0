// Perfetto's packets: what is lost, the times of the oldest files, bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/db/import/imported.h"
#include "tests/db/import/wire.h"

namespace pitwall::test::perfetto_packets_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kCleared = 1, kNeeds = 2;  // bits of sequence_flags
const std::string kLostBefore = number(42, 1);
const std::string kFirst = number(87, 1);

std::string packet(const std::string& members) { return bytes(1, members); }
std::string on(std::uint64_t sequence, std::uint64_t flags) {
  return number(10, sequence) + number(13, flags);
}
// An instant whose name is this text.
std::string instant(const std::string& name, std::uint64_t track = 1) {
  return bytes(11, number(9, 3) + number(11, track) + bytes(23, name));
}
// One whose name is number 1 of its sequence.
std::string numbered() { return bytes(11, number(9, 3) + number(11, 1) + number(10, 1)); }
std::string naming(const std::string& name) { return bytes(12, bytes(2, number(1, 1) + bytes(2, name))); }
std::string threadTrack(std::uint64_t uuid) {
  return packet(bytes(60, number(1, uuid) + bytes(4, number(1, 5) + number(2, 6))));
}

// The service marks the first packet of each sequence as if packets before it were lost.
TEST(ImportPerfettoLoss, TheFirstPacketOfASequenceIsNoLoss) {
  for (const std::string& mark : {kFirst, std::string()}) {
    const auto imported = importText(
        threadTrack(1) + packet(number(8, 10) + on(1, kCleared) + kLostBefore + mark + instant("a")) +
        packet(number(8, 20) + on(2, kCleared) + mark + kLostBefore + instant("b")) +
        packet(number(8, 30) + on(1, kNeeds) + instant("c")));
    ASSERT_EQ(imported->error, "");
    EXPECT_THAT(imported->summary.notes, IsEmpty());
    EXPECT_EQ(imported->events("instant"), 3);
  }
}

TEST(ImportPerfettoLoss, AnyPacketBehindALossEndsTheState) {
  const auto imported =
      importText(threadTrack(1) + packet(number(8, 10) + on(1, kCleared) + naming("known") + numbered()) +
                 packet(number(8, 20) + on(1, 0) + kLostBefore + instant("whole")) +
                 packet(number(8, 30) + on(1, kNeeds) + numbered()));
  ASSERT_EQ(imported->error, "");
  ASSERT_EQ(imported->summary.notes.size(), 1U);
  EXPECT_THAT(imported->summary.notes[0], HasSubstr("before 1 of those"));
  EXPECT_EQ(imported->named("known").size(), 1U);
  EXPECT_EQ(imported->named("whole").size(), 1U);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "packets whose names were lost"), 1);
}

// CLOCK_MONOTONIC is 4 ms behind CLOCK_BOOTTIME, the trace's.
std::string snapshot() {
  const auto clock = [](std::uint64_t id, std::uint64_t time) {
    return bytes(1, number(1, id) + number(2, time));
  };
  return packet(number(10, 9) + bytes(6, clock(6, 5'000'000) + clock(3, 1'000'000)));
}
std::string descriptor(const std::string& reference) {
  return packet(on(1, kCleared) + bytes(44, number(1, 5) + number(2, 6) + reference));
}
std::string at(std::uint64_t field, std::int64_t us, const std::string& name) {
  return packet(on(1, kNeeds) +
                bytes(11, number(field, static_cast<std::uint64_t>(us)) + number(9, 3) + bytes(23, name)));
}
constexpr std::uint64_t kDelta = 1, kAbsolute = 16;

TEST(ImportPerfettoOldTimes, CountFromTheThreadsDescriptor) {
  const auto imported = importText(snapshot() + descriptor(number(6, 1000)) + at(kDelta, 5, "a") +
                                   at(kDelta, 7, "b") + at(kAbsolute, 1100, "c") + at(kDelta, 1, "d") +
                                   packet(number(8, 5'000'000) + number(10, 2) + instant("boot")));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->only("boot").start_ns, 0);
  EXPECT_EQ(imported->only("a").start_ns, 5'000);
  EXPECT_EQ(imported->only("b").start_ns, 12'000);
  EXPECT_EQ(imported->only("c").start_ns, 100'000) << "an absolute time moves no other";
  EXPECT_EQ(imported->only("d").start_ns, 13'000);
  EXPECT_EQ(
      imported->sink.threads.at(imported->track(imported->named("a").front().first).thread.value - 1).tid, 6);
}

TEST(ImportPerfettoOldTimes, WithoutADescriptorTheyAreUnknown) {
  const std::string cleared = packet(on(1, kCleared));
  const auto imported =
      importText(snapshot() + descriptor("") + at(kDelta, 5, "a") + descriptor(number(6, 1000)) +
                 at(kDelta, 5, "b") + cleared + at(kDelta, 5, "c") + descriptor(number(6, 1000)) +
                 packet(on(1, kCleared) + kLostBefore) + at(kDelta, 5, "d"));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.totalEvents(), 1);
  EXPECT_EQ(imported->named("b").size(), 1U);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events whose time counts from a thread descriptor"),
            3);
}

TEST(ImportPerfettoOldTimes, FarTimesAreDropped) {
  constexpr std::int64_t kFar = INT64_MAX;
  const auto imported = importText(descriptor(number(6, 1000)) + at(kDelta, kFar, "a") +
                                   descriptor(number(6, kFar)) + at(kDelta, 1, "b") + at(kAbsolute, -5, "c") +
                                   descriptor(number(6, 0)) + at(kDelta, -5, "d") + at(kDelta, 6, "e"));
  EXPECT_EQ(imported->summary.totalEvents(), 1);
  EXPECT_EQ(imported->named("e").size(), 1U);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events with a time out of range"), 4);
}

TEST(ImportPerfettoBounds, CompressedPacketsGrowTogether) {
  const std::string inside = packet(number(8, 10) + number(10, 1) + instant(std::string(60'000, 'x')));
  std::string packed(compressBound(inside.size()), '\0');
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(inside.data()), inside.size()),
            Z_OK);
  packed.resize(size);
  const std::string one = packet(bytes(50, packed));
  ImportOptions options;
  options.limits.decompressed_bytes = 200'000;
  EXPECT_EQ(importText(threadTrack(1) + one + one + one, options)->error, "");
  const auto imported = importText(threadTrack(1) + one + one + one + one, options);
  EXPECT_EQ(imported->code, ErrorCode::invalidInput);
  EXPECT_THAT(imported->error, HasSubstr("decompresses to more than 200000 bytes"));
}

TEST(ImportPerfettoBounds, NamesThatAreMissingAreCounted) {
  const auto imported = importText(threadTrack(1) + packet(number(8, 10) + on(1, kCleared) + numbered()));
  EXPECT_EQ(imported->named("(unnamed)").size(), 1U);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "names that the sequence does not hold"), 1);
}

TEST(ImportPerfettoBounds, ArgumentsOfManyEventsAreKept) {
  const std::string annotated = packet(
      number(8, 10) + number(10, 1) +
      bytes(11, number(9, 3) + number(11, 1) + bytes(23, "a") + bytes(4, bytes(10, "size") + number(4, 7))));
  std::string trace = threadTrack(1);
  for (int i = 0; i < 4100; ++i) trace += annotated;
  const auto imported = importText(trace);
  ASSERT_EQ(imported->sink.all_events.size(), 4100U);
  for (const auto& [track, event] : imported->sink.all_events)
    ASSERT_EQ(imported->sink.text(event.args), R"({"size":7})");
  EXPECT_THAT(imported->summary.dropped, IsEmpty());
}

// Increments of the counters beyond the bound add up in the counter that they share.
TEST(ImportPerfettoBounds, CountersBeyondTheBoundShareOne) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 16;
  const auto sample = [](std::uint64_t track) {
    return packet(number(8, 10) + number(10, 1) +
                  bytes(11, number(9, 4) + number(11, track) + number(30, 2)));
  };
  std::string trace;
  for (std::uint64_t track = 1; track <= kMost; ++track) trace += sample(track);
  const auto beyond = importText(trace + sample(kMost + 1) + sample(kMost + 2) + sample(kMost + 1));
  EXPECT_EQ(beyond->events("counter samples"), static_cast<std::int64_t>(kMost + 3));
  EXPECT_EQ(Imported::counted(beyond->summary.repaired, "uses of tracks beyond the first 65536"), 3);
  EXPECT_EQ(beyond->sink.tracks.size(), kMost + 1) << "one row for all of them";
}

}  // namespace
}  // namespace pitwall::test::perfetto_packets_test
