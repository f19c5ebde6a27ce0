// One thread loads batches ahead of the training, and takes three times as long for one as a step does.
#include "samples/slow/slow_storage.h"

int main(int argc, char** argv) {
  return slow::trainFromStorage(slow::isFixed(argc, argv) ? 12 : 1, 24,
                                [](std::int64_t) { return slow::Milliseconds(30); });
}
