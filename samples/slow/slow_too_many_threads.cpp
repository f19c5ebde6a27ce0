// Several OpenMP threads for each CPU: they take turns, and each parallel region waits for the last of them.
#include <algorithm>

#include "samples/slow/training.h"

int main(int argc, char** argv) {
  const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
  const unsigned too_many = std::min(4 * cpus, std::max(32U, 2 * cpus));
  const unsigned threads = slow::isFixed(argc, argv) ? 1 : too_many;
  // Sleeping, not spinning, so that the sample ends soon; that is slow enough.
  slow::startWith(argv, {{"OMP_NUM_THREADS", std::to_string(threads)}, {"OMP_WAIT_POLICY", "PASSIVE"}});
  return slow::trainWith({});
}
