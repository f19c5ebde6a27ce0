// Measures how fast a key-value store sums gradients of the size of a network's, as MXNet's tools/bandwidth/measure.py does and prints.
// With mpirun or samples/launch between processes: --kv-store dist_sync. Between GPUs: --gpus 0,1 --kv-store nccl.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "runtime/kvstore.h"
#include "runtime/models.h"
#include "samples/devices.h"
#include "samples/fit.h"

using namespace pitwall;
using samples::must;

namespace {

using Clock = std::chrono::steady_clock;
using Floats = std::vector<float>;

struct Given {
  std::string network = "resnet", store = "device", optimizer = "None", compression = "none", trace;
  int layers = 152, devices = 2, batches = 5, shown_every = 1, tests = 1;
  std::int64_t classes = 1000, compute_batch = 0;
  float threshold = 0.5F;
  std::vector<std::int64_t> image = {3, 224, 224};
  std::vector<int> gpus;  // empty: devices of the CPU
  std::vector<Device> places() const { return samples::devicesOf(gpus, devices); }
};

double secondsSince(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

// "resnet" with --num-layers is "resnet-152"; other names are those of runtime/models.h.
std::string networkName(const Given& given) {
  const bool has_layers = given.network == "resnet" || given.network == "resnetv1";
  return has_layers ? given.network + "-" + std::to_string(given.layers) : given.network;
}

// Of the arguments whose name contains weight or bias.
std::vector<Shape> shapesOf(const Symbol& symbol, const Given& given) {
  const InferredShapes inferred =
      must(symbol.inferShapes({{"data", Shape{1, given.image[0], given.image[1], given.image[2]}}}));
  const std::vector<std::string> names = symbol.arguments();
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].find("weight") != std::string::npos || names[i].find("bias") != std::string::npos)
      shapes.push_back(inferred.arguments[i]);
  return shapes;
}

// Gradients and weights of one key.
struct Key {
  std::vector<NDArray> gradients, weights;  // of each device
  nn::ParameterPtr reference;  // the weight that this program updates itself; its gradient the sum
};

std::vector<Key> makeKeys(Session& session, KVStore& store, const std::vector<Shape>& shapes,
                          const Given& given) {
  std::vector<Key> keys(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Shape& shape = shapes[i];
    must(store.init(static_cast<int>(i), NDArray::zeros(session, shape)));
    Floats sum(static_cast<std::size_t>(shape.elements()), 0);
    for (const Device device : given.places()) {
      NDArray first = NDArray::empty(session, shape, MemoryTag::gradients);
      const auto seed = i * 64 + static_cast<std::size_t>(device.index);
      must(initialise(first, Initialiser::uniform(-1, 1), seed));
      const Floats values = must(first.toVector());
      NDArray gradient = NDArray::fromValues(session, shape, values, MemoryTag::gradients, device);
      for (std::size_t k = 0; given.tests != 0 && k < sum.size(); ++k) sum[k] += values[k];
      keys[i].gradients.push_back(std::move(gradient));
      keys[i].weights.push_back(NDArray::zeros(session, shape, MemoryTag::weights, device));
    }
    if (given.tests == 0) continue;
    for (float& value : sum) value *= static_cast<float>(store.workers());
    keys[i].reference = std::make_shared<nn::Parameter>();
    keys[i].reference->value = NDArray::zeros(session, shape);
    keys[i].reference->value.attachGradient();
    must(keys[i].reference->value.gradient().copyFrom(sum));
  }
  return keys;
}

// The sum of the differences between devices and reference, over the sum of the reference.
double errorOf(const std::vector<Key>& keys, bool updated) {
  double difference = 0, sum = 0;
  for (const Key& key : keys) {
    const NDArray& value = key.reference->value;
    const Floats expected = must((updated ? value : value.gradient()).toVector());
    for (const float each : expected) sum += std::abs(static_cast<double>(each));
    for (const NDArray& weight : key.weights) {
      const Floats of_device = must(weight.toVector());
      for (std::size_t i = 0; i < expected.size(); ++i)
        difference += std::abs(static_cast<double>(of_device[i]) - static_cast<double>(expected[i]));
    }
  }
  return difference / sum;
}

// Seconds in which all keys are pushed and pulled. A store that only sums does both in one call.
double exchange(KVStore& store, const std::vector<Key>& keys) {
  const auto began = Clock::now();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const int key = static_cast<int>(i);
    must(store.canOptimize() ? store.push(key, keys[i].gradients, key)
                             : store.pushPull(key, keys[i].gradients, keys[i].weights, key));
  }
  for (std::size_t i = 0; i < keys.size() && store.canOptimize(); ++i)
    must(store.pull(static_cast<int>(i), keys[i].weights, static_cast<int>(i)));
  for (const Key& key : keys)
    for (const NDArray& weight : key.weights) must(weight.waitToRead());
  return secondsSince(began);
}

