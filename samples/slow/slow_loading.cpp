// Batches come from slow storage, one at a time, on the thread that trains.
#include "samples/slow/slow_storage.h"

int main(int argc, char** argv) {
  return slow::trainFromStorage(slow::isFixed(argc, argv) ? 8 : 0, 16,
                                [](std::int64_t) { return slow::Milliseconds(15); });
}
