// Trains an image classification network of MXNet's examples by an executor, on synthetic images of ImageNet's size, and
// prints what MXNet's train_imagenet.py --benchmark 1 prints.
// PITWALL_TRACE=train.pitwall in the environment, or --record, records the run for `pitwall analyze train.pitwall`.
#include <CLI/CLI.hpp>
#include <random>

#include "runtime/models.h"
#include "samples/fit.h"

using namespace pitwall;
using samples::must;

namespace {

struct Given {
  std::string network = "resnet-50", trace, folder;
  int benchmark = 0, epochs = 1, batches = 500, shown_every = 20;
  std::int64_t batch_size = 32, classes = 1000, image_size = 0;
  float rate = 0.1F, momentum = 0.9F, weight_decay = 1e-4F;
  std::uint64_t seed = 1;
};

// One batch, which is used again and again.
std::vector<float> images(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (float& each : values) each = value(random);
  return values;
}

std::vector<float> labelsFor(const Given& given) {
  std::mt19937_64 random(given.seed + 1);
  std::uniform_int_distribution<std::int64_t> label(0, given.classes - 1);
  std::vector<float> values(static_cast<std::size_t>(given.batch_size));
  for (float& each : values) each = static_cast<float>(label(random));
  return values;
}

samples::Training prepare(Session& session, const Given& given, std::int64_t size,
                          const std::vector<float>& labels) {
  const Symbol symbol = must(models::make(given.network, given.classes));
  if (!given.folder.empty()) must(symbol.save(given.folder + "/" + given.network + "-symbol.json"));
  const Shape data{given.batch_size, 3, size, size};
  samples::Training training = samples::prepare(session, symbol, data, given.seed);
  must(training.arrays["data"].copyFrom(images(data, given.seed)));
  must(training.arrays["softmax_label"].copyFrom(labels));
  return training;
}

void train(Session& session, const Given& given, samples::Training& training,
           const std::vector<float>& labels) {
  Sgd optimizer(training.parameters,
                {.rate = given.rate, .momentum = given.momentum, .weight_decay = given.weight_decay});
  for (int epoch = 0; epoch < given.epochs; ++epoch) {
    samples::Speedometer speedometer(epoch, given.shown_every);
    for (int batch = 1; batch <= given.batches; ++batch) {
      session.markIteration(given.batch_size);
      must(training.executor->forward(Executor::Mode::training));
      must(training.executor->backward());
      must(optimizer.step(given.batch_size));
      // Waits for the forward pass.
      const std::int64_t correct = must(nn::countCorrect(training.executor->outputs()[0], labels));
      speedometer.add(given.batch_size, correct);
    }
    for (const auto& parameter : training.parameters) must(parameter->value.waitToRead());
    speedometer.finish();
  }
}

}  // namespace

int main(int argc, char** argv) {
  Given given;
  CLI::App app("Trains an image classification network on synthetic data.");
  app.add_option("--network", given.network, "network [resnet-50]");
  app.add_option("--benchmark", given.benchmark,
                 "1: synthetic data, the only kind that this program has [0]");
  app.add_option("--batch-size", given.batch_size, "images in a batch [32]")->check(CLI::Range(1, 4096));
  app.add_option("--num-epochs", given.epochs, "epochs [1]")->check(CLI::Range(1, 100000));
  app.add_option("--num-batches", given.batches, "batches in an epoch [500]")->check(CLI::Range(1, 1000000));
  app.add_option("--num-classes", given.classes, "classes [1000]")->check(CLI::Range(1, 1000000));
  app.add_option("--image-size", given.image_size, "width and height [224; 299 for inception-v3]")
      ->check(CLI::Range(8, 4096));
  app.add_option("--disp-batches", given.shown_every, "a line after so many batches [20]")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--lr", given.rate, "learning rate [0.1]")->check(CLI::NonNegativeNumber);
  app.add_option("--mom", given.momentum, "momentum [0.9]")->check(CLI::Range(0.0, 1.0));
  app.add_option("--wd", given.weight_decay, "weight decay [0.0001]")->check(CLI::NonNegativeNumber);
  app.add_option("--seed", given.seed, "of weights, images and labels [1]");
  app.add_option("--write", given.folder,
                 "also write the network as NAME-symbol.json of MXNet into this folder");
  app.add_option("--record", given.trace, "record the run into this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (given.benchmark != 1) {
    fprintf(
        stderr,
        "train_imagenet: there are no image files to train on; give --benchmark 1 for synthetic images\n");
    return 2;
  }
  std::int64_t size = 224;
  for (const models::Model& known : models::all())
    if (given.network == known.name) size = known.image_size;
  if (given.image_size != 0) size = given.image_size;

  SessionOptions session_options;
  session_options.trace_path = given.trace;
  const auto session = must(Session::open(session_options));
  const std::vector<float> labels = labelsFor(given);
  samples::Training training = prepare(*session, given, size, labels);
  train(*session, given, training, labels);
  const Executor::Memory memory = training.executor->memory();
  printf("memory of intermediate results: %.1f MiB, %.1f MiB if none were shared\n",
         static_cast<double>(memory.planned) / 1048576, static_cast<double>(memory.unshared) / 1048576);
  training = {};
  must(session->finish());
}
