// Trains LeNet on Fashion-MNIST, and is the tutorial for embedding Pitwall's runtime into a program.
// PITWALL_TRACE=lenet.pitwall in the environment records the run for `pitwall analyze lenet.pitwall`.
#include <CLI/CLI.hpp>
#include <climits>

#include "runtime/pitwall.h"

using namespace pitwall;

// Failures are returned as a Result whose error names the remedy. Here: print it and end with code 2.
template <class T>
T must(Result<T> result) {
  if (!result.has_value()) fprintf(stderr, "train_lenet: %s\n", result.error().message.c_str()), exit(2);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

int main(int argc, char** argv) {
  int batch_size = 16, epochs = 5, steps = INT_MAX, all_images = INT_MAX;
  std::uint64_t seed = 1;
  bool synthetic = false;
  float rate = 0.05F;
  std::string folder = data::kFashionMnistFolder;
  CLI::App app("Trains LeNet on Fashion-MNIST.");
  app.add_option("--batch", batch_size, "images per step [16]")->check(CLI::Range(8, 512));
  app.add_option("--epochs", epochs, "passes over the data [5]")->check(CLI::Range(1, 1000));
  app.add_option("--steps", steps, "end after so many steps, without a test")->check(CLI::Range(1, INT_MAX));
  app.add_option("--images", all_images, "end after so many images, whatever the batch, without a test")
      ->check(CLI::Range(1, INT_MAX));
  app.add_option("--lr", rate, "learning rate [0.05]")->check(CLI::PositiveNumber);
  app.add_option("--data", folder, "folder of the data set's idx files [" + folder + "]");
  app.add_option("--seed", seed, "of the first weights and the order of images [1]");
  app.add_flag("--synthetic", synthetic, "train on generated digits instead");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  auto session = must(Session::open());  // reads MXNET_* and PITWALL_* from the environment
  const data::ImageDataset train =
      synthetic ? data::syntheticDigits(6000, 1) : must(data::fashionMnist(data::Split::train, folder));
  const data::ImageDataset test =
      synthetic ? data::syntheticDigits(1000, 2) : must(data::fashionMnist(data::Split::test, folder));
  data::BatchOptions options{.seed = seed};  // tunables can be set from outside: PITWALL_TUNE_batch_size=64
  options.batch_size = session->tunable("batch_size", batch_size, {8, 512});
  steps = static_cast<int>(std::min<std::int64_t>(steps, 1 + (all_images - 1) / options.batch_size));
  options.prefetch_threads = static_cast<int>(session->tunable("prefetch_threads", 0, {0, 8}));
  options.prefetch_depth = static_cast<int>(session->tunable("prefetch_depth", 2, {1, 64}));
  auto batches = must(data::makeBatches(*session, train, options));
  auto test_batches = must(data::makeBatches(*session, test, {.batch_size = 200, .shuffle = false}));

  nn::Sequential net("lenet");  // the trace will show the layers' names
  net.add(nn::Conv2D("conv1", {.channels = 20, .kernel = {5, 5}}));
  net.add(nn::Activation("relu1", ActivationType::relu)).add(nn::MaxPool2D("pool1"));
  net.add(nn::Conv2D("conv2", {.channels = 50, .kernel = {5, 5}}));
  net.add(nn::Activation("relu2", ActivationType::relu)).add(nn::MaxPool2D("pool2"));
  net.add(nn::Dense("dense1", {.units = 512})).add(nn::Activation("relu3", ActivationType::relu));
  net.add(nn::Dense("dense2", {.units = 10}));
  must(net.initialise(Initialiser::xavier(), seed));
  nn::SoftmaxCrossEntropy loss_function;
  Sgd optimizer(net.parameters(), {.rate = rate});

  const std::int64_t planned = std::min(epochs * train.count, steps * options.batch_size);
  Progress progress("training on " + train.description, planned);
  for (int epoch = 1; epoch <= epochs && steps > 0; ++epoch) {
    for (data::Batch batch; steps > 0 && must(batches->next(batch)); --steps) {
      session->markIteration(batch.items);
      const NDArray images = NDArray::fromValues(*session, batch.image_shape, batch.images);
      const NDArray labels = NDArray::fromValues(*session, {batch.items}, batch.labels);
      const NDArray loss = must(autograd::record([&] {  // in training mode, remembering what gradients need
        return loss_function.forward(must(net.forward(images)), labels);
      }));
      must(autograd::backward(loss));
      must(optimizer.step(batch.items));
      progress.update(batch.items, must(nn::mean(loss)));  // waits for the loss
    }
    if (steps > 0) progress.epoch(epoch, must(nn::accuracy(*session, net, *test_batches)));
    batches->reset(), test_batches->reset();
  }
  must(session->finish());
  progress.finish();
}
