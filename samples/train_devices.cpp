// Trains LeNet on Fashion-MNIST on several devices of the CPU or several GPUs, and with mpirun or samples/launch in several processes too.
//
//   train_devices --devices 4 --kv-store device
//   train_devices --gpus 0,1 --kv-store nccl
//   samples/launch -n 4 -- train_devices --kv-store dist_sync
//   samples/launch -n 4 -s 2 -- train_devices --kv-store dist_async
//
// PITWALL_TRACE=run.pitwall in the environment records the run for `pitwall analyze run.pitwall`.
#include <CLI/CLI.hpp>
#include <climits>

#include "runtime/kvstore.h"
#include "runtime/trainer.h"
#include "samples/devices.h"
#include "samples/fit.h"

using namespace pitwall;
using samples::must;

namespace {

struct Given {
  std::string store = "device", optimizer = "sgd", compression = "none", folder = data::kFashionMnistFolder;
  int devices = 2, batch_size = 64, epochs = 1, steps = INT_MAX, update_on_store = -1;
  float rate = 0.05F;
  std::vector<int> gpus;  // empty: devices of the CPU
  bool synthetic = false;
  std::uint64_t seed = 1;
};

Given parse(int argc, char** argv) {
  Given given;
  CLI::App app("Trains LeNet on several devices.");
  app.add_option("--devices", given.devices, "devices of the CPU in each process [2]")
      ->check(CLI::Range(1, kMaxDevices));
  samples::addGpus(app, given.gpus);
  app.add_option("--kv-store", given.store, "kind of the key-value store [device]");
  app.add_option("--update-on-kvstore", given.update_on_store,
                 "1: the store updates weights; 0: each device [as MXNet]")
      ->check(CLI::Range(0, 1));
  app.add_option("--optimizer", given.optimizer, "sgd, nag or adam [sgd]");
  app.add_option("--gc-type", given.compression, "compression of gradients: none or 2bit [none]");
  app.add_option("--batch", given.batch_size, "images per step, of all devices and processes [64]");
  app.add_option("--epochs", given.epochs, "passes over the data [1]")->check(CLI::Range(1, 1000));
  app.add_option("--steps", given.steps, "end after so many steps")->check(CLI::Range(1, INT_MAX));
  app.add_option("--lr", given.rate, "learning rate [0.05]")->check(CLI::PositiveNumber);
  app.add_option("--data", given.folder, "folder of the data set's idx files [" + given.folder + "]");
  app.add_option("--seed", given.seed, "of the first weights and the order of images [1]");
  app.add_flag("--synthetic", given.synthetic, "train on generated digits instead");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit(app.exit(error) == 0 ? 0 : 2);
  }
  return given;
}

nn::Sequential lenet(const Given& given) {
  nn::Sequential net("lenet");
  net.add(nn::Conv2D("conv1", {.channels = 20, .kernel = {5, 5}}));
  net.add(nn::Activation("relu1", ActivationType::relu)).add(nn::MaxPool2D("pool1"));
  net.add(nn::Conv2D("conv2", {.channels = 50, .kernel = {5, 5}}));
  net.add(nn::Activation("relu2", ActivationType::relu)).add(nn::MaxPool2D("pool2"));
  net.add(nn::Dense("dense1", {.units = 512})).add(nn::Activation("relu3", ActivationType::relu));
  net.add(nn::Dense("dense2", {.units = 10}));
  must(net.initialise(Initialiser::xavier(), given.seed));  // the same weights on all devices
  return net;
}

// Each process trains on its part of every batch.
data::Batch partOf(const data::Batch& batch, int rank, int ranks) {
  const std::int64_t begin = batch.items * rank / ranks, end = batch.items * (rank + 1) / ranks;
  const std::int64_t item = batch.image_shape.elements() / batch.items;
  data::Batch part;
  part.items = end - begin;
  part.image_shape = {part.items, batch.image_shape[1], batch.image_shape[2], batch.image_shape[3]};
  part.images.assign(batch.images.begin() + begin * item, batch.images.begin() + end * item);
  part.labels.assign(batch.labels.begin() + begin, batch.labels.begin() + end);
  return part;
}

void train(Session& session, const Given& given) {
  const data::ImageDataset images = given.synthetic
                                        ? data::syntheticDigits(6000, 1)
                                        : must(data::fashionMnist(data::Split::train, given.folder));
  auto batches = must(data::makeBatches(
      session, images, {.batch_size = given.batch_size, .drop_last = true, .seed = given.seed}));
  const std::vector<Device> devices = samples::devicesOf(given.gpus, given.devices);
  std::vector<nn::Sequential> nets;
  std::vector<std::vector<nn::ParameterPtr>> parameters;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    nets.push_back(lenet(given));
    parameters.push_back(nets.back().parameters());
  }
  TrainerOptions options{.optimizer = {given.optimizer, {{"learning_rate", given.rate}}},
                         .kvstore = given.store};
  options.compression.type = given.compression;
  if (given.update_on_store >= 0) options.update_on_kvstore = given.update_on_store == 1;
  const auto trainer = must(Trainer::make(session, parameters, options));
  const int rank = trainer->store() != nullptr ? trainer->store()->rank() : 0;
  const int ranks = trainer->store() != nullptr ? trainer->store()->workers() : 1;

  nn::SoftmaxCrossEntropy loss;
  const auto began = std::chrono::steady_clock::now();
  std::int64_t trained = 0;
  double last_loss = 0;
  int left = given.steps;
  for (int epoch = 0; epoch < given.epochs && left > 0; ++epoch, batches->reset()) {
    for (data::Batch batch; left > 0 && must(batches->next(batch)); --left) {
      session.markIteration(batch.items / ranks);
      const auto parts = must(splitBatch(session, partOf(batch, rank, ranks), devices));
      std::vector<NDArray> losses;
      for (std::size_t d = 0; d < devices.size(); ++d) {  // the devices compute at the same time
        losses.push_back(must(autograd::record(
            [&] { return loss.forward(must(nets[d].forward(parts[d].images)), parts[d].labels); })));
        must(autograd::backward(losses.back()));
      }
      must(trainer->step(batch.items));
      last_loss = must(nn::mean(losses[0]));
      trained += batch.items;
    }
  }
  double sum = 0;
  for (const auto& parameter : parameters.back())
    for (const float value : must(parameter->value.toVector())) sum += std::abs(static_cast<double>(value));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (rank == 0)
    printf("%d processes, %zu devices each: %.1f images/s, loss %.4f, sum of the weights' sizes %.3f\n",
           ranks, devices.size(), static_cast<double>(trained) / seconds, last_loss, sum);
}

}  // namespace

int main(int argc, char** argv) {
  const Given given = parse(argc, argv);
  const auto session = must(Session::open());
  if (!must(KVStore::serve(*session))) train(*session, given);
  must(session->finish());
}
