// Sums over all ranks that need no call that waits: each rank sums one part of an array on its way around a ring, and passes the
// finished parts around again. Open MPI's MPI_Iallreduce() does so too, with more copies: it takes twice as long between two ranks.
//
// Arrays are cut into blocks whose parts stay in a processor's cache from their arrival until they are summed. Several blocks are on
// their way at once. Every element is summed on one rank, so that all get the same bits. 2 (n - 1) / n of the arrays is sent.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kvstore/mpi/rank_sum.h"

namespace pitwall::kvstore::mpi {

// Used by one thread, for one sum at a time.
class RingSum {
 public:
  explicit RingSum(MPI_Comm communicator);

  // Whether it is worth it: a part has some tens of kilobytes.
  bool suits(std::int64_t elements) const;

  // Begins the sums over all ranks, which call it with as many arrays of as many elements. Errors: io with MPI's text.
  Status start(std::span<const SummedArray> arrays);
  // Continues; true when the sums are done. Errors: as start().
  Result<bool> test();

 private:
  static constexpr std::size_t kLanes = 8;  // blocks on their way at once

  // What one block after the other takes: block i of a sum goes through lane i % kLanes, on all ranks.
  struct Lane {
    std::size_t next = 0;  // its next block
    SummedArray block;     // empty: it has none
    int step = 0;          // the first size - 1 sum, the others pass finished parts on
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::vector<float> received;
  };

  int tagOf(const Lane& lane) const;
  Status beginBlock(Lane& lane);
  Status beginStep(Lane& lane);
  Status endStep(Lane& lane);
  SummedArray partOf(const Lane& lane, int part) const;
  int leavingAt(int step) const;  // the part that is sent then; the one before it comes
  // The part with this number around the ring.
  int around(int part) const { return ((part % size_) + size_) % size_; }

  const MPI_Comm communicator_;
  int rank_ = 0, size_ = 1;
  std::vector<SummedArray> blocks_;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace pitwall::kvstore::mpi
