// The device's kernels as loops of the host.
#include <cmath>

#include "db/try.h"
#include "runtime/backend/gpu_kernels/batch_norm.h"
#include "runtime/backend/gpu_kernels/combine.h"
#include "runtime/backend/gpu_kernels/elementwise.h"
#include "runtime/backend/gpu_kernels/keep_layout.h"
#include "runtime/backend/gpu_kernels/layer_norm.h"
#include "runtime/backend/gpu_kernels/lrn.h"
#include "runtime/backend/gpu_kernels/move.h"
#include "runtime/backend/gpu_kernels/operator_list.h"
#include "runtime/backend/gpu_kernels/pointwise.h"
#include "runtime/backend/gpu_kernels/pooling.h"
#include "runtime/backend/gpu_kernels/products.h"
#include "runtime/backend/gpu_kernels/quantized_convolution.h"
#include "runtime/backend/gpu_kernels/quantized_elementwise.h"
#include "runtime/backend/gpu_kernels/rnn.h"
#include "runtime/backend/gpu_kernels/rows.h"
#include "runtime/backend/gpu_kernels/shift_gradient.h"
#include "runtime/backend/gpu_kernels/short_types.h"
#include "runtime/backend/gpu_kernels/two_bit.h"
#include "runtime/backend/gpu_kernels/updates.h"
#include "runtime/backend/support/caching_backend.h"
#include "tests/runtime/gpu/fake_gpu.h"

namespace pitwall::test {
namespace {

struct HostTeam {
  template <class Map>
  double sum(std::int64_t n, Map map) {
    double all = 0;
    for (std::int64_t i = 0; i < n; ++i) all += map(i);
    return all;
  }
  template <class Map>
  float largest(std::int64_t n, Map map) {
    float all = -INFINITY;
    for (std::int64_t i = 0; i < n; ++i) all = gpu_kernels::larger(all, map(i));
    return all;
  }
  template <class F>
  void each(std::int64_t n, F f) {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }
  bool isFirst() const { return true; }
};

class HostLaunch {
 public:
  explicit HostLaunch(const KernelContext& context) : stream_(context.stream) {}
  template <class F>
  void each(std::int64_t n, const F& f) {
    run([n, f] {
      for (std::int64_t i = 0; i < n; ++i) f(i);
    });
  }
  template <class E, class F>
  void map(std::int64_t n, E* to, const F& f) {
    run([n, to, f] {
      for (std::int64_t i = 0; i < n; ++i) to[i] = gpu_kernels::stored<E>(f(i));
    });
  }
  template <class F>
  void rows(std::int64_t rows, std::int64_t, const F& f) {
    run([rows, f] {
      HostTeam team;
      for (std::int64_t row = 0; row < rows; ++row) f(team, row);
    });
  }
  template <class F>
  void columns(const gpu_kernels::ColumnPlan& plan, const F& f) {
    run([plan, f] {
      for (std::int64_t part = 0; part < plan.parts; ++part)
        for (std::int64_t column = 0; column < plan.columns; ++column) sumColumn(plan, f, part, column);
    });
  }
  Status status() const { return {}; }

 private:
  template <class F>
  static void sumColumn(const gpu_kernels::ColumnPlan& plan, const F& f, std::int64_t part,
                        std::int64_t column) {
    const auto own = f.of(column);
    double all[F::kWidth][F::kSums] = {};
    for (std::int64_t row = part; row < plan.rows; row += plan.parts) {
      typename F::Few sums[F::kSums][F::kWidth] = {};
      f.add(own, f.read(row, column), sums);
      for (int s = 0; s < F::kSums; ++s)
        for (int k = 0; k < F::kWidth; ++k) all[k][s] += static_cast<double>(sums[s][k]);
    }
    for (int k = 0; k < F::kWidth; ++k) f.done(part, column * F::kWidth + k, all[k]);
  }
  void run(std::function<void()> work) {
    if (stream_ == nullptr) return work();
    FakeGpuDriver::enqueue(stream_, std::move(work));
  }
  GpuStream stream_;
};

gpu_kernels::GpuFunction makeFunction(const OperatorKindDesc& desc, Pass pass, Signature& signature) {
#define PITWALL_MAKE(Desc) \
  if (desc.is<Desc>()) return gpu_kernels::make<HostLaunch>(desc.as<Desc>(), pass, signature);
  PITWALL_GPU_OPERATORS(PITWALL_MAKE)
#undef PITWALL_MAKE
  return {};
}

// Without a stream, as the tests of backends run kernels, a problem is an error of the run.
class HostGpuKernel final : public Kernel {
 public:
  HostGpuKernel(Signature signature, gpu_kernels::GpuFunction function)
      : kernel_(std::move(signature), "host", std::move(function)) {
    inputs_ = kernel_.inputs();
    outputs_ = kernel_.outputs();
    workspace_bytes_ = kernel_.workspaceBytes();
    implementation_ = kernel_.implementation();
  }
  Status run(const KernelArgs& args) const override {
    if (args.context.stream != nullptr) return kernel_.run(args);
    KernelArgs own = args;
    GpuProblem problem;
    own.context.problem = &problem;
    PITWALL_TRY(kernel_.run(own));
    return problem.code == 0 ? Status() : kernel_.explain(problem);
  }
  bool reportsProblems() const override { return kernel_.reportsProblems(); }
  Status explain(const GpuProblem& problem) const override { return kernel_.explain(problem); }

 private:
  const gpu_kernels::GpuFunctionKernel kernel_;
};

class HostGpuBackend final : public CachingBackend {
 public:
  HostGpuBackend() : CachingBackend(BackendOptions{}) {}
  std::string_view name() const override { return "host_gpu"; }

 private:
  bool computes16Bits(const OperatorKindDesc& desc, Pass pass,
                      std::span<const TensorSpec> inputs) const override {
    return gpu_kernels::computes16Bits(desc, pass, inputs);
  }
  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override {
    Signature signature = PITWALL_TRY(inferSignature(desc, pass, inputs, like));
    gpu_kernels::keepLayout(desc, pass, inputs, signature);
    gpu_kernels::GpuFunction function = makeFunction(desc, pass, signature);
    if (!function.run) return KernelPtr();
    return KernelPtr(std::make_shared<HostGpuKernel>(std::move(signature), std::move(function)));
  }
};

}  // namespace

std::unique_ptr<Backend> makeHostGpuBackend() { return std::make_unique<HostGpuBackend>(); }

}  // namespace pitwall::test
