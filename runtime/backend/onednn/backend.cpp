// oneDNN has its own cache of primitives, by problem and by number of threads
// (ONEDNN_PRIMITIVE_CACHE_CAPACITY). The cache here is above it: it keeps whole kernels, and an evicted one
// is cheap to create again while oneDNN still has its primitives.
#include "runtime/backend/onednn/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "db/machine.h"
#include "db/try.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/reference/backend.h"
#include "runtime/backend/support/caching_backend.h"
#include "runtime/backend/support/compared_kernel.h"

namespace pitwall {
namespace onednn {

namespace {

// nullptr for an operator without a kernel here; cpu_kernels/ may have one.
KernelPtr makeKernel(const OperatorKindDesc& desc, const Request& request) {
#define PITWALL_OPERATOR(Desc) \
  if (desc.is<Desc>()) return make(desc.as<Desc>(), request);
#include "runtime/backend/onednn/kernel_list.inc"
#undef PITWALL_OPERATOR
  return nullptr;
}

// Operators whose work is proportional to the elements, and whose results do not depend on the number of threads.
bool isElementwise(const OperatorKindDesc& desc) {
  return desc.is<ActivationDesc>() || desc.is<ClipDesc>() || desc.is<BinaryDesc>() || desc.is<LinearDesc>() ||
         desc.is<ReciprocalDesc>() || desc.is<AddNDesc>() || desc.is<DropoutDesc>() ||
         desc.is<PointwiseDesc>();
}

// Kinds of one operator whose elements differ in cost have different names.
std::string tunedName(const OperatorKindDesc& desc) {
  const std::string name = operatorName(desc);
  if (desc.is<ActivationDesc>())
    return fmt::format("{} {}", name, static_cast<int>(desc.as<ActivationDesc>().type));
  if (desc.is<BinaryDesc>()) return fmt::format("{} {}", name, static_cast<int>(desc.as<BinaryDesc>().type));
  if (desc.is<PointwiseDesc>()) return fmt::format("{} {}", name, desc.as<PointwiseDesc>().toString());
  return name;
}

// The shortest of several runs on one thread.
double secondsOf(const Kernel& kernel) {
  std::vector<std::vector<float>> arrays;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  const auto make = [&arrays](const TensorSpec& spec) -> float* {
    arrays.emplace_back(static_cast<std::size_t>(spec.sizeBytes()) / sizeof(float) + 1, 0.5F);
    return arrays.back().data();
  };
  for (const TensorSpec& spec : kernel.inputs()) inputs.push_back(make(spec));
  for (const TensorSpec& spec : kernel.outputs()) outputs.push_back(make(spec));
  std::vector<float> workspace(static_cast<std::size_t>(kernel.workspaceBytes()) / sizeof(float) + 1);
  const KernelArgs args{.inputs = inputs, .outputs = outputs, .context = {.workspace = workspace.data()}};
  double best = 0;
  for (int i = 0; i < 6; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!kernel.run(args).has_value()) return 0;
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i == 0 || took < best) best = took;
  }
  return best;
}

// Where a setting asks for the loops of the reference backend.
bool isPlain(const OperatorKindDesc& desc, const BackendOptions& options) {
  if (desc.is<RnnDesc>()) return !options.library_rnn;
  return options.safe_accumulation && (desc.is<SoftmaxDesc>() || desc.is<LayerNormDesc>());
}

class OnednnBackend final : public CachingBackend {
 public:
  explicit OnednnBackend(const BackendOptions& options)
      : CachingBackend(options),
        engine_(dnnl::engine::kind::cpu, 0),
        tuning_(options.tuning),
        choices_(options.kernel_choices_file, machine()) {}
  std::string_view name() const override { return "onednn"; }
  std::string libraryVersion() const override { return versionOfLibrary(); }

  // 255 * 64 * 2 is a number of 16 bits. oneDNN halves the weights of a convolution on int8 data itself.
  // https://oneapi-src.github.io/oneDNN/dev_guide_int8_computations.html
  WeightCodes weightCodes(const OperatorKindDesc& desc, DType data) const override {
    if (!addsProductsIn16Bits()) return {};
    if (desc.is<QuantizedConvolutionDesc>() && data == DType::int8) return {.largest = 126, .step = 2};
    return {.largest = 64, .step = 1};
  }

