// The program's own code (here a sleep) runs between steps, while no operator does.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  const bool is_fixed = slow::isFixed(argc, argv);
  auto session = slow::openTimed();
  {
    slow::TimedModel model(*session);
    for (int step = 0; step < slow::kTimedSteps; ++step) {
      session->markIteration(1);
      if (!is_fixed) slow::sleepFor(slow::Milliseconds(15));
      model.pushStep();
      if (is_fixed) slow::sleepFor(slow::Milliseconds(5));  // hidden behind the operators
      model.wait();
    }
  }
  slow::must(session->finish());
}
