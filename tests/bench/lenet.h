// Common code of lenet_bench: the network on one batch of generated digits, and statistics of samples.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/pitwall.h"
#include "tests/bench/must.h"

namespace pitwall::bench {

inline constexpr int kBatch = 64, kWarmUp = 10;

inline double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The network of the sample, with one batch that is reused: no data loading.
class LeNet {
 public:
  explicit LeNet(Session& session) : session_(session), optimizer_({}, {}) {
    net_.add(nn::Conv2D("conv1", {.channels = 20, .kernel = {5, 5}}));
    net_.add(nn::Activation("relu1", ActivationType::relu)).add(nn::MaxPool2D("pool1"));
    net_.add(nn::Conv2D("conv2", {.channels = 50, .kernel = {5, 5}}));
    net_.add(nn::Activation("relu2", ActivationType::relu)).add(nn::MaxPool2D("pool2"));
    net_.add(nn::Dense("dense1", {.units = 512})).add(nn::Activation("relu3", ActivationType::relu));
    net_.add(nn::Dense("dense2", {.units = 10}));
    optimizer_ = Sgd(net_.parameters(), {.rate = 0.01F});
    const data::ImageDataset digits = data::syntheticDigits(kBatch, 1);
    auto batches = must(data::makeBatches(session, digits, {.batch_size = kBatch}));
    must(batches->next(batch_));
  }

  void step() {
    session_.markIteration(kBatch);
    const NDArray images = NDArray::fromValues(session_, batch_.image_shape, batch_.images);
    const NDArray labels = NDArray::fromValues(session_, {kBatch}, batch_.labels);
    const NDArray loss =
        must(autograd::record([&] { return loss_.forward(must(net_.forward(images)), labels); }));
    must(autograd::backward(loss));
    must(optimizer_.step(kBatch));
    must(nn::mean(loss));
    must(session_.engine().waitForAll());  // the update too belongs to this iteration
  }

 private:
  Session& session_;
  nn::Sequential net_;
  nn::SoftmaxCrossEntropy loss_;
  Sgd optimizer_;
  data::Batch batch_;
};

inline double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0
                        : values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}
inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

}  // namespace pitwall::bench
