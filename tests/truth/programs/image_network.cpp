// A residual network of 18 layers in an executor, on --number images of 112 x 112 a step; --train trains it. Nothing is planted in
// the code: what the executor may do comes from the environment.
#include "runtime/models.h"
#include "samples/fit.h"
#include "tests/truth/programs/program.h"

using namespace pitwall;
using samples::must;

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  const std::int64_t batch = options.number > 0 ? options.number : 4;
  const auto session = must(Session::open());
  const Shape data{batch, 3, 112, 112};
  samples::Training network = samples::prepare(*session, must(models::make("resnet-18")), data, 1);
  must(network.arrays["data"].copyFrom(std::vector<float>(static_cast<std::size_t>(data.elements()), 0.5F)));
  must(network.arrays["softmax_label"].copyFrom(std::vector<float>(static_cast<std::size_t>(batch), 1.0F)));
  Sgd optimizer(network.parameters, {.rate = 0.01F, .momentum = 0.9F});
  const auto step = [&] {
    must(network.executor->forward(options.train ? Executor::Mode::training : Executor::Mode::inference));
    if (options.train) {
      must(network.executor->backward());
      must(optimizer.step(batch));
    }
    must(network.executor->outputs()[0].waitToRead());
  };
  step();
  truth::repeat(options, [&](long) {
    session->markIteration(batch);
    step();
  });
  network = {};
  must(session->finish());
}
