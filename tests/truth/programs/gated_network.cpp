// A network of 24 layers with gates in an executor, on --number rows of 64 numbers a step; --train trains it. Its operators are short, most
// compute element by element. Nothing is planted in the code: what the engine and the executor may do comes from the environment.
#include "samples/fit.h"
#include "tests/truth/programs/program.h"

using namespace pitwall;
using samples::must;

static Symbol gatedNetwork(int layers) {
  Symbol x = Symbol::variable("data");
  for (int i = 0; i < layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const auto node = [&](const char* op, const char* part, const std::vector<Symbol>& inputs,
                          Attributes attributes = {}) {
      return must(Symbol::make(op, name + part, inputs, std::move(attributes)));
    };
    const Symbol value = node("FullyConnected", "_dense", {x}, {{"num_hidden", "64"}});
    const Symbol gate = node("sigmoid", "_gate", {value});
    x = node("tanh", "_tanh",
             {node("elemwise_add", "_sum", {node("elemwise_mul", "_gated", {gate, value}), x})});
  }
  return must(Symbol::make("SoftmaxOutput", "softmax", {x}, {}));
}

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  const std::int64_t rows = options.number > 0 ? options.number : 16;
  const auto session = must(Session::open());
  samples::Training network = samples::prepare(*session, gatedNetwork(24), {rows, 64}, 1);
  must(network.arrays["data"].copyFrom(std::vector<float>(static_cast<std::size_t>(rows * 64), 0.5F)));
  must(network.arrays["softmax_label"].copyFrom(std::vector<float>(static_cast<std::size_t>(rows), 1.0F)));
  Sgd optimizer(network.parameters, {.rate = 0.01F});
  const auto step = [&] {
    must(network.executor->forward(options.train ? Executor::Mode::training : Executor::Mode::inference));
    if (options.train) {
      must(network.executor->backward());
      must(optimizer.step(rows));
    }
    must(network.executor->outputs()[0].waitToRead());
  };
  step();
  truth::repeat(options, [&](long) {
    session->markIteration(rows);
    step();
  });
  network = {};
  must(session->finish());
}
