// Each step keeps some memory permanently.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  const bool is_fixed = slow::isFixed(argc, argv);
  auto session = slow::openTimed();
  {
    slow::TimedModel model(*session);
    std::vector<pitwall::Block> losses;
    for (int step = 0; step < slow::kTimedSteps; ++step) {
      session->markIteration(1);
      model.pushStep();
      losses.push_back(slow::must(session->storage().allocate(1 << 20, pitwall::MemoryTag::other)));
      if (is_fixed) losses.clear();
      model.wait();
    }
  }
  slow::must(session->finish());
}
