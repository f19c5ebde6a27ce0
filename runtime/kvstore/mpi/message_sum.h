// Sums over all ranks by messages of MPI: large arrays around a ring, small ones packed and summed by MPI.
#pragma once

#include <mpi.h>

#include <vector>

#include "runtime/kvstore/mpi/rank_sum.h"
#include "runtime/kvstore/mpi/ring_sum.h"

namespace pitwall::kvstore::mpi {

class MessageSum final : public RankSum {
 public:
  explicit MessageSum(MPI_Comm communicator) : communicator_(communicator), ring_(communicator) {}

  const char* name() const override { return "MPI sum"; }
  Status start(std::span<const SummedArray> arrays) override;
  Result<bool> test() override;

 private:
  Result<bool> isDone();
  void pack();
  void copySums();

  const MPI_Comm communicator_;
  RingSum ring_;
  bool on_ring_ = false;  // the sum is that of ring_
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<SummedArray> small_;  // whose sums are written when all is done
  std::vector<float> packed_;       // the small arrays, if there are several
};

}  // namespace pitwall::kvstore::mpi
