// The program waits for every operator's result before it continues, although it needs only the last one.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  const bool is_fixed = slow::isFixed(argc, argv);
  auto session = slow::openTimed();
  {
    slow::TimedModel model(*session);
    for (int step = 0; step < slow::kTimedSteps; ++step) {
      session->markIteration(1);
      for (int layer = 0; layer < 6; ++layer) {
        model.push("Layer", pitwall::Phase::forward, slow::Milliseconds(2));
        if (!is_fixed) model.wait();
        slow::sleepFor(slow::Milliseconds(1));  // the program's own work between two operators
      }
      model.wait();
    }
  }
  slow::must(session->finish());
}
