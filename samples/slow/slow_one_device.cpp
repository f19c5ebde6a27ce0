// Four devices train copies of a network with Adam, but one of them sums and updates for all: a store "local", to which gradients go only
// when all of them are there.
#include "runtime/kvstore.h"
#include "runtime/trainer.h"
#include "samples/slow/training.h"

using namespace slow;

namespace {

constexpr int kDevices = 4, kSteps = 12;
constexpr std::int64_t kUnits = 768, kImages = 32;  // images of all devices

nn::Sequential network() {
  nn::Sequential net("net");
  for (int layer = 1; layer <= 6; ++layer) {
    net.add(nn::Dense("dense" + std::to_string(layer), {.units = layer < 6 ? kUnits : 10}));
    if (layer < 6) net.add(nn::Activation("relu" + std::to_string(layer), ActivationType::relu));
  }
  must(net.initialise(Initialiser::xavier(), 1));
  return net;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_fixed = isFixed(argc, argv);
  auto session = must(Session::open());
  std::vector<nn::Sequential> nets;
  std::vector<std::vector<nn::ParameterPtr>> parameters;
  for (int device = 0; device < kDevices; ++device) {
    nets.push_back(network());
    parameters.push_back(nets.back().parameters());
  }
  const auto trainer = must(Trainer::make(*session, parameters,
                                          {.optimizer = {"adam", {{"learning_rate", 0.001F}}},
                                           .kvstore = is_fixed ? "device" : "local",
                                           .update_on_kvstore = true}));
  nn::SoftmaxCrossEntropy loss;
  const std::vector<float> images(static_cast<std::size_t>(kImages / kDevices * kUnits), 0.5F);
  const std::vector<float> classes(kImages / kDevices, 1.0F);
  for (int step = 0; step < kSteps; ++step) {
    session->markIteration(kImages);
    std::vector<NDArray> losses;
    for (int device = 0; device < kDevices; ++device) {
      const NDArray data =
          NDArray::fromValues(*session, {kImages / kDevices, kUnits}, images, MemoryTag::data, cpu(device));
      const NDArray labels =
          NDArray::fromValues(*session, {kImages / kDevices}, classes, MemoryTag::data, cpu(device));
      nn::Sequential& net = nets[static_cast<std::size_t>(device)];
      losses.push_back(must(autograd::record([&] { return loss.forward(must(net.forward(data)), labels); })));
      must(autograd::backward(losses.back()));
    }
    if (!is_fixed) must(session->engine().waitForAll());  // nothing is summed while others compute
    must(trainer->step(kImages));
    must(nn::mean(losses[0]));  // waits for the loss
  }
  must(session->finish());
}
