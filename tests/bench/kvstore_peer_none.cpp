#include <cstdio>
#include <cstdlib>

#include "tests/bench/kvstore_peer.h"

namespace pitwall::bench {

void waitForRanks() {
  std::fprintf(stderr, "kvstore_bench: built without MPI (libopenmpi-dev): nothing to compare with\n");
  std::exit(2);
}

void sumOverRanks(std::vector<float>&) { waitForRanks(); }

}  // namespace pitwall::bench
