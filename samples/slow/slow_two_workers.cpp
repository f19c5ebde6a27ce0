// Many engine workers run operators at once, and each may use its own CPU: more than there are.
#include "samples/slow/timed_model.h"

int main(int argc, char** argv) {
  const int workers =
      slow::isFixed(argc, argv) ? 1 : 2 + 2 * static_cast<int>(std::thread::hardware_concurrency());
  slow::startWith(argv, {{"OMP_NUM_THREADS", "1"}});
  pitwall::SessionOptions options;
  options.settings = {{"MXNET_CPU_WORKER_NTHREADS", std::to_string(workers)}};
  auto session = slow::must(pitwall::Session::open(options));
  {
    slow::TimedModel model(*session, workers);
    for (int step = 0; step < slow::kTimedSteps; ++step) {
      session->markIteration(1);
      for (int branch = 0; branch < workers; ++branch)
        model.push("Layer", pitwall::Phase::forward, slow::Milliseconds(10),
                   static_cast<std::size_t>(branch));
      model.wait();
    }
  }
  slow::must(session->finish());
}
