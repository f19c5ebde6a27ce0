// Trains an image classification network of MXNet's examples by an executor, on images of a record file that samples/im2rec
// packed, or on synthetic ones, and prints what MXNet's train_imagenet.py prints. --test-io 1 only reads the images.
// In several processes with mpirun or samples/launch, each on separate images:
//
//   samples/launch -n 2 -- train_imagenet --benchmark 1 --kv-store dist_sync
//
// PITWALL_TRACE=train.pitwall in the environment, or --record, records the run for `pitwall analyze train.pitwall`.
#include <CLI/CLI.hpp>
#include <random>

#include "runtime/image_records.h"
#include "runtime/mixed_precision.h"
#include "runtime/models.h"
#include "runtime/trainer.h"
#include "samples/fit.h"
#include "samples/published_scores.h"

using namespace pitwall;
using samples::must;

namespace {

struct Given {
  std::string network = "resnet-50", dtype = "float32", trace, folder;
  std::string store, compression = "none";  // no store: the optimizer updates the weights
  data::ImageRecordOptions data;
  std::vector<float> mean = {123.68F, 116.779F, 103.939F};
  int gpu = -1;  // -1: the CPU
  int benchmark = 0, test_io = 0, epochs = 1, batches = 500, shown_every = 20;
  std::int64_t batch_size = 32, classes = 1000, image_size = 0;
  float rate = 0.1F, momentum = 0.9F, weight_decay = 1e-4F;
  float loss_scale = 0;  // 0: 128 with float16, else 1
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

std::vector<float> labelsFor(const Given& given, int rank) {
  std::mt19937_64 random(given.seed + 1 + static_cast<std::uint64_t>(rank));
  std::uniform_int_distribution<std::int64_t> label(0, given.classes - 1);
  std::vector<float> values(static_cast<std::size_t>(given.batch_size));
  for (float& each : values) each = static_cast<float>(label(random));
  return values;
}

samples::Training prepare(Session& session, const Given& given, std::int64_t size) {
  Symbol symbol = must(models::make(given.network, given.classes));
  if (given.dtype != "float32")
    symbol = must(castNetwork(symbol, {.type = given.dtype == "float16" ? DType::float16 : DType::bfloat16,
                                       .loss_scale = given.loss_scale}));
  if (!given.folder.empty()) must(symbol.save(given.folder + "/" + given.network + "-symbol.json"));
  return samples::prepare(session, symbol, {given.batch_size, 3, size, size}, given.seed,
                          given.gpu < 0 ? cpu() : gpu(given.gpu));
}

// What is trained on: the records of a file, or one batch again and again.
class Input {
 public:
  Input(Session& session, const Given& given, std::vector<float> labels)
      : session_(session), given_(given), labels_(std::move(labels)) {
    if (!given.data.path_imgrec.empty()) records_ = must(data::openImageRecords(session, given.data));
  }

  // The next batch; false at the end of the epoch.
  bool next() {
    if (records_ == nullptr) return taken_++ < given_.batches;
    return must(records_->next(batch_));
  }
  // Gives the batch to the network; on the CPU without a copy of the images.
  void give(samples::Training& training) {
    if (records_ == nullptr) return;
    if (given_.gpu < 0)
      must(data::takeImages(batch_, training.arrays["data"]));
    else
      must(training.executor->replaceInput(
          "data", must(must(data::takeImages(session_, batch_)).copyTo(gpu(given_.gpu)))));
    must(training.arrays["softmax_label"].copyFrom(batch_.labels));
  }
  const std::vector<float>& labels() const { return records_ == nullptr ? labels_ : batch_.labels; }
  void reset() {
    taken_ = 0;
    if (records_ != nullptr) records_->reset();
  }
  void showProblems() const {
    if (records_ == nullptr) return;
    const std::string problems = records_->summary().problems(given_.data.path_imgrec);
    if (!problems.empty()) fprintf(stderr, "train_imagenet: %s\n", problems.c_str());
  }

 private:
  Session& session_;
  const Given& given_;
  std::unique_ptr<data::ImageRecordIterator> records_;
  data::Batch batch_;
  const std::vector<float> labels_;
  int taken_ = 0;
};

// Updates the weights: by itself, or with the gradients of all processes of a store.
class Updates {
 public:
  Updates(Session& session, const Given& given, const samples::Training& training) {
    if (given.store.empty()) {
      alone_ = std::make_unique<Sgd>(
          training.parameters,
          SgdOptions{.rate = given.rate, .momentum = given.momentum, .weight_decay = given.weight_decay});
      alone_->useMultiPrecision(true);
      alone_->setLossScale(given.loss_scale);
      return;
    }
    TrainerOptions options{.optimizer = {"sgd",
                                         {{"learning_rate", given.rate},
                                          {"momentum", given.momentum},
                                          {"wd", given.weight_decay}}},
                           .kvstore = given.store};
    options.compression.type = given.compression;
    together_ = must(Trainer::make(session, {training.parameters}, options));
    must(together_->shareWeights());
  }

