// Trains dense layers on our runtime, --number images a step. Nothing is planted in the code: the engine, the
// memory pools, the backend and its threads come from the environment.
#include "tests/truth/programs/runtime_program.h"

using namespace truth;

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  const std::int64_t units = 512, batch = options.number > 0 ? options.number : 128;
  auto session = must(Session::open());
  nn::Sequential net("net");
  net.add(nn::Dense("dense1", {.units = units})).add(nn::Activation("relu1", ActivationType::relu));
  net.add(nn::Dense("dense2", {.units = units})).add(nn::Activation("relu2", ActivationType::relu));
  net.add(nn::Dense("dense3", {.units = 10}));
  must(net.initialise(Initialiser::xavier(), 1));
  nn::SoftmaxCrossEntropy loss_function;
  Sgd optimizer(net.parameters(), {.rate = 0.01F});
  const std::vector<float> images(static_cast<std::size_t>(batch * units), 0.5F);
  const std::vector<float> classes(static_cast<std::size_t>(batch), 1.0F);
  truth::repeat(options, [&](long) {
    session->markIteration(batch);
    const NDArray inputs = NDArray::fromValues(*session, {batch, units}, images);
    const NDArray labels = NDArray::fromValues(*session, {batch}, classes);
    const NDArray loss =
        must(autograd::record([&] { return loss_function.forward(must(net.forward(inputs)), labels); }));
    must(autograd::backward(loss));
    must(optimizer.step(batch));
    must(nn::mean(loss));
  });
  must(session->finish());
}
