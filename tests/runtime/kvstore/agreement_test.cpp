// What ranks agree on, whatever the order in which their data gets ready. Ranks are objects here: MPI only combines their votes.
#include "runtime/kvstore/mpi/agreement.h"

#include <gtest/gtest.h>

namespace pitwall::test::agreement_test {
namespace {

using kvstore::Exchange;
using kvstore::mpi::Agreement;
using kvstore::mpi::Bucket;
using kvstore::mpi::ReadySet;
using kvstore::mpi::Vote;
using Numbers = std::vector<std::uint64_t>;

Exchange sumOf(const std::string& key, Bytes bytes, int priority = 0) {
  return {.key = key, .kind = Exchange::Kind::sum, .bytes = bytes, .priority = priority};
}

// The vote of all, as MPI_BAND combines them.
Vote combined(std::initializer_list<const Agreement*> ranks) {
  Vote result;
  bool first = true;
  for (const Agreement* rank : ranks) {
    Vote vote = rank->voteFor(rank->readySet());
    for (int word = 0; word < Vote::kWords; ++word) {
      std::uint64_t& to = result.words()[word];
      to = first ? vote.words()[word] : to & vote.words()[word];
    }
    first = false;
  }
  return result;
}

std::vector<Numbers> numbersOf(const std::deque<Bucket>& buckets) {
  std::vector<Numbers> all;
  for (const Bucket& bucket : buckets) all.push_back(bucket.numbers);
  return all;
}

struct Pair {
  explicit Pair(Bytes bucket_bytes = 1000) : a(bucket_bytes), b(bucket_bytes) {}
  void announce(const Exchange& exchange) {
    a.announce(exchange);
    b.announce(exchange);
  }
  // The buckets, which are the same on both.
  std::vector<Numbers> vote() {
    const Vote result = combined({&a, &b});
    std::deque<Bucket> of_a, of_b;
    EXPECT_TRUE(a.take(result, of_a).has_value());
    EXPECT_TRUE(b.take(result, of_b).has_value());
    EXPECT_EQ(numbersOf(of_a), numbersOf(of_b));
    return numbersOf(of_a);
  }
  Agreement a, b;
};

TEST(Agreement, OnlyWhatIsReadyEverywhereIsExchanged) {
  Pair ranks;
  for (const char* key : {"a", "b", "c"}) ranks.announce(sumOf(key, 4));
  ranks.a.ready(2);
  ranks.b.ready(0);
  EXPECT_TRUE(ranks.vote().empty());
  ranks.a.ready(0);
  EXPECT_EQ(ranks.vote(), (std::vector<Numbers>{{0}}));
  ranks.b.ready(1);
  ranks.b.ready(2);
  EXPECT_EQ(ranks.vote(), (std::vector<Numbers>{{2}}));
  ranks.a.ready(1);
  EXPECT_EQ(ranks.vote(), (std::vector<Numbers>{{1}}));
  EXPECT_EQ(ranks.a.readySet().base, 3U);
}

TEST(Agreement, HigherPrioritiesComeFirstThenTheOrderOfCalls) {
  Pair ranks(0);
  const int priorities[] = {-2, 0, -1, 0};
  for (const int priority : priorities) ranks.announce(sumOf("k", 4, priority));
  for (const std::uint64_t number : {3, 2, 1, 0}) ranks.a.ready(number), ranks.b.ready(number);
  EXPECT_EQ(ranks.vote(), (std::vector<Numbers>{{1}, {3}, {2}, {0}}));
}

TEST(Agreement, SmallSumsShareABucket) {
  Pair ranks(100);
  const Bytes sizes[] = {40, 60, 8, 400, 92, 8, 4};
  for (const Bytes size : sizes) ranks.announce(sumOf("k", size));
  ranks.announce({.key = "w", .kind = Exchange::Kind::fromFirst, .bytes = 4});
  ranks.announce(sumOf("k", 4));
  for (std::uint64_t number = 0; number < 9; ++number) ranks.a.ready(number), ranks.b.ready(number);
  EXPECT_EQ(ranks.vote(), (std::vector<Numbers>{{0, 1}, {2}, {3}, {4, 5}, {6}, {7}, {8}}));
}

TEST(Agreement, MoreExchangesThanAVoteHoldsWaitForTheNext) {
  Pair ranks;
  const std::uint64_t count = ReadySet::kMost + 10;
  for (std::uint64_t number = 0; number < count; ++number) {
    ranks.announce(sumOf("k", 4));
    if (number != 0) ranks.a.ready(number), ranks.b.ready(number);
  }
  std::size_t agreed = 0;
  for (const Numbers& bucket : ranks.vote()) agreed += bucket.size();
  EXPECT_EQ(agreed, ReadySet::kMost - 1) << "number 0 holds the others up";
  ranks.a.ready(0);
  ranks.b.ready(0);
  EXPECT_EQ(ranks.vote(), (std::vector<Numbers>{{0}}));
  EXPECT_EQ(ranks.vote().at(0).size(), 10U);
}

TEST(Agreement, RanksThatExchangeDifferentKeysAreAnError) {
  Agreement a(1000), b(1000);
  a.announce(sumOf("conv1", 4));
  b.announce(sumOf("conv2", 4));
  a.ready(0);
  b.ready(0);
  std::deque<Bucket> buckets;
  const Vote first = combined({&a, &b});
  EXPECT_TRUE(a.take(first, buckets).has_value());
  EXPECT_TRUE(b.take(first, buckets).has_value());
  const Status second = a.take(combined({&a, &b}), buckets);
  ASSERT_FALSE(second.has_value());
  EXPECT_NE(second.error().message.find("different keys or shapes, at the latest before key 'conv1'"),
            std::string::npos)
      << second.error().message;
}

}  // namespace
}  // namespace pitwall::test::agreement_test
