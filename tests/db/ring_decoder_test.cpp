#include "db/ring_decoder.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <vector>

#include "tests/support/memory_sink.h"

namespace pitwall::ring::ring_decoder_test {
namespace {

class NoNames : public NameSource {
 public:
  SiteFacts site(std::uint32_t) const override { return {}; }
  OperatorFacts facts(std::uint32_t) const override { return {}; }
};

// A killed recording's rings are decoded one after the other; skipping records of one that the trace already
// has must not skip records of the others.
TEST(RingDecoderTest, WhatIsThereAlreadyIsLeftOutOfOneRingAlone) {
  test::MemorySink sink;
  const NoNames names;
  RingDecoder decoder(sink, names, {});
  Record records[2] = {};
  for (Record& record : records) record.kind = RecordKind::dependency;
  records[0].a = 1;
  records[1].a = 2;
  const ClockMap clock{ClockPair{}};
  decoder.decode(records, 2, 0, 1, clock);
  const std::size_t before = decoder.dependencyCount();
  decoder.decode(records, 2, 1, 2, clock);
  decoder.skipDependenciesFrom(before);
  EXPECT_EQ(decoder.sendDependencies(), 1U);
  ASSERT_EQ(sink.all_dependencies.size(), 1U);
  EXPECT_EQ(sink.all_dependencies[0].source, 1U);
}

// Sites 0 and 1 are the counters "memory" and "memory free", both in bytes.
class TwoCounters : public NameSource {
 public:
  SiteFacts site(std::uint32_t id) const override {
    SiteFacts facts;
    facts.name = id == 0 ? "memory|bytes" : "memory free|bytes";
    return facts;
  }
  OperatorFacts facts(std::uint32_t) const override { return {}; }
};

// Of each counter one sample at 10, 20 and 30 ns.
std::array<Record, 6> samplesOfTwoCounters() {
  std::array<Record, 6> records{};
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].kind = RecordKind::counter;
    records[i].a = 10 + i / 2 * 10;
    records[i].c = std::bit_cast<std::uint64_t>(static_cast<double>(i));
    records[i].id = static_cast<std::uint32_t>(i % 2);
  }
  return records;
}

std::vector<TimeNs> timesOf(const test::MemorySink& sink, TrackId track) {
  std::vector<TimeNs> times;
  for (const auto& [of, sample] : sink.all_counters) {
    if (of == track) times.push_back(sample.time_ns);
  }
  return times;
}

TEST(RingDecoderTest, SamplesUpToTheLastOneInTheTraceAreLeftOutOfThatCounterAlone) {
  test::MemorySink sink;
  TrackInfo existing;
  existing.kind = TrackKind::counter;
  existing.name = "memory";
  const TrackId there = sink.track(existing);
  const TwoCounters names;
  RingDecoder decoder(sink, names, {});
  const std::array<Record, 6> records = samplesOfTwoCounters();
  decoder.decode(records.data(), 8, 0, records.size(), ClockMap(ClockPair{}, true));
  decoder.skipSamplesUpTo("memory", 20, there);
  decoder.sendCounters();
  EXPECT_EQ(timesOf(sink, there), (std::vector<TimeNs>{30})) << "the sample at 20 ns is in the trace";
  ASSERT_EQ(sink.tracks.size(), 2U) << "the counter's own track is continued";
  EXPECT_EQ(sink.tracks[1].name, "memory free");
  EXPECT_EQ(sink.tracks[1].unit, "bytes");
  EXPECT_EQ(timesOf(sink, TrackId{2}), (std::vector<TimeNs>{10, 20, 30}));
}

// A counter whose track has no sample yet, as one that was announced and then killed.
TEST(RingDecoderTest, ATrackWithoutSamplesTakesAll) {
  test::MemorySink sink;
  const TrackId there = sink.track({});
  const TwoCounters names;
  RingDecoder decoder(sink, names, {});
  const std::array<Record, 6> records = samplesOfTwoCounters();
  decoder.decode(records.data(), 8, 0, records.size(), ClockMap(ClockPair{}, true));
  decoder.skipSamplesUpTo("memory", -1, there);
  decoder.skipSamplesUpTo("no such counter", 30, there);
  decoder.sendCounters();
  EXPECT_EQ(timesOf(sink, there), (std::vector<TimeNs>{10, 20, 30}));
  EXPECT_EQ(sink.all_counters.size(), 6U);
}

// Numbers of a damaged file: one row each, and not one for all below it.
TEST(RingDecoderTest, NumbersMayBeOfAnySize) {
  class Numbered : public NameSource {
   public:
    SiteFacts site(std::uint32_t id) const override {
      return {"site " + std::to_string(id), EventKind::scope, ""};
    }
    OperatorFacts facts(std::uint32_t id) const override {
      OperatorFacts facts;
      facts.name = "operator " + std::to_string(id);
      return facts;
    }
  };
  constexpr std::array<std::uint32_t, 3> kNumbers = {5, (1U << 26U) + 1, UINT32_MAX};
  std::array<Record, 6> records{};
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].kind = i < 3 ? RecordKind::span : RecordKind::operatorRun;
    records[i].a = 10;
    records[i].id = kNumbers[i % 3];
  }
  test::MemorySink sink;
  const Numbered names;
  RingDecoder decoder(sink, names, {});
  decoder.decode(records.data(), 8, 0, records.size(), ClockMap(ClockPair{}, true));
  decoder.sendEvents(sink.track({}));
  ASSERT_EQ(sink.all_events.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(sink.text(sink.all_events[i].second.name),
              (i < 3 ? "site " : "operator ") + std::to_string(kNumbers[i % 3]));
  }
}

TEST(ClockMapTest, TicksOfADamagedFileAreLateAndNoOverflow) {
  ClockMap map(ClockPair{});
  map.add({1, 1'000'000'000});
  map.add({2, INT64_MAX});  // more than 73 years later
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map.toNs(2), 2'000'000'000);
  EXPECT_GT(map.toNs(UINT64_MAX), map.toNs(1000));
  EXPECT_LE(map.toNs(UINT64_MAX), INT64_MAX / 2);
  EXPECT_GT(ClockMap(ClockPair{}, true).toNs(UINT64_MAX), 0);
}

}  // namespace
}  // namespace pitwall::ring::ring_decoder_test
