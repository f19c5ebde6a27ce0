// A sum over all ranks that needs no call that waits: each rank sums one part of the array on its way around a ring, and passes the
// finished parts around again. Open MPI's MPI_Iallreduce() does so too, with more copies: it takes twice as long between two ranks.
//
// Every element is summed on one rank, so that all get the same bits. 2 (n - 1) / n of the array is sent.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "db/result.h"

namespace pitwall::kvstore::mpi {

// Used by one thread, for one array at a time.
class RingSum {
 public:
  explicit RingSum(MPI_Comm communicator);

  // Whether it is worth it: a part has some tens of kilobytes.
  bool suits(std::int64_t elements) const;

  // Begins `data` := the sum over all ranks, which call it with as many elements. Errors: io with MPI's text.
  Status start(float* data, std::int64_t elements);
  // Continues; true when the sum is done. Errors: as start().
  Result<bool> test();

 private:
  Status beginStep();
  float* partAt(int part) const { return data_ + elements_ * part / size_; }
  std::int64_t countOf(int part) const { return elements_ * (part + 1) / size_ - elements_ * part / size_; }
  // The part with this number around the ring.
  int around(int part) const { return ((part % size_) + size_) % size_; }

  const MPI_Comm communicator_;
  int rank_ = 0, size_ = 1;
  float* data_ = nullptr;
  std::int64_t elements_ = 0;
  int step_ = 0;  // the first size - 1 sum, the others pass finished parts on
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::vector<float> received_;
};

}  // namespace pitwall::kvstore::mpi
