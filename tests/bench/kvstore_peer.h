// MPI beside the store, for kvstore_bench. Without MPI the calls end the program with a message.
#pragma once

#include <chrono>
#include <vector>

namespace pitwall::bench {

// MPI_Allreduce() in place.
void sumOverRanks(std::vector<float>& array);
void waitForRanks();

// Microseconds of a call, from some calls that all ranks begin together.
double timeTogether(const auto& call, int calls) {
  waitForRanks();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / calls;
}

}  // namespace pitwall::bench
