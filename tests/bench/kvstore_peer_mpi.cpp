#include <mpi.h>

#include "tests/bench/kvstore_peer.h"

namespace pitwall::bench {

void sumOverRanks(std::vector<float>& array) {
  MPI_Allreduce(MPI_IN_PLACE, array.data(), static_cast<int>(array.size()), MPI_FLOAT, MPI_SUM,
                MPI_COMM_WORLD);
}

void waitForRanks() { MPI_Barrier(MPI_COMM_WORLD); }

}  // namespace pitwall::bench
