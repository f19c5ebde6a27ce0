// Every array is allocated from the system and given back at once, so that each first use of a page faults.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  auto session =
      slow::openTimed({{"MXNET_CPU_MEM_POOL_TYPE", slow::isFixed(argc, argv) ? "Naive" : "Unpooled"}});
  {
    slow::TimedModel model(*session);
    const auto fillTemporary = [&session] {
      const auto block = slow::must(session->storage().allocate(1 << 20, pitwall::MemoryTag::activations));
      std::memset(block.data(), 0, static_cast<std::size_t>(block.size()));
    };
    for (int step = 0; step < slow::kTimedSteps; ++step) {
      session->markIteration(1);
      model.push("Layer", pitwall::Phase::forward, slow::Milliseconds(5), 0, fillTemporary);
      model.push("Layer", pitwall::Phase::backward, slow::Milliseconds(5), 0, fillTemporary);
      model.wait();
    }
  }
  slow::must(session->finish());
}
