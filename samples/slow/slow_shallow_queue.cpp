// Batches are loaded fast enough on average, but every other one is late: only one is prefetched.
#include "samples/slow/slow_storage.h"

int main(int argc, char** argv) {
  const auto time = [](std::int64_t index) { return slow::Milliseconds(index % 2 == 1 ? 86 : 0); };
  return slow::trainFromStorage(1, slow::isFixed(argc, argv) ? 16 : 1, time, slow::Milliseconds(60));
}
