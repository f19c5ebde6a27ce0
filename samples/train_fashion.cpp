// Trains a small residual network on Fashion-MNIST by an executor, and prints what MXNet's training programs print: speed and
// accuracy, at the end of each epoch those on the test images.
// PITWALL_TRACE=fashion.pitwall in the environment, or --record, records the run for `pitwall analyze fashion.pitwall`.
#include <CLI/CLI.hpp>
#include <numbers>

#include "runtime/models.h"
#include "runtime/parameter_file.h"
#include "runtime/quantization.h"
#include "samples/fit.h"

using namespace pitwall;
using samples::must;

namespace {

struct Given {
  std::string network = "resnet-8", trace, folder = data::kFashionMnistFolder, prefix, quantize;
  int epochs = 5, batches = 0, shown_every = 100, prefetch_threads = 0;
  std::int64_t batch_size = 64;
  float rate = 0.1F, momentum = 0.9F, weight_decay = 1e-4F;
  std::uint64_t seed = 1;
};

Given parse(int argc, char** argv) {
  Given given;
  CLI::App app("Trains a small residual network on Fashion-MNIST.");
  app.add_option("--network", given.network,
                 "resnet-8, resnet-14, resnet-20, resnet-110 or another [resnet-8]");
  app.add_option("--data", given.folder, "folder of the data set's idx files [" + given.folder + "]");
  app.add_option("--batch-size", given.batch_size, "images in a batch [64]")->check(CLI::Range(1, 4096));
  app.add_option("--num-epochs", given.epochs, "passes over the data [5]")->check(CLI::Range(1, 1000));
  app.add_option("--num-batches", given.batches, "end an epoch after so many batches")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--disp-batches", given.shown_every, "a line after so many batches [100]")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--lr", given.rate, "learning rate at the beginning; half a cosine leads it to 0 [0.1]")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--mom", given.momentum, "momentum [0.9]")->check(CLI::Range(0.0, 1.0));
  app.add_option("--wd", given.weight_decay, "weight decay [0.0001]")->check(CLI::NonNegativeNumber);
  app.add_option("--prefetch-threads", given.prefetch_threads, "that make batches beside the training [0]")
      ->check(CLI::Range(0, 64));
  app.add_option("--seed", given.seed, "of weights and the order of images [1]");
  app.add_option("--model-prefix", given.prefix,
                 "write the trained network as PREFIX-symbol.json and PREFIX-NNNN.params of MXNet");
  app.add_option("--quantize", given.quantize,
                 "then test the network on 8-bit numbers too, calibrated as naive or entropy")
      ->check(CLI::IsMember({"naive", "entropy"}));
  app.add_option("--record", given.trace, "record the run into this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit(app.exit(error) == 0 ? 0 : 2);
  }
  return given;
}

// Of the test images that are classified correctly. The last batch is filled up with what was there.
double accuracyOf(samples::Training& training, data::BatchIterator& batches, std::int64_t batch_size) {
  std::int64_t correct = 0, images = 0;
  std::vector<float> pixels, labels;
  batches.reset();
  for (data::Batch batch; must(batches.next(batch));) {
    pixels.resize(std::max(pixels.size(), batch.images.size()));
    std::copy(batch.images.begin(), batch.images.end(), pixels.begin());
    must(training.arrays["data"].copyFrom(pixels));
    must(training.executor->forward());
    labels.assign(static_cast<std::size_t>(batch_size), -1.0F);  // of no class
    std::copy(batch.labels.begin(), batch.labels.end(), labels.begin());
    correct += must(nn::countCorrect(training.executor->outputs()[0], labels));
    images += batch.items;
  }
  return static_cast<double>(correct) / static_cast<double>(images);
}

