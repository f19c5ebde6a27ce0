// For a toolkit without cuDNN's headers.
#include "runtime/backend/cuda/libraries.h"

namespace pitwall::cuda {
namespace {

class NoLibraries final : public Libraries {
 public:
  Result<KernelPtr> make(const OperatorKindDesc&, Pass, const Signature&) override { return KernelPtr(); }
  std::string version() const override { return {}; }
};

}  // namespace

std::unique_ptr<Libraries> openLibraries(const CudaOptions&) { return std::make_unique<NoLibraries>(); }

}  // namespace pitwall::cuda
