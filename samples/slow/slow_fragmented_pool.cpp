// Arrays of always different sizes, as with sentences of different lengths: a pool with exact sizes keeps
// them all and reuses none.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  // Rounded up to a power of two, as sizes up to 2^25 bytes are, all of them are one size.
  auto session = slow::openTimed({{"MXNET_CPU_MEM_POOL_TYPE", slow::isFixed(argc, argv) ? "Round" : "Naive"},
                                  {"MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "25"}});
  {
    slow::TimedModel model(*session);
    pitwall::Bytes size = (16 << 20) + 1;
    for (int step = 0; step < slow::kTimedSteps; ++step, size += 800 << 10) {
      session->markIteration(1);
      model.push("Layer", pitwall::Phase::forward, slow::Milliseconds(5), 0, [&session, size] {
        slow::must(session->storage().allocate(size, pitwall::MemoryTag::activations));
      });
      model.wait();
    }
  }
  slow::must(session->finish());
}
