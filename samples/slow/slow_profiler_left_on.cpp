// MXNet's profiler starts with every run.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  auto session = slow::openTimed({{"MXNET_PROFILER_AUTOSTART", slow::isFixed(argc, argv) ? "0" : "1"}});
  {
    slow::TimedModel model(*session);
    for (int step = 0; step < slow::kTimedSteps; ++step) {
      session->markIteration(1);
      model.pushStep();
      model.wait();
    }
  }
  slow::must(session->finish());
}