// Seconds of a training step of the network without a store.
double computeTime(Session& session, const Symbol& symbol, const Given& given) {
  const Shape data{given.compute_batch, given.image[0], given.image[1], given.image[2]};
  samples::Training training = samples::prepare(session, symbol, data, 1);
  must(initialise(training.arrays["data"], Initialiser::uniform(-1, 1), 1));
  must(initialise(training.arrays["softmax_label"], Initialiser::constant(0), 1));
  std::vector<double> times;
  for (int i = 0; i < 4; ++i) {
    const auto began = Clock::now();
    must(training.executor->forward(Executor::Mode::training));
    must(training.executor->backward());
    must(session.engine().waitForAll());
    times.push_back(secondsSince(began));
  }
  return *std::min_element(times.begin() + 1, times.end());
}

void measure(Session& session, const Given& given) {
  const auto store = must(KVStore::create(session, given.store));
  const bool updates = given.optimizer != "None";
  if (given.compression != "none") must(store->setCompression({given.compression, given.threshold}));
  const OptimizerChoice choice{.name = given.optimizer};
  if (updates) must(store->setOptimizer(choice));
  const Symbol symbol = must(models::make(networkName(given), given.classes));
  const std::vector<Shape> shapes = shapesOf(symbol, given);
  double elements = 0;
  for (const Shape& shape : shapes) elements += static_cast<double>(shape.elements());
  const double size = elements * 4 / 1e6;
  const bool prints = store->rank() == 0;
  if (prints) printf("num of arrays = %zu, total size = %f MB\n", shapes.size(), size);
  const std::vector<Key> keys = makeKeys(session, *store, shapes, given);
  std::unique_ptr<Optimizer> reference;
  if (updates) reference = must(makeOptimizer(choice));
  double taken = 0, best = 1e30;
  for (int batch = 0; batch <= given.batches; ++batch) {
    session.markIteration(1);
    taken += exchange(*store, keys);
    for (const Key& key : keys)
      if (updates && given.tests != 0) must(reference->stepOne(key.reference, 1));
    const double error = given.tests != 0 ? errorOf(keys, updates) : -1;
    if (batch % given.shown_every != 0) continue;
    taken /= given.shown_every;
    const auto devices = static_cast<double>(given.places().size());
    const double between = 2.0 * (devices - 1) / devices;
    // The first batch makes what the others use again.
    if (batch != 0 && prints)
      printf("iter %d, %f sec, %f GB/sec per gpu, error %f\n", batch, taken, size * between / taken / 1e3,
             error);
    if (batch != 0) best = std::min(best, taken);
    taken = 0;
    fflush(stdout);
  }
  if (given.compute_batch == 0) return;
  const double compute = computeTime(session, symbol, given);
  if (prints)
    printf("communication %f sec, computation %f sec per batch of %lld images: %.1f %% if nothing overlaps\n",
           best, compute, static_cast<long long>(given.compute_batch), 100 * best / (best + compute));
}

}  // namespace

int main(int argc, char** argv) {
  Given given;
  CLI::App app("Measures how fast a key-value store sums gradients.");
  app.add_option("--network", given.network, "network; resnet and resnetv1 with --num-layers [resnet]");
  app.add_option("--num-layers", given.layers, "layers of resnet [152]");
  app.add_option("--devices", given.devices, "devices of the CPU [2]")->check(CLI::Range(1, kMaxDevices));
  samples::addGpus(app, given.gpus);
  app.add_option("--kv-store", given.store, "kind of the store [device]");
  app.add_option("--num-batches", given.batches, "batches [5]")->check(CLI::Range(1, 1000000));
  app.add_option("--disp-batches", given.shown_every, "a line after so many batches [1]")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--test-results", given.tests, "1: compare with sums of this program [1]")
      ->check(CLI::Range(0, 1));
  app.add_option("--image-shape", given.image, "channels, height, width [3,224,224]")
      ->delimiter(',')
      ->expected(3);
  app.add_option("--num-classes", given.classes, "classes [1000]")->check(CLI::Range(1, 1000000));
  app.add_option("--optimizer", given.optimizer, "that updates on the store: sgd, nag, adam [None]");
  app.add_option("--gc-type", given.compression, "compression of gradients: none or 2bit [none]");
  app.add_option("--gc-threshold", given.threshold, "threshold of 2bit [0.5]");
  app.add_option("--compute-batch", given.compute_batch,
                 "also measure a training step of one device with so many images [0: no]");
  app.add_option("--record", given.trace, "record the run into this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  SessionOptions options;
  options.trace_path = given.trace;
  const auto session = must(Session::open(options));
  if (!must(KVStore::serve(*session))) measure(*session, given);
  must(session->finish());
}
