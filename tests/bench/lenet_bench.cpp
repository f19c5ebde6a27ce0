// What a LeNet training step costs beside its mathematics, batch 64 of generated digits:
//  - time outside oneDNN's primitives, as a share of the iteration: to stay below 10 %;
//  - what recording adds to the iteration: to stay below 2 %.
//
// Methods. Primitives: a child process runs the same steps with oneDNN's own verbose log, whose execution
// times are summed for each iteration; the iteration's length comes from a child without the log, run right
// after it; of each the 10th percentile is taken, as other programs only ever lengthen a step. Recording:
// blocks of steps in one process with the recorder on and off in turn. Each figure is the median of paired
// runs, with the quartiles.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "db/store.h"
#include "runtime/pitwall.h"

using namespace pitwall;

namespace {

constexpr double kUndisturbed = 0.1;  // of a child's steps, the tenth that other programs disturbed least
constexpr int kBatch = 64, kWarmUp = 10, kChildSteps = 40, kChildPairs = 7, kBlockSteps = 40,
              kBlockPairs = 15;

template <class T>
T must(Result<T> result) {
  if (!result.has_value()) {
    std::fprintf(stderr, "lenet_bench: %s\n", result.error().message.c_str());
    std::exit(2);
  }
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The network of the sample, with one batch that is used again and again: no data work in the way.
class LeNet {
 public:
  explicit LeNet(Session& session) : session_(session), optimizer_({}, {}) {
    net_.add(nn::Conv2D("conv1", {.channels = 20, .kernel = {5, 5}}));
    net_.add(nn::Activation("relu1", ActivationType::relu)).add(nn::MaxPool2D("pool1"));
    net_.add(nn::Conv2D("conv2", {.channels = 50, .kernel = {5, 5}}));
    net_.add(nn::Activation("relu2", ActivationType::relu)).add(nn::MaxPool2D("pool2"));
    net_.add(nn::Dense("dense1", {.units = 512})).add(nn::Activation("relu3", ActivationType::relu));
    net_.add(nn::Dense("dense2", {.units = 10}));
    optimizer_ = Sgd(net_.parameters(), {.rate = 0.01F});
    const data::ImageDataset digits = data::syntheticDigits(kBatch, 1);
    auto batches = must(data::makeBatches(session, digits, {.batch_size = kBatch}));
    must(batches->next(batch_));
  }

  void step() {
    session_.markIteration(kBatch);
    const NDArray images = NDArray::fromValues(session_, batch_.image_shape, batch_.images);
    const NDArray labels = NDArray::fromValues(session_, {kBatch}, batch_.labels);
    const NDArray loss =
        must(autograd::record([&] { return loss_.forward(must(net_.forward(images)), labels); }));
    must(autograd::backward(loss));
    must(optimizer_.step(kBatch));
    must(nn::mean(loss));
    must(session_.engine().waitForAll());  // the update too belongs to this iteration
  }

 private:
  Session& session_;
  nn::Sequential net_;
  nn::SoftmaxCrossEntropy loss_;
  Sgd optimizer_;
  data::Batch batch_;
};

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0
                        : values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}
double median(const std::vector<double>& values) { return quantile(values, 0.5); }

// --- the child: steps with a line after each, between which oneDNN's log appears -------------------------

int runChild() {
  auto session = must(Session::open({.trace_path = "", .backend = "onednn", .settings = {}}));
  LeNet lenet(*session);
  for (int i = 0; i < kWarmUp; ++i) lenet.step();
  std::printf("begin\n");
  for (int i = 0; i < kChildSteps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    lenet.step();
    std::printf("iteration %.9f\n", secondsSince(start));
    std::fflush(stdout);
  }
  return 0;
}

struct ChildResult {
  std::vector<double> iteration_seconds, primitive_seconds;
};

ChildResult readChild(bool verbose, const std::string& self) {
  const std::string command =
      std::string("DNNL_VERBOSE=") + (verbose ? "1" : "0") + " '" + self + "' --child";
  std::FILE* pipe = popen(command.c_str(), "r");
  ChildResult result;
  if (pipe == nullptr) return result;
  char line[4096];
  bool begun = false;
  double primitives_ms = 0;
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (std::strncmp(line, "begin", 5) == 0) begun = true;
    if (!begun) continue;
    if (std::strstr(line, "_verbose,exec,") != nullptr)
      primitives_ms += std::atof(std::strrchr(line, ',') + 1);
    if (std::strncmp(line, "iteration ", 10) != 0) continue;
    result.iteration_seconds.push_back(std::atof(line + 10));
    result.primitive_seconds.push_back(primitives_ms / 1e3);
    primitives_ms = 0;
  }
  pclose(pipe);
  return result;
}

bool reportPrimitives(const std::string& self) {
  std::vector<double> shares, iterations, primitives;
  for (int pair = 0; pair < kChildPairs; ++pair) {
    const ChildResult logged = readChild(true, self), plain = readChild(false, self);
    if (logged.primitive_seconds.empty() || plain.iteration_seconds.empty()) return false;
    const double inside = quantile(logged.primitive_seconds, kUndisturbed);
    const double whole = quantile(plain.iteration_seconds, kUndisturbed);
    if (inside == 0) return false;
    iterations.push_back(whole * 1e6);
    primitives.push_back(inside * 1e6);
    shares.push_back(100 * (1 - inside / whole));
  }
  std::printf(
      "iteration %.0f us, inside oneDNN primitives %.0f us (medians over %d paired runs of the "
      "10th percentile of %d steps)\n",
      median(iterations), median(primitives), kChildPairs, kChildSteps);
  std::printf("outside primitives %.1f %% of the iteration (quartiles %.1f .. %.1f; to stay below 10)\n",
              median(shares), quantile(shares, 0.25), quantile(shares, 0.75));
  return true;
}

// --- recording on against off, in one process -------------------------------------------------------------

double blockSeconds(LeNet& lenet) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kBlockSteps; ++i) lenet.step();
  return secondsSince(start);
}

void reportRecording() {
  const auto file =
      std::filesystem::temp_directory_path() / ("lenet_bench_" + std::to_string(getpid()) + ".pitwall");
  auto session = must(Session::open());
  LeNet lenet(*session);
  for (int i = 0; i < kWarmUp; ++i) lenet.step();
  std::vector<double> costs;
  for (int pair = 0; pair < kBlockPairs; ++pair) {
    double seconds[2] = {0, 0};  // off, on
    for (int turn = 0; turn < 2; ++turn) {
      const bool recording = (pair + turn) % 2 == 1;  // who goes first alternates
      if (recording) must(session->profiler().start(must(createTrace(file.string()))));
      seconds[recording ? 1 : 0] = blockSeconds(lenet);
      if (recording) must(session->profiler().stop());
      std::filesystem::remove(file);
    }
    costs.push_back(100 * (seconds[1] / seconds[0] - 1));
  }
  std::printf(
      "recording adds %.2f %% (quartiles %.2f .. %.2f, %d paired blocks of %d steps; to stay below 2)\n",
      median(costs), quantile(costs, 0.25), quantile(costs, 0.75), kBlockPairs, kBlockSteps);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--child") == 0) return runChild();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("LeNet, batch %d\n", kBatch);
  if (!reportPrimitives(std::filesystem::read_symlink("/proc/self/exe").string()))
    std::printf("no oneDNN log could be read: this build has no oneDNN backend or its log is off\n");
  reportRecording();
}
