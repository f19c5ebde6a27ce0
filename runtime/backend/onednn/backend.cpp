// oneDNN has its own cache of primitives, by problem and by number of threads
// (ONEDNN_PRIMITIVE_CACHE_CAPACITY). The cache here is above it: it keeps whole kernels, and an evicted one
// is cheap to create again while oneDNN still has its primitives.
#include "runtime/backend/onednn/backend.h"

#include <fmt/format.h>

#include "db/machine.h"
#include "db/try.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/support/caching_backend.h"

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

class OnednnBackend final : public CachingBackend {
 public:
  explicit OnednnBackend(const BackendOptions& options)
      : CachingBackend(options),
        engine_(dnnl::engine::kind::cpu, 0),
        choices_(options.kernel_choices_file, machine()) {}
  std::string_view name() const override { return "onednn"; }
  std::string libraryVersion() const override { return versionOfLibrary(); }

 private:
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
    if (KernelPtr kernel = cpu_kernels::makeKernel(desc, pass, inputs, signature, options_)) return kernel;
    const Request request{engine_,
                          options_,
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
