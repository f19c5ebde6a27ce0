// The operators of a LeNet training step, batch 64, on the onednn backend: time of each kernel alone, and the
// overhead of a kernel without computation (finding it, binding its arrays, entering the library). The last
// line compares the second with the first.
//
// Usage: operators_bench [BATCH]. Single threaded; medians of interleaved repetitions.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/operators.h"

namespace pitwall {
namespace {

using Clock = std::chrono::steady_clock;

// A kernel with its arrays; their values do not affect its speed, but are small numbers.
struct Workload {
  std::string name;
  OperatorKindDesc desc;
  Pass pass;
  std::vector<TensorSpec> specs;
  std::shared_ptr<TensorSpec> like;
  KernelPtr kernel;
  std::shared_ptr<std::byte> workspace;
  std::vector<std::shared_ptr<std::byte>> memory;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::vector<double> samples_ns = {};

  void run() const {
    const Status status = kernel->run(
        {.inputs = inputs, .outputs = outputs, .rate = 0.01F, .context = {.workspace = workspace.get()}});
    if (!status.has_value()) fmt::print(stderr, "{}: {}\n", name, status.error().message);
  }
  double medianNs() {
    std::ranges::sort(samples_ns);
    return samples_ns[samples_ns.size() / 2];
  }
};

std::shared_ptr<std::byte> zeros(Bytes size) {
  const auto rounded = static_cast<std::size_t>((size + 127) / 64 * 64);
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(std::aligned_alloc(64, rounded)), std::free);
  std::fill_n(memory.get(), rounded, std::byte{0});
  return memory;
}

// Builds the operators one by one; each returns the specs of its outputs.
class Step {
 public:
  explicit Step(Backend& backend) : backend_(backend) {}

  std::vector<TensorSpec> add(std::string name, const OperatorKindDesc& desc, Pass pass,
                              std::vector<TensorSpec> inputs, const TensorSpec* like = nullptr) {
    Workload w{.name = std::move(name),
               .desc = desc,
               .pass = pass,
               .specs = inputs,
               .like = like != nullptr ? std::make_shared<TensorSpec>(*like) : nullptr,
               .kernel = backend_.prepare(desc, pass, inputs, like).value(),
               .workspace = nullptr,
               .memory = {},
               .inputs = {},
               .outputs = {}};
    // A reorder before the kernel is a separate operator, as in a program.
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const LayoutPtr& wanted = w.kernel->inputs()[i].layout;
      const bool is_parameter = inputs[i].shape.rank() == 2 && pass != Pass::backwardData && i == 1;
      if (sameLayout(wanted, inputs[i].layout) || is_parameter) continue;
      if (desc.is<ConvolutionDesc>() && i == 1 && pass == Pass::forward) continue;
      add("  reorder before " + w.name, ReorderDesc{wanted}, Pass::forward, {inputs[i]});
    }
    for (const TensorSpec& spec : w.kernel->inputs()) {
      w.memory.push_back(zeros(spec.sizeBytes()));
      w.inputs.push_back(w.memory.back().get());
    }
    for (const TensorSpec& spec : w.kernel->outputs()) {
      w.memory.push_back(zeros(spec.sizeBytes()));
      w.outputs.push_back(w.memory.back().get());
    }
    w.workspace = zeros(w.kernel->workspaceBytes());
    workloads_.push_back(std::move(w));
    return workloads_.back().kernel->outputs();
  }
  TensorSpec weightOf(std::size_t workload) const { return workloads_[workload].kernel->inputs()[1]; }
  std::size_t last() const { return workloads_.size() - 1; }
  std::vector<Workload>& workloads() { return workloads_; }

 private:
  Backend& backend_;
  std::vector<Workload> workloads_;
};

