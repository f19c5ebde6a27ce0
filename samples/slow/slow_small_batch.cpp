// Most of a step is spent on work that does not depend on the batch, here the update of the weights.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  auto session = slow::openTimed();
  // The fixed variant's batch is the largest that the program allows.
  const auto batch = session->tunable("batch_size", slow::isFixed(argc, argv) ? 32 : 2, {1, 32});
  {
    slow::TimedModel model(*session);
    const auto item_time = static_cast<double>(batch) * slow::Milliseconds(0.5);
    for (int step = 0; step < slow::kTimedSteps; ++step) {
      session->markIteration(batch);
      model.push("Layer", pitwall::Phase::forward, 0.5 * item_time);
      model.push("Layer", pitwall::Phase::backward, 0.5 * item_time);
      model.push("sgd_update", pitwall::Phase::update, slow::Milliseconds(10));
      model.wait();
    }
  }
  slow::must(session->finish());
}
