// Eight OpenMP threads for each CPU: they take turns, and each parallel region waits for the last of them.
#include <thread>

#include "samples/slow/slow.h"

int main(int argc, char** argv) {
  const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
  // Sleeping, not spinning, so that the sample ends soon; that is slow enough.
  const unsigned threads = slow::isFixed(argc, argv) ? 1 : 8 * cpus;
  slow::startWith(argv, {{"OMP_NUM_THREADS", std::to_string(threads)}, {"OMP_WAIT_POLICY", "PASSIVE"}});
  return slow::trainWith({});
}