void save(const Given& given, const Symbol& symbol, const std::map<std::string, NDArray>& arrays) {
  must(symbol.save(given.prefix + "-symbol.json"));
  ParameterArrays parameters;
  const auto add = [&](const std::string& kind, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (samples::isInput(name)) continue;
      const NDArray& array = arrays.at(name);
      const std::vector<float> values = must(array.toVector());
      const auto bytes = std::as_bytes(std::span(values));
      parameters[kind + name] = {.shape = array.shape(), .values = {bytes.begin(), bytes.end()}};
    }
  };
  add("arg:", symbol.arguments());
  add("aux:", symbol.auxiliaryStates());
  char number[16];
  snprintf(number, sizeof number, "-%04d", given.epochs);
  must(saveParameters(given.prefix + number + ".params", parameters));
}

// On 8-bit numbers, with the ranges that some batches of training images have.
samples::Training quantized(Session& session, const Given& given, const Symbol& symbol,
                            const samples::Training& training, data::BatchIterator& batches) {
  QuantizeOptions options;
  options.calibration = given.quantize == "naive" ? Calibration::naive : Calibration::entropy;
  data::Batch batch;
  while (options.batches.size() < 8 && must(batches.next(batch)))
    options.batches.push_back(NDArray::fromValues(session, batch.image_shape, batch.images));
  samples::Training result{.arrays = training.arrays, .executor = {}, .parameters = {}};
  const Symbol small = must(quantize(session, symbol, training.arrays, options));
  result.executor = must(Executor::bind(session, small, result.arrays));
  return result;
}

void train(Session& session, const Given& given, const data::ImageDataset& images,
           const data::ImageDataset& test) {
  const Symbol symbol = must(models::make(given.network, 10));
  samples::Training training = samples::prepare(
      session, symbol, {given.batch_size, images.channels, images.height, images.width}, given.seed);
  Sgd optimizer(training.parameters,
                {.rate = given.rate, .momentum = given.momentum, .weight_decay = given.weight_decay});
  auto batches = must(data::makeBatches(session, images,
                                        {.batch_size = given.batch_size,
                                         .drop_last = true,
                                         .seed = given.seed,
                                         .prefetch_threads = given.prefetch_threads}));
  auto test_batches =
      must(data::makeBatches(session, test, {.batch_size = given.batch_size, .shuffle = false}));
  std::int64_t in_epoch = images.count / given.batch_size, step = 0;
  if (given.batches > 0) in_epoch = std::min<std::int64_t>(in_epoch, given.batches);
  for (int epoch = 0; epoch < given.epochs; ++epoch) {
    samples::Speedometer speedometer(epoch, given.shown_every);
    data::Batch batch;
    for (std::int64_t i = 0; i < in_epoch && must(batches->next(batch)); ++i, ++step) {
      session.markIteration(batch.items);
      must(training.arrays["data"].copyFrom(batch.images));
      must(training.arrays["softmax_label"].copyFrom(batch.labels));
      must(training.executor->forward(Executor::Mode::training));
      must(training.executor->backward());
      const double done = static_cast<double>(step) / static_cast<double>(in_epoch * given.epochs);
      optimizer.setRate(given.rate * static_cast<float>(0.5 + 0.5 * std::cos(std::numbers::pi * done)));
      must(optimizer.step(batch.items));
      speedometer.add(batch.items, must(nn::countCorrect(training.executor->outputs()[0], batch.labels)));
    }
    speedometer.finish();
    printf("Epoch[%d] Validation-accuracy=%f\n", epoch,
           accuracyOf(training, *test_batches, given.batch_size));
    fflush(stdout);
    batches->reset();
  }
  if (!given.quantize.empty()) {
    samples::Training small = quantized(session, given, symbol, training, *batches);
    printf("Quantized Validation-accuracy=%f\n", accuracyOf(small, *test_batches, given.batch_size));
  }
  if (!given.prefix.empty()) save(given, symbol, training.arrays);
}

}  // namespace

int main(int argc, char** argv) {
  const Given given = parse(argc, argv);
  SessionOptions options;
  options.trace_path = given.trace;
  const auto session = must(Session::open(options));
  const data::ImageDataset images = must(data::fashionMnist(data::Split::train, given.folder));
  const data::ImageDataset test = must(data::fashionMnist(data::Split::test, given.folder));
  train(*session, given, images, test);
  must(session->finish());
}
