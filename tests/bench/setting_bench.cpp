// A switch of executors off and on: a chain of functions of each element, and a perceptron with small layers, inference and training.
//
// Usage: setting_bench NAME [PAIRS], such as setting_bench MXNET_USE_FUSION. Medians over that many interleaved pairs (default 15).
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/executor.h"
#include "tests/bench/must.h"
#include "tests/bench/paired_times.h"

namespace pitwall {
namespace {

Symbol node(const char* op, const std::string& name, const std::vector<Symbol>& inputs,
            Attributes attributes = {}) {
  return must(Symbol::make(op, name, inputs, std::move(attributes)));
}

// A gated unit and a hard swish, over the result of a product.
Symbol chain() {
  Symbol x = node("FullyConnected", "fc", {Symbol::variable("data")}, {{"num_hidden", "2048"}});
  const Symbol gated =
      node("elemwise_mul", "gated", {node("sigmoid", "gate", {x}), node("tanh", "value", {x})});
  x = node("_plus_scalar", "shifted", {gated}, {{"scalar", "3"}});
  x = node("clip", "clipped", {x}, {{"a_min", "0"}, {"a_max", "6"}});
  x = node("_div_scalar", "sixth", {node("elemwise_mul", "swish", {gated, x})}, {{"scalar", "6"}});
  return node("elemwise_add", "sum", {x, gated});
}

Symbol perceptron() {
  Symbol x = Symbol::variable("data");
  for (int i = 0; i < 8; ++i) {
    x = node("FullyConnected", fmt::format("fc{}", i), {x}, {{"num_hidden", "64"}});
    x = node("tanh", fmt::format("tanh{}", i), {x});
    x = node("_mul_scalar", fmt::format("scaled{}", i), {x}, {{"scalar", "1.7159"}});
  }
  return x;
}

struct Program {
  std::unique_ptr<Session> session;
  std::unique_ptr<Executor> executor = nullptr;
  NDArray head = {};
  bool training = false;

  void run() const {
    must(executor->forward(training ? Executor::Mode::training : Executor::Mode::inference));
    if (training) must(executor->backward({&head, 1}));
    must(session->engine().waitForAll());
  }
};

NDArray filled(Session& session, const Shape& shape) {
  return NDArray::fromValues(session, shape,
                             std::vector<float>(static_cast<std::size_t>(shape.elements()), 0.01F));
}

Program bound(const std::string& setting, const char* value, const Symbol& symbol, const Shape& data,
              bool training) {
  // Both programs compute on the calling thread: with workers of two sessions there would be more OpenMP threads than processors,
  // which then sleep between parallel regions.
  const std::vector<std::pair<std::string, std::string>> settings{{setting, value},
                                                                  {"MXNET_ENGINE_TYPE", "NaiveEngine"}};
  Program program{
      .session = must(Session::open({.trace_path = "", .backend = "onednn", .settings = settings})),
      .training = training};
  Session& session = *program.session;
  const InferredShapes shapes = must(symbol.inferShapes({{"data", data}}));
  std::map<std::string, NDArray> arrays;
  Executor::Options options;
  const auto names = symbol.arguments();
  for (std::size_t i = 0; i < names.size(); ++i) {
    arrays[names[i]] = filled(session, shapes.arguments[i]);
    if (training && names[i] != "data") options.gradients[names[i]] = {};
  }
  program.executor = must(Executor::bind(session, symbol, arrays, options));
  program.head = filled(session, shapes.outputs[0]);
  return program;
}

void row(const std::string& setting, const char* name, const Symbol& symbol, const Shape& data, bool training,
         int pairs) {
  const Program off = bound(setting, "0", symbol, data, training),
                on = bound(setting, "1", symbol, data, training);
  const PairedTimes times = pairedTimes([&] { off.run(); }, [&] { on.run(); }, pairs, 20000);
  fmt::print("{:<11} {:<9} {:>9} {:>9.0f} {:>9.0f} {:>6.2f}\n", name, training ? "training" : "inference",
             data.toString(), times.first_us, times.second_us, times.ratio);
}

}  // namespace
}  // namespace pitwall

int main(int argc, char** argv) {
  using namespace pitwall;
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 15;
  if (argc < 2 || pairs < 1) {
    fmt::print(stderr, "usage: setting_bench NAME [PAIRS]: a boolean setting, at least 1 pair\n");
    return 2;
  }
  fmt::print("{:<11} {:<9} {:>9} {:>9} {:>9} {:>6}\n", "", "", "data", "0, us", "1, us", "ratio");
  for (const bool training : {false, true}) {
    for (const std::int64_t batch : {64, 1024}) row(argv[1], "chain", chain(), {batch, 16}, training, pairs);
    for (const std::int64_t batch : {1, 64})
      row(argv[1], "perceptron", perceptron(), {batch, 64}, training, pairs);
  }
}
