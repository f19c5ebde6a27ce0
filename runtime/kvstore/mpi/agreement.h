// Which exchanges are made next, and in which order: the same on all ranks, whatever the order in which their data gets ready.
//
// Ranks vote: each sends the set of exchanges that are ready there, and MPI returns their intersection to all. What is agreed on is
// packed into buckets by priority. The next vote begins when these have been exchanged, so that what has become ready in the meantime
// is ordered by priority too.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "runtime/kvstore/communicator.h"
#include "runtime/kvstore/mpi/peers.h"

namespace pitwall::kvstore::mpi {

// Exchanges that are made by one call of MPI.
struct Bucket {
  Exchange::Kind kind = Exchange::Kind::sum;
  std::vector<std::uint64_t> numbers;
  Bytes bytes = 0;
};

// What MPI combines by MPI_BAND. The hash of all agreed exchanges comes with its complement: they stay complements only where all ranks
// have the same one.
struct Vote {
  std::uint64_t history = 0, not_history = ~std::uint64_t{0};
  std::array<std::uint64_t, ReadySet::kMost / 64> bits{};
  static constexpr int kWords = 2 + static_cast<int>(ReadySet::kMost / 64);
  std::uint64_t* words() { return &history; }
};
static_assert(sizeof(Vote) == Vote::kWords * sizeof(std::uint64_t));

// Not synchronised.
class Agreement {
 public:
  explicit Agreement(Bytes bucket_bytes) : bucket_bytes_(bucket_bytes) {}

  std::uint64_t announce(Exchange exchange);
  void ready(std::uint64_t number) { ready_.insert(number); }
  // Of an exchange that is not finished.
  const Exchange& exchange(std::uint64_t number) const { return announced_[number - first_].exchange; }

  // Those that are ready here and not agreed on.
  ReadySet readySet() const;
  Vote voteFor(const ReadySet& ready) const;

  // Appends the buckets of what all ranks are ready for. Errors: invalidInput if the ranks have agreed on different exchanges before.
  Status take(const Vote& result, std::deque<Bucket>& buckets);

  void finished(std::uint64_t number);

 private:
  void pack(const std::vector<std::uint64_t>& numbers, std::deque<Bucket>& buckets) const;

  const Bytes bucket_bytes_;
  std::uint64_t next_ = 0;  // number of the next exchange
  std::uint64_t base_ = 0;  // the first that is not agreed on
  struct Announced {
    Exchange exchange;
    bool is_finished = false;
  };
  std::uint64_t first_ = 0;          // number of the first one announced
  std::deque<Announced> announced_;  // from `first_` on
  std::set<std::uint64_t> ready_;    // not agreed on
  std::set<std::uint64_t> agreed_;   // above `base_`
  std::uint64_t history_ = 0;
  std::string last_key_ = "none";  // agreed on
};

}  // namespace pitwall::kvstore::mpi
