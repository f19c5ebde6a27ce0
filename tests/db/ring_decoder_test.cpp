#include "db/ring_decoder.h"

#include <gtest/gtest.h>

#include "tests/support/memory_sink.h"

namespace pitwall::ring {
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

}  // namespace
}  // namespace pitwall::ring
