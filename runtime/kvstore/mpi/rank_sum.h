// Sums over all ranks of a job that need no call that waits.
#pragma once

#include <span>

#include "db/result.h"

namespace pitwall::kvstore::mpi {

struct SummedArray {
  std::span<float> data;
  float* output = nullptr;  // where the sum is written too; nullptr: nowhere
};

// Used by one thread, for one sum at a time.
class RankSum {
 public:
  virtual ~RankSum() = default;

  // In the trace.
  virtual const char* name() const = 0;
  // Begins the sums over all ranks, which call it with as many arrays of as many elements; they stay until the sums are done. Errors: io
  // with MPI's text.
  virtual Status start(std::span<const SummedArray> arrays) = 0;
  // Continues; true when the sums are done, on this rank. All ranks get the same bits. Errors: as start().
  virtual Result<bool> test() = 0;
  // Called by all ranks before they destroy it, unless a sum has failed.
  virtual void close() {}
};

}  // namespace pitwall::kvstore::mpi
