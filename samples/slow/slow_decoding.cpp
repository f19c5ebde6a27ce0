// One thread loads batches ahead of the training, and takes far longer for one than a step does.
#include "samples/slow/slow_storage.h"

int main(int argc, char** argv) {
  const auto time = [](std::int64_t) { return slow::Milliseconds(60); };
  return slow::trainFromStorage(slow::isFixed(argc, argv) ? 16 : 1, 24, time, slow::Milliseconds(6));
}