  int workers() const {
    return together_ == nullptr || together_->store() == nullptr ? 1 : together_->store()->workers();
  }
  int rank() const {
    return together_ == nullptr || together_->store() == nullptr ? 0 : together_->store()->rank();
  }
  // After a batch of so many images in each process.
  void step(std::int64_t images) {
    if (alone_ != nullptr)
      must(alone_->step(images));
    else
      must(together_->step(images * workers()));
  }

 private:
  std::unique_ptr<Sgd> alone_;
  std::unique_ptr<Trainer> together_;
};

void train(Session& session, const Given& given, samples::Training& training, Updates& updates,
           Input& input) {
  for (int epoch = 0; epoch < given.epochs; ++epoch, input.reset()) {
    samples::Speedometer speedometer(epoch, given.shown_every);
    for (;;) {
      session.markIteration(given.batch_size);
      if (!input.next()) break;
      input.give(training);
      must(training.executor->forward(Executor::Mode::training));
      must(training.executor->backward());
      updates.step(given.batch_size);
      // Waits for the forward pass.
      const std::int64_t correct = must(nn::countCorrect(training.executor->outputs()[0], input.labels()));
      speedometer.add(given.batch_size, correct);
    }
    for (const auto& parameter : training.parameters) must(parameter->value.waitToRead());
    speedometer.finish();
  }
}

// What MXNet's performance page has of GPUs, for the same network and batch.
void showPublished(const Given& given) {
  const published::Training* const row = published::findTraining(given.network, given.batch_size);
  if (given.gpu < 0 || row == nullptr) return;
  const auto text = [](double speed) {
    char shown[32] = "-";
    if (speed != 0) snprintf(shown, sizeof shown, "%.2f", speed);
    return std::string(shown);
  };
  printf("published of MXNet 1.2: K80 %s, M60 %s, V100 %s samples/sec\n", text(row->k80).c_str(),
         text(row->m60).c_str(), text(row->v100).c_str());
}

// Only reads, decodes and augments.
void testInput(Session& session, const Given& given, Input& input) {
  using Clock = std::chrono::steady_clock;
  for (int epoch = 0; epoch < given.epochs; ++epoch, input.reset()) {
    const auto began = Clock::now();
    std::int64_t batches = 0;
    const auto show = [&](const char* what) {
      const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
      printf("Epoch[%d] %s [%lld]\tSpeed: %.2f samples/sec\n", epoch, what, static_cast<long long>(batches),
             static_cast<double>(batches * given.batch_size) / seconds);
      fflush(stdout);
    };
    for (session.markIteration(given.batch_size); input.next(); session.markIteration(given.batch_size))
      if (++batches % given.shown_every == 0) show("Batch");
    show("Batches");
  }
}

void run(Session& session, Given& given, std::int64_t size) {
  samples::Training training = prepare(session, given, size);
  Updates updates(session, given, training);
  const int rank = updates.rank();
  given.data.num_parts = updates.workers();
  given.data.part_index = rank;
  const std::vector<float> labels = labelsFor(given, rank);
  must(training.arrays["data"].copyFrom(
      images({given.batch_size, 3, size, size}, given.seed + static_cast<std::uint64_t>(rank))));
  must(training.arrays["softmax_label"].copyFrom(labels));
  Input input(session, given, labels);
  train(session, given, training, updates, input);
  const Executor::Memory memory = training.executor->memory();
  printf("memory of intermediate results: %.1f MiB, %.1f MiB if none were shared\n",
         static_cast<double>(memory.planned) / 1048576, static_cast<double>(memory.unshared) / 1048576);
  showPublished(given);
  input.showProblems();
}

void declareData(CLI::App& app, Given& given) {
  data::ImageRecordOptions& input = given.data;
  data::ImageAugmentation& augment = input.augment;
  app.add_option("--data-train", input.path_imgrec, "record file of the images, as samples/im2rec writes it");
  app.add_option("--data-train-idx", input.path_imgidx,
                 "its index [its name with .idx, if there is such a file]");
  app.add_option("--data-nthreads", input.preprocess_threads, "threads that decode images [4]");
  app.add_option("--prefetch-buffer", input.prefetch_buffer, "batches that are prepared ahead [4]");
  app.add_option("--shuffle", input.shuffle, "1: a new order each epoch [1]");
  app.add_option("--resize", augment.resize, "length of the shorter side of the images; -1: as it is [-1]");
  app.add_option("--random-crop", augment.rand_crop, "1: a random part of each image [1]");
  app.add_option("--random-mirror", augment.rand_mirror, "1: mirror half of the images [1]");
  app.add_option("--random-resized-crop", augment.random_resized_crop, "1: a part of random size [0]");
  app.add_option("--min-random-area", augment.min_random_area, "least share of such a part [1]");
  app.add_option("--max-random-h", augment.random_h, "change of hue [0]");
  app.add_option("--max-random-s", augment.random_s, "change of saturation [0]");
  app.add_option("--max-random-l", augment.random_l, "change of lightness [0]");
  app.add_option("--rgb-mean", given.mean, "subtracted from red, green and blue [123.68,116.779,103.939]")
      ->delimiter(',')
      ->expected(3);
  app.add_option("--test-io", given.test_io, "1: only read the images, to measure that [0]");
}

// What the options mean for the record file.
void completeData(Given& given, std::int64_t size) {
  const int side = static_cast<int>(size);
  given.data.data_shape = {3, side, side};
  given.data.batch_size = given.batch_size;
  given.data.seed = given.seed;
  given.data.mean_r = given.mean[0];
  given.data.mean_g = given.mean[1];
  given.data.mean_b = given.mean[2];
}

}  // namespace

int main(int argc, char** argv) {
  Given given;
  given.data.shuffle = given.data.augment.rand_crop = given.data.augment.rand_mirror = true;
  CLI::App app("Trains an image classification network.");
  declareData(app, given);
  app.add_option("--network", given.network, "network [resnet-50]");
  app.add_option("--gpus", given.gpu, "train on the GPU of this number [on the CPU]")
      ->check(CLI::Range(0, kMaxDevices - 1));
  app.add_option("--benchmark", given.benchmark, "1: one batch of synthetic images, --num-batches times [0]");
  app.add_option("--batch-size", given.batch_size, "images in a batch [32]")->check(CLI::Range(1, 4096));
  app.add_option("--num-epochs", given.epochs, "epochs [1]")->check(CLI::Range(1, 100000));
  app.add_option("--num-batches", given.batches, "batches in an epoch of synthetic images [500]")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--num-classes", given.classes, "classes [1000]")->check(CLI::Range(1, 1000000));
  app.add_option("--image-size", given.image_size, "width and height [224; 299 for inception-v3]")
      ->check(CLI::Range(8, 4096));
  app.add_option("--disp-batches", given.shown_every, "a line after so many batches [20]")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--lr", given.rate, "learning rate [0.1]")->check(CLI::NonNegativeNumber);
  app.add_option("--mom", given.momentum, "momentum [0.9]")->check(CLI::Range(0.0, 1.0));
  app.add_option("--wd", given.weight_decay, "weight decay [0.0001]")->check(CLI::NonNegativeNumber);
  app.add_option("--dtype", given.dtype,
                 "float32; float16 or bfloat16, with weights that are updated as float32 [float32]")
      ->check(CLI::IsMember({"float32", "float16", "bfloat16"}));
  app.add_option("--loss-scale", given.loss_scale,
                 "factor of the loss, by which gradients are divided again [128 with float16, else 1]")
      ->check(CLI::PositiveNumber);
  app.add_option(
      "--kv-store", given.store,
      "kind of the key-value store that sums gradients, such as dist_sync between processes [none]");
  app.add_option("--gc-type", given.compression, "compression of its gradients: none or 2bit [none]");
  app.add_option("--seed", given.seed, "of weights, images and labels [1]");
  app.add_option("--write", given.folder,
                 "also write the network as NAME-symbol.json of MXNet into this folder");
  app.add_option("--record", given.trace, "record the run into this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if ((given.benchmark == 1) == !given.data.path_imgrec.empty()) {
    fprintf(stderr, "train_imagenet: give --data-train FILE.rec, or --benchmark 1 for synthetic images\n");
    return 2;
  }
  if (!given.store.empty() && given.dtype != "float32") {
    fprintf(stderr, "train_imagenet: --kv-store sums gradients of --dtype float32 alone\n");
    return 2;
  }
  std::int64_t size = 224;
  for (const models::Model& known : models::all())
    if (given.network == known.name) size = known.image_size;
  if (given.image_size != 0) size = given.image_size;

  completeData(given, size);
  if (given.loss_scale == 0) given.loss_scale = given.dtype == "float16" ? 128 : 1;

  SessionOptions session_options;
  session_options.trace_path = given.trace;
  const auto session = must(Session::open(session_options));
  if (!must(KVStore::serve(*session))) {
    if (given.test_io == 1) {
      Input input(*session, given, {});
      testInput(*session, given, input);
      input.showProblems();
    } else {
      run(*session, given, size);
    }
  }
  must(session->finish());
}
