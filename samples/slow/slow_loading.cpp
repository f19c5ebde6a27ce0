// Batches come from slow storage, one at a time, on the thread that trains.
#include "samples/slow/slow_storage.h"

int main(int argc, char** argv) {
  const auto time = [](std::int64_t) { return slow::Milliseconds(40); };
  return slow::trainFromStorage(slow::isFixed(argc, argv) ? 16 : 0, 24, time, slow::Milliseconds(20));
}
