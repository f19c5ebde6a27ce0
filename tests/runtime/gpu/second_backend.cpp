#include "tests/runtime/gpu/second_backend.h"

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "db/try.h"
#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/gpu/short_backend.h"

namespace pitwall::test {
namespace {

std::string_view nameOfSecond() {
  const char* const name = std::getenv("PITWALL_TEST_BACKEND");
  return name == nullptr ? "onednn" : name;
}

// Device memory for one run.
class Buffers {
 public:
  explicit Buffers(GpuDriver& driver) : driver_(driver) {}
  ~Buffers() {
    for (void* const data : all_) driver_.free(0, data);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  Result<void*> take(Bytes size) {
    void* const data = driver_.allocate(0, size > 0 ? size : 1);
    if (data == nullptr) return fail(ErrorCode::io, "no memory on the GPU for a test");
    all_.push_back(data);
    return data;
  }

 private:
  GpuDriver& driver_;
  std::vector<void*> all_;
};

// Runs a kernel of a GPU on arrays of the host: copies them there and back.
class OnGpuKernel final : public Kernel {
 public:
  OnGpuKernel(KernelPtr kernel, GpuDriver& driver, GpuStream stream)
      : kernel_(std::move(kernel)), driver_(driver), stream_(stream) {
    inputs_ = kernel_->inputs();
    outputs_ = kernel_->outputs();
    implementation_ = kernel_->implementation();
  }
  Status run(const KernelArgs& args) const override {
    Buffers buffers(driver_);
    std::map<const void*, void*> places;  // an array that is given twice is one
    std::vector<const void*> from;
    std::vector<void*> to;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      to.push_back(PITWALL_TRY(placeOf(args.outputs[i], outputs_[i].sizeBytes(), places, buffers)));
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      from.push_back(PITWALL_TRY(placeOf(args.inputs[i], inputs_[i].sizeBytes(), places, buffers)));
    KernelArgs there = args;
    there.inputs = from;
    there.outputs = to;
    there.context.stream = stream_;
    there.context.workspace = PITWALL_TRY(buffers.take(kernel_->workspaceBytes()));
    auto* const problem = static_cast<GpuProblem*>(driver_.allocatePinned(0, sizeof(GpuProblem)));
    *problem = {};
    there.context.problem = problem;
    Status status = kernel_->run(there);
    for (std::size_t i = 0; status.has_value() && i < outputs_.size(); ++i)
      status = driver_.copy(args.outputs[i], to[i], outputs_[i].sizeBytes(), stream_);
    if (status.has_value()) status = driver_.synchronize(stream_);
    if (status.has_value() && problem->code != 0) status = kernel_->explain(*problem);
    driver_.freePinned(problem);
    return status;
  }

 private:
  Result<void*> placeOf(const void* host, Bytes bytes, std::map<const void*, void*>& places,
                        Buffers& buffers) const {
    if (host == nullptr) return nullptr;
    void*& place = places[host];
    if (place != nullptr) return place;
    place = PITWALL_TRY(buffers.take(bytes));
    PITWALL_TRY(driver_.copy(place, host, bytes, stream_));
    return place;
  }
  const KernelPtr kernel_;
  GpuDriver& driver_;
  const GpuStream stream_;
};

class OnGpuBackend final : public Backend {
 public:
  static Result<std::unique_ptr<Backend>> open() {
    auto platform = PITWALL_TRY(openGpuPlatform());
    PITWALL_TRY(platform->driver().deviceCount());
    PITWALL_TRY(platform->driver().use(0));
    // In 32 bits, as the reference computes; what is chosen is not kept.
    const std::vector<std::pair<std::string, std::string>> exact{{"MXNET_CUDA_ALLOW_TENSOR_CORE", "0"},
                                                                 {"PITWALL_KERNEL_CHOICES", "/dev/null"}};
    auto backend = PITWALL_TRY(platform->openBackend(PITWALL_TRY(Settings::fromValues(exact))));
    const GpuStream stream = PITWALL_TRY(platform->driver().createStream());
    return std::unique_ptr<Backend>(new OnGpuBackend(std::move(platform), std::move(backend), stream));
  }
  ~OnGpuBackend() override { platform_->driver().destroyStream(stream_); }
  std::string_view name() const override { return backend_->name(); }
  CacheUsage cacheUsage() const override { return backend_->cacheUsage(); }
  Result<KernelPtr> prepare(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                            const TensorSpec* like) override {
    KernelPtr kernel = PITWALL_TRY(backend_->prepare(desc, pass, inputs, like));
    return KernelPtr(std::make_shared<OnGpuKernel>(std::move(kernel), platform_->driver(), stream_));
  }

 private:
  OnGpuBackend(std::shared_ptr<GpuPlatform> platform, std::unique_ptr<Backend> backend, GpuStream stream)
      : platform_(std::move(platform)), backend_(std::move(backend)), stream_(stream) {}
  const std::shared_ptr<GpuPlatform> platform_;
  const std::unique_ptr<Backend> backend_;
  const GpuStream stream_;
};

}  // namespace

bool secondIsOnednn() { return nameOfSecond() == "onednn"; }

static Result<std::unique_ptr<Backend>> openNamed(std::string_view name) {
  if (name == "host_gpu") return makeHostGpuBackend();
  if (name == "cuda") return OnGpuBackend::open();
  const std::vector<std::pair<std::string, std::string>> none;
  const Settings settings = PITWALL_TRY(Settings::fromValues(none));
  return openBackend(name, settings);
}

Result<std::unique_ptr<Backend>> openSecondBackend() {
  auto backend = PITWALL_TRY(openNamed(nameOfSecond()));
  if (const auto type = testedShortType()) backend = makeShortBackend(std::move(backend), *type);
  return backend;
}

}  // namespace pitwall::test