 private:
  static bool addsProductsIn16Bits() {
    const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto has = [isa](dnnl::cpu_isa other) {
      return (isa & static_cast<unsigned>(other)) == static_cast<unsigned>(other);
    };
    return has(dnnl::cpu_isa::sse41) && !has(dnnl::cpu_isa::avx512_core_vnni) &&
           !has(dnnl::cpu_isa::avx2_vnni);
  }
  static std::string versionOfLibrary() {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
  }
  // What a measured choice depends on besides the problem.
  static std::string machine() {
    return fmt::format("{}, oneDNN {}, instruction set {:#x}", cpuModel(), versionOfLibrary(),
                       static_cast<int>(dnnl::get_effective_cpu_isa()));
  }

  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override {
    Signature signature = PITWALL_TRY(inferSignature(desc, pass, inputs, like));
    if (isPlain(desc, options_)) return reference::makeKernel(desc, pass, std::move(signature));
    const Signature rows = signature;
    KernelPtr kernel = PITWALL_TRY(createFast(desc, pass, inputs, like, std::move(signature)));
    if (!options_.compares || kernel == nullptr || desc.is<ReorderDesc>() || desc.is<CastDesc>())
      return kernel;
    return compared(kernel, desc, pass, rows);
  }

  // A kernel that checks itself; the kernel alone where the reference backend cannot compute the same.
  Result<KernelPtr> compared(const KernelPtr& kernel, const OperatorKindDesc& desc, Pass pass,
                             const Signature& rows) {
    const auto isFloat = [](const TensorSpec& spec) { return spec.dtype == DType::float32; };
    const KernelPtr plain = reference::makeKernel(desc, pass, rows);
    if (plain == nullptr || !std::ranges::all_of(rows.inputs, isFloat)) return kernel;
    ComparedKernels all{kernel, plain, {}, {}, describeRequest(desc, pass, rows.inputs, nullptr)};
    const OperatorKindDesc to_rows = ReorderDesc{nullptr};
    for (const auto& [specs, reorders] : {std::pair(&kernel->inputs(), &all.input_reorders),
                                          std::pair(&kernel->outputs(), &all.output_reorders)}) {
      for (const TensorSpec& spec : *specs) {
        reorders->push_back(nullptr);
        if (spec.layout == nullptr || !isFloat(spec)) continue;
        Signature signature = PITWALL_TRY(inferSignature(to_rows, Pass::forward, {&spec, 1}, nullptr));
        reorders->back() =
            PITWALL_TRY(createFast(to_rows, Pass::forward, {&spec, 1}, nullptr, std::move(signature)));
      }
    }
    return compareKernels(std::move(all));
  }

  Result<KernelPtr> createFast(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                               const TensorSpec* like, Signature signature) {
    return createFast(desc, pass, inputs, like, std::move(signature), tuned(desc, pass, inputs.size()));
  }

  // The options with the numbers of elements from which on the operator is faster on several threads.
  BackendOptions tuned(const OperatorKindDesc& desc, Pass pass, std::size_t inputs) {
    BackendOptions options = options_;
    if (!tuning_.isOn() || !isElementwise(desc)) return options;
    const std::string name = fmt::format("{} {}", tunedName(desc), toString(pass));
    const std::int64_t from =
        tuning_.parallelFrom(name, [&] { return elementNanoseconds(desc, pass, inputs); });
    if (from == 0) return options;
    options.library_parallel_elements = from;
    if (!options.fixed_parallel_elements) options.parallel_elements = from;
    return options;
  }

  // The kernel's time for an element, on one thread. 0 where it has none.
  double elementNanoseconds(const OperatorKindDesc& desc, Pass pass, std::size_t inputs) {
    constexpr std::int64_t kElements = 65536;
    const std::vector<TensorSpec> specs(inputs, TensorSpec{.shape = {kElements}});
    auto signature = inferSignature(desc, pass, specs, nullptr);
    if (!signature.has_value()) return 0;
    BackendOptions alone = options_;
    alone.parallel_elements = alone.library_parallel_elements = 2 * kElements;
    const auto kernel = createFast(desc, pass, specs, nullptr, std::move(*signature), alone);
    if (!kernel.has_value() || *kernel == nullptr) return 0;
    return secondsOf(**kernel) * 1e9 / kElements;
  }

  Result<KernelPtr> createFast(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                               const TensorSpec* like, Signature signature, const BackendOptions& options) {
    if (KernelPtr kernel = cpu_kernels::makeKernel(desc, pass, inputs, signature, options)) return kernel;
    const Request request{engine_,
                          options,
                          pass,
                          inputs,
                          like,
                          std::move(signature),
                          options_.measure_kernels ? &choices_ : nullptr};
    try {
      return makeKernel(desc, request);
    } catch (const std::exception& error) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("oneDNN has no {}: {}", describeRequest(desc, pass, inputs, like), error.what()));
    }
  }

  const dnnl::engine engine_;
  OperatorTuning tuning_;
  KernelChoices choices_;
};

}  // namespace

int rankOf(std::string_view implementation) {
  if (implementation.starts_with("ref") || implementation.starts_with("simple")) return 0;
  return implementation.find("gemm:") != implementation.npos && !implementation.starts_with("brgemm") ? 1 : 2;
}

}  // namespace onednn

std::unique_ptr<Backend> makeOnednnBackend(const BackendOptions& options) {
  return std::make_unique<onednn::OnednnBackend>(options);
}

}  // namespace pitwall
