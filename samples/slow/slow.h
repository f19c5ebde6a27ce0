// What the programs slow_* share. Each trains a small network and has one bottleneck, planted on purpose;
// with
// --fixed it has not. `pitwall analyze` names the bottleneck first; a test runs both variants of each.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/pitwall.h"

namespace slow {

using namespace pitwall;

template <class T>
T must(Result<T> result) {
  if (!result.has_value()) std::fprintf(stderr, "%s\n", result.error().message.c_str()), std::exit(2);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

inline bool isFixed(int argc, char** argv) { return argc > 1 && std::strcmp(argv[1], "--fixed") == 0; }

// Libraries read their variables when they are loaded: sets them and starts the program again.
inline void startWith(char** argv, const std::vector<std::pair<const char*, std::string>>& variables) {
  bool all = true;
  for (const auto& [name, value] : variables) {
    const char* now = std::getenv(name);
    all = all && now != nullptr && value == now;
    setenv(name, value.c_str(), 1);
  }
  if (!all) execv("/proc/self/exe", argv);
}

struct Training {
  int steps = 30, batch = 64, units = 512;
  std::function<void()> own_code = [] {};  // what the program does besides, in each step
};

inline void train(Session& session, const Training& training, data::BatchIterator* batches = nullptr) {
  nn::Sequential net("net");
  net.add(nn::Dense("dense1", {.units = training.units})).add(nn::Activation("relu1", ActivationType::relu));
  net.add(nn::Dense("dense2", {.units = training.units})).add(nn::Activation("relu2", ActivationType::relu));
  net.add(nn::Dense("dense3", {.units = 10}));
  must(net.initialise(Initialiser::xavier(), 1));
  nn::SoftmaxCrossEntropy loss_function;
  Sgd optimizer(net.parameters(), {.rate = 0.01F});
  const Shape shape{training.batch, training.units};
  data::Batch batch;
  batch.images.assign(static_cast<std::size_t>(training.batch) * static_cast<std::size_t>(training.units),
                      0.5F);
  batch.labels.assign(static_cast<std::size_t>(training.batch), 1.0F);
  for (int step = 0; step < training.steps; ++step) {
    session.markIteration(training.batch);
    if (batches != nullptr) must(batches->next(batch));
    training.own_code();
    const NDArray inputs = NDArray::fromValues(session, shape, batch.images);
    const NDArray labels = NDArray::fromValues(session, {training.batch}, batch.labels);
    const NDArray loss =
        must(autograd::record([&] { return loss_function.forward(must(net.forward(inputs)), labels); }));
    must(autograd::backward(loss));
    must(optimizer.step(training.batch));
    must(nn::mean(loss));  // waits until the loss is there
  }
}

// Trains with these settings, and ends.
inline int trainWith(std::vector<std::pair<std::string, std::string>> settings,
                     const Training& training = {}) {
  SessionOptions options;
  options.settings = std::move(settings);
  auto session = must(Session::open(options));
  train(*session, training);
  must(session->finish());
  return 0;
}

}  // namespace slow
