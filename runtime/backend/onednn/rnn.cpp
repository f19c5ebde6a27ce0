// Recurrent networks over oneDNN's matrix product: the parameters stay as they are in memory, where oneDNN's own primitives
// want them rearranged, with another order of a GRU's gates.
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/support/rnn_kernel.h"

namespace pitwall::onednn {
namespace {

struct LibraryProduct {
  static void multiply(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                       const float* a, std::int64_t step_a, const float* b, std::int64_t step_b, float beta,
                       float* c, std::int64_t step_c) {
    const dnnl::status done = dnnl::sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0F, a,
                                          step_a, b, step_b, beta, c, step_c);
    if (done != dnnl::status::success) throw dnnl::error(dnnl_runtime_error, "could not multiply matrices");
  }
};

}  // namespace

KernelPtr make(const RnnDesc& desc, const Request& r) {
  Signature signature = r.signature;
  const RunFunction run = rnnFunction<LibraryProduct>(desc, r.pass, signature);
  return std::make_shared<FunctionKernel>(std::move(signature), "gemm", [run](const KernelArgs& a) -> Status {
    try {
      return run(a);
    } catch (const std::exception& error) {
      return fail(ErrorCode::internal, std::string("oneDNN (gemm): ") + error.what());
    }
  });
}

}  // namespace pitwall::onednn
