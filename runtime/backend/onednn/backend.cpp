// oneDNN has its own cache of primitives, by problem and by number of threads
// (ONEDNN_PRIMITIVE_CACHE_CAPACITY). The cache here is above it: it keeps whole kernels, and an evicted one
// is cheap to create again while oneDNN still has its primitives.
#include "runtime/backend/onednn/backend.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/support/caching_backend.h"

namespace pitwall {
namespace onednn {

// An operator without an overload in operators.h has no kernel here; cpu_kernels/ may have one.
template <class D>
static KernelPtr make(const D&, const Request&) {
  return nullptr;
}

namespace {

class OnednnBackend final : public CachingBackend {
 public:
  explicit OnednnBackend(const BackendOptions& options)
      : CachingBackend(options), engine_(dnnl::engine::kind::cpu, 0) {}
  std::string_view name() const override { return "onednn"; }
  std::string libraryVersion() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
  }

 private:
  Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                           const TensorSpec* like) override {
    Signature signature = PITWALL_TRY(inferSignature(desc, pass, inputs, like));
    if (KernelPtr kernel = cpu_kernels::makeKernel(desc, pass, inputs, signature, options_)) return kernel;
    const Request request{engine_, pass, inputs, like, std::move(signature)};
    try {
      return std::visit([&](const auto& d) { return make(d, request); }, desc);
    } catch (const std::exception& error) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("oneDNN has no {}: {}", describeRequest(desc, pass, inputs, like), error.what()));
    }
  }

  const dnnl::engine engine_;
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
