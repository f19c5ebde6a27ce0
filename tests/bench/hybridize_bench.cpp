// The same networks called layer by layer and as a graph (nn::Sequential::hybridize): a small multi-layer perceptron, where the
// calls cost most, and a residual network on 32 x 32 images, where the kernels do.
//
// Usage: hybridize_bench [PAIRS]. Medians over that many interleaved pairs (default 15), each of some tens of iterations; a row is
// one network, one batch, inference or training.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/autograd.h"
#include "runtime/nn.h"
#include "runtime/optimizer.h"
#include "tests/bench/must.h"
#include "tests/bench/paired_times.h"

namespace pitwall {
namespace {

// data + two convolutions of it.
class Residual final : public nn::Layer {
 public:
  Residual(const std::string& name, std::int64_t channels)
      : Layer(name), branch_(name + "_branch"), sum_(name) {
    for (const char* part : {"a", "b"}) {
      branch_.add(nn::BatchNorm(name + "_norm_" + part))
          .add(nn::Activation(name + "_relu_" + part, ActivationType::relu));
      branch_.add(nn::Conv2D(name + "_conv_" + part, {.channels = channels, .pad = {1, 1}, .bias = false}));
    }
  }
  std::vector<nn::ParameterPtr> parameters() const override { return branch_.parameters(); }
  Result<NDArray> forward(const NDArray& data) override {
    Result<NDArray> branch = branch_.forward(data);
    return branch.has_value() ? op::add(data, *branch, sum_) : branch;
  }
  Result<Symbol> compose(const Symbol& data) const override {
    const Result<Symbol> branch = branch_.compose(data);
    return branch.has_value() ? Symbol::make("elemwise_add", name(), {data, *branch}) : branch;
  }

 private:
  nn::Sequential branch_;
  CallSite sum_;
};

nn::Sequential perceptron() {
  nn::Sequential net;
  for (int i = 0; i < 6; ++i) {
    net.add(nn::Dense(fmt::format("dense{}", i), {.units = 64}));
    net.add(nn::Activation(fmt::format("relu{}", i), ActivationType::relu));
  }
  net.add(nn::Dense("scores", {.units = 10}));
  return net;
}

nn::Sequential residual() {
  nn::Sequential net;
  net.add(nn::Conv2D("stem", {.channels = 32, .pad = {1, 1}, .bias = false}));
  for (int i = 0; i < 8; ++i) net.add(Residual(fmt::format("unit{}", i), 32));
  net.add(nn::BatchNorm("norm")).add(nn::Activation("relu", ActivationType::relu));
  net.add(nn::AvgPool2D("pool", {.kernel = {32, 32}})).add(nn::Flatten("flatten"));
  net.add(nn::Dense("scores", {.units = 10}));
  return net;
}

class Runner {
 public:
  Runner(Session& session, nn::Sequential net, const Shape& data, bool training)
      : net_(std::move(net)),
        data_(NDArray::fromValues(session, data,
                                  std::vector<float>(static_cast<std::size_t>(data.elements()), 0.5F))),
        labels_(NDArray::fromValues(session, {data[0]},
                                    std::vector<float>(static_cast<std::size_t>(data[0]), 1))),
        optimizer_(net_.parameters(), {.rate = 0.01F, .momentum = 0.9F}),
        training_(training) {}

  nn::Sequential& net() { return net_; }

  void iterate() {
    if (!training_) {
      must(must(net_.forward(data_)).waitToRead());
      return;
    }
    const NDArray loss = must(autograd::record(
        [&]() -> Result<NDArray> { return loss_.forward(must(net_.forward(data_)), labels_); }));
    must(autograd::backward(loss));
    must(optimizer_.step(data_.shape()[0]));
    must(loss.waitToRead());
  }

 private:
  nn::Sequential net_;
  NDArray data_, labels_;
  nn::SoftmaxCrossEntropy loss_;
  Sgd optimizer_;
  bool training_;
};

void row(const char* name, nn::Sequential (*make)(), const Shape& data, bool training, int pairs) {
  const auto session = must(Session::open({.trace_path = "", .backend = "onednn", .settings = {}}));
  Runner layers(*session, make(), data, training), graph(*session, make(), data, training);
  must(graph.net().hybridize({.static_alloc = true, .static_shape = true}));
  const PairedTimes times = pairedTimes([&] { layers.iterate(); }, [&] { graph.iterate(); }, pairs, 30000);
  fmt::print("{:<12} {:<9} {:>5} {:>12.0f} {:>12.0f} {:>8.2f}\n", name, training ? "training" : "inference",
             data[0], times.first_us, times.second_us, times.ratio);
}

}  // namespace
}  // namespace pitwall

int main(int argc, char** argv) {
  using namespace pitwall;
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 15;
  if (pairs < 1) {
    fmt::print(stderr, "usage: hybridize_bench [PAIRS], at least 1\n");
    return 2;
  }
  fmt::print("{:<12} {:<9} {:>5} {:>12} {:>12} {:>8}\n", "network", "", "batch", "layers us", "graph us",
             "ratio");
  for (const bool training : {false, true}) {
    for (const std::int64_t batch : {1, 32}) row("perceptron", perceptron, {batch, 64}, training, pairs);
    for (const std::int64_t batch : {1, 8}) row("residual", residual, {batch, 3, 32, 32}, training, pairs);
  }
}
