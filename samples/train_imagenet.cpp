// Trains an image classification network of MXNet's examples by an executor, on synthetic images of ImageNet's size, and
// prints what MXNet's train_imagenet.py --benchmark 1 prints.
// PITWALL_TRACE=train.pitwall in the environment, or --record, records the run for `pitwall analyze train.pitwall`.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <map>
#include <random>

#include "runtime/executor.h"
#include "runtime/models.h"
#include "runtime/optimizer.h"
#include "runtime/pitwall.h"

using namespace pitwall;
using Clock = std::chrono::steady_clock;

namespace {

template <class T>
T must(Result<T> result) {
  if (!result.has_value()) fprintf(stderr, "train_imagenet: %s\n", result.error().message.c_str()), exit(2);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

struct Given {
  std::string network = "resnet-50", trace, folder;
  int benchmark = 0, epochs = 1, batches = 500, shown_every = 20;
  std::int64_t batch_size = 32, classes = 1000, image_size = 0;
  float rate = 0.1F, momentum = 0.9F, weight_decay = 1e-4F;
  std::uint64_t seed = 1;
};

double secondsSince(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// Weights as MXNet's Xavier(rnd_type='gaussian', factor_type='in', magnitude=2).
void fill(NDArray& array, const std::string& name, std::uint64_t seed) {
  const Shape& shape = array.shape();
  Initialiser initialiser = Initialiser::constant(0);
  if (name.ends_with("_gamma") || name.ends_with("_var")) initialiser = Initialiser::constant(1);
  if (name.ends_with("_weight"))
    initialiser = Initialiser::normal(
        0, std::sqrt(2.0F * static_cast<float>(shape[0]) / static_cast<float>(shape.elements())));
  must(initialise(array, initialiser, seed));
}

// One batch, which is used again and again.
NDArray images(Session& session, const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (float& each : values) each = value(random);
  return NDArray::fromValues(session, shape, values);
}

std::vector<float> labelsFor(const Given& given) {
  std::mt19937_64 random(given.seed + 1);
  std::uniform_int_distribution<std::int64_t> label(0, given.classes - 1);
  std::vector<float> values(static_cast<std::size_t>(given.batch_size));
  for (float& each : values) each = static_cast<float>(label(random));
  return values;
}

struct Training {
  std::map<std::string, NDArray> arrays;
  std::unique_ptr<Executor> executor;
  std::vector<nn::ParameterPtr> parameters;
};

Training prepare(Session& session, const Given& given, std::int64_t size, const std::vector<float>& labels) {
  const Symbol symbol = must(models::make(given.network, given.classes));
  if (!given.folder.empty()) must(symbol.save(given.folder + "/" + given.network + "-symbol.json"));
  const Shape data{given.batch_size, 3, size, size};
  const InferredShapes shapes = must(symbol.inferShapes({{"data", data}}));
  Training training;
  Executor::Options options{.seed = given.seed};
  std::uint64_t seed = given.seed;
  const auto make = [&](const std::vector<std::string>& names, const std::vector<Shape>& of) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      NDArray& array = training.arrays[names[i]];
      array = NDArray::empty(session, of[i], MemoryTag::weights);
      fill(array, names[i], ++seed);
    }
  };
  make(symbol.arguments(), shapes.arguments);
  make(symbol.auxiliaryStates(), shapes.auxiliary_states);
  training.arrays["data"] = images(session, data, given.seed);
  training.arrays["softmax_label"] = NDArray::fromValues(session, {given.batch_size}, labels);
  for (const std::string& name : symbol.arguments()) {
    if (name == "data" || name == "softmax_label") continue;
    NDArray& weight = training.arrays[name];
    weight.attachGradient();
    options.gradients[name] = {weight.gradient()};
    training.parameters.push_back(
        std::make_shared<nn::Parameter>(nn::Parameter{.name = name, .value = weight}));
  }
  training.executor = must(Executor::bind(session, symbol, training.arrays, options));
  return training;
}

// The lines of MXNet's Speedometer.
void train(Session& session, const Given& given, Training& training, const std::vector<float>& labels) {
  Sgd optimizer(training.parameters,
                {.rate = given.rate, .momentum = given.momentum, .weight_decay = given.weight_decay});
  for (int epoch = 0; epoch < given.epochs; ++epoch) {
    const auto began = Clock::now();
    auto shown = began;
    std::int64_t correct = 0, correct_shown = 0;
    for (int batch = 1; batch <= given.batches; ++batch) {
      session.markIteration(given.batch_size);
      must(training.executor->forward(Executor::Mode::training));
      must(training.executor->backward());
      must(optimizer.step(given.batch_size));
      correct +=
          must(nn::countCorrect(training.executor->outputs()[0], labels));  // waits for the forward pass
      if (batch % given.shown_every != 0) continue;
      const double images_between = static_cast<double>(given.shown_every * given.batch_size);
      printf("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec\taccuracy=%f\n", epoch,
             batch - given.shown_every, batch, images_between / secondsSince(shown),
             static_cast<double>(correct - correct_shown) / images_between);
      fflush(stdout);
      shown = Clock::now();
      correct_shown = correct;
    }
    for (const auto& parameter : training.parameters) must(parameter->value.waitToRead());
    printf("Epoch[%d] Train-accuracy=%f\n", epoch,
           static_cast<double>(correct) / static_cast<double>(given.batches * given.batch_size));
    printf("Epoch[%d] Time cost=%.3f\n", epoch, secondsSince(began));
    fflush(stdout);
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
  Training training = prepare(*session, given, size, labels);
  train(*session, given, training, labels);
  const Executor::Memory memory = training.executor->memory();
  printf("memory of intermediate results: %.1f MiB, %.1f MiB if none were shared\n",
         static_cast<double>(memory.planned) / 1048576, static_cast<double>(memory.unshared) / 1048576);
  training = {};
  must(session->finish());
}
