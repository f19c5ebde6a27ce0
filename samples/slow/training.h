// A small network of dense layers and its training, on the default backend.
#pragma once

#include "runtime/pitwall.h"
#include "samples/slow/slow.h"

namespace slow {

// Trains with these settings, and ends.
inline int trainWith(SettingList settings, std::int64_t units = 512) {
  constexpr int kSteps = 8, kBatch = 64;
  SessionOptions options;
  options.settings = std::move(settings);
  auto session = must(Session::open(options));

  nn::Sequential net("net");
  net.add(nn::Dense("dense1", {.units = units})).add(nn::Activation("relu1", ActivationType::relu));
  net.add(nn::Dense("dense2", {.units = units})).add(nn::Activation("relu2", ActivationType::relu));
  net.add(nn::Dense("dense3", {.units = 10}));
  must(net.initialise(Initialiser::xavier(), 1));
  nn::SoftmaxCrossEntropy loss_function;
  Sgd optimizer(net.parameters(), {.rate = 0.01F});
  const std::vector<float> images(static_cast<std::size_t>(kBatch * units), 0.5F), classes(kBatch, 1.0F);
  for (int step = 0; step < kSteps; ++step) {
    session->markIteration(kBatch);
    const NDArray inputs = NDArray::fromValues(*session, {kBatch, units}, images);
    const NDArray labels = NDArray::fromValues(*session, {kBatch}, classes);
    const NDArray loss =
        must(autograd::record([&] { return loss_function.forward(must(net.forward(inputs)), labels); }));
    must(autograd::backward(loss));
    must(optimizer.step(kBatch));
    must(nn::mean(loss));  // waits for the loss
  }
  must(session->finish());
  return 0;
}

}  // namespace slow
