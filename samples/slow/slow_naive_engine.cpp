// The engine runs every operator inside the call that pushes it: nothing overlaps.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  auto session = slow::openTimed(
      {{"MXNET_ENGINE_TYPE", slow::isFixed(argc, argv) ? "ThreadedEnginePerDevice" : "NaiveEngine"}});
  {
    slow::TimedModel model(*session);
    for (int step = 0; step < slow::kTimedSteps; ++step) {
      session->markIteration(1);
      model.pushStep();
      slow::sleepFor(slow::Milliseconds(6));  // the program's own work, which could overlap
      model.wait();
    }
  }
  slow::must(session->finish());
}