void addLenet(Step& step, std::int64_t batch) {
  const ConvolutionDesc conv1{.kernel = {5, 5}, .channels = 20}, conv2{.kernel = {5, 5}, .channels = 50};
  const FullyConnectedDesc dense1{.units = 512}, dense2{.units = 10};
  const ActivationDesc relu{};
  const PoolingDesc pool{};
  const TensorSpec data{{batch, 1, 28, 28}}, label{{batch}};

  const auto c1 = step.add("conv1 forward", conv1, Pass::forward, {data, {{20, 1, 5, 5}}, {{20}}});
  const TensorSpec w1 = step.weightOf(step.last());
  const auto r1 = step.add("relu1 forward", relu, Pass::forward, {c1[0]});
  const auto p1 = step.add("pool1 forward", pool, Pass::forward, {r1[0]});
  const auto c2 = step.add("conv2 forward", conv2, Pass::forward, {p1[0], {{50, 20, 5, 5}}, {{50}}});
  const TensorSpec w2 = step.weightOf(step.last());
  const auto r2 = step.add("relu2 forward", relu, Pass::forward, {c2[0]});
  const auto p2 = step.add("pool2 forward", pool, Pass::forward, {r2[0]});
  const auto d1 = step.add("dense1 forward", dense1, Pass::forward, {p2[0], {{512, 800}}, {{512}}});
  const TensorSpec w3 = step.weightOf(step.last());
  const auto r3 = step.add("relu3 forward", relu, Pass::forward, {d1[0]});
  const auto d2 = step.add("dense2 forward", dense2, Pass::forward, {r3[0], {{10, 512}}, {{10}}});
  const TensorSpec w4 = step.weightOf(step.last());
  const auto loss = step.add("loss forward", SoftmaxCrossEntropyDesc{}, Pass::forward, {d2[0], label});

  const auto g0 =
      step.add("loss backward", SoftmaxCrossEntropyDesc{}, Pass::backward, {loss[1], label, loss[0]});
  const auto dw4 = step.add("dense2 weights", dense2, Pass::backwardWeights, {r3[0], g0[0]}, &w4);
  const auto g1 = step.add("dense2 data", dense2, Pass::backwardData, {g0[0], w4}, &r3[0]);
  const auto g2 = step.add("relu3 backward", relu, Pass::backward, {d1[0], r3[0], g1[0]});
  const auto dw3 = step.add("dense1 weights", dense1, Pass::backwardWeights, {p2[0], g2[0]}, &w3);
  const auto g3 = step.add("dense1 data", dense1, Pass::backwardData, {g2[0], w3}, &p2[0]);
  const auto g4 = step.add("pool2 backward", pool, Pass::backward, {r2[0], p2[0], g3[0], p2[1]});
  const auto g5 = step.add("relu2 backward", relu, Pass::backward, {c2[0], r2[0], g4[0]});
  const auto dw2 = step.add("conv2 weights", conv2, Pass::backwardWeights, {p1[0], g5[0]}, &w2);
  const auto g6 = step.add("conv2 data", conv2, Pass::backwardData, {g5[0], w2}, &p1[0]);
  const auto g7 = step.add("pool1 backward", pool, Pass::backward, {r1[0], p1[0], g6[0], p1[1]});
  const auto g8 = step.add("relu1 backward", relu, Pass::backward, {c1[0], r1[0], g7[0]});
  const auto dw1 = step.add("conv1 weights", conv1, Pass::backwardWeights, {data, g8[0]}, &w1);
  std::vector<TensorSpec> gradients;
  for (const auto* g : {&dw1, &dw2, &dw3, &dw4}) gradients.insert(gradients.end(), g->begin(), g->end());
  step.add("sgd", SgdDesc{.momentum = 0.9F}, Pass::forward, gradients);
}

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

template <class Function>
double medianOf(int repetitions, Function function) {
  std::vector<double> samples;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    for (int k = 0; k < 100; ++k) function();
    samples.push_back(nanoseconds(Clock::now() - start) / 100);
  }
  std::ranges::sort(samples);
  return samples[samples.size() / 2];
}

int benchmark(std::int64_t batch) {
  omp_set_num_threads(1);
  const auto settings = Settings::fromValues({});
  const auto backend = openBackend("onednn", *settings).value();
  Step step(*backend);
  addLenet(step, batch);
  for (int i = 0; i < 15; ++i) {
    for (Workload& w : step.workloads()) {
      const auto start = Clock::now();
      w.run();
      if (i > 0) w.samples_ns.push_back(nanoseconds(Clock::now() - start));
    }
  }
  double total = 0, prepare = 0;
  for (Workload& w : step.workloads()) {
    total += w.medianNs();
    const double found =
        medianOf(21, [&] { return backend->prepare(w.desc, w.pass, w.specs, w.like.get()).has_value(); });
    prepare += found;
    fmt::print("{:36} {:>9.1f} us   found in {:>4.0f} ns   {}\n", w.name, w.medianNs() / 1e3, found,
               w.kernel->implementation());
  }
  Step empty(*backend);
  empty.add("relu of one element", ActivationDesc{}, Pass::forward, {{{1}}});
  const double fixed = medianOf(101, [&] { empty.workloads()[0].run(); });
  const auto count = static_cast<double>(step.workloads().size());
  fmt::print(
      "\nall {} kernels {:.1f} us; a run with nothing to do {:.0f} ns, a lookup {:.0f} ns: {:.2f} % of the "
      "step\n",
      step.workloads().size(), total / 1e3, fixed, prepare / count, 100 * (fixed * count + prepare) / total);
  return 0;
}

}  // namespace
}  // namespace pitwall

int main(int argc, char** argv) {
  return pitwall::benchmark(argc > 1 ? std::max(1, std::atoi(argv[1])) : 64);
}
