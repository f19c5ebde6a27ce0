#include "runtime/backend/cuda/cublas_product.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <mutex>

#include "db/mutex.h"
#include "db/try.h"
#include "runtime/backend/cuda/library_helpers.h"
#include "runtime/backend/cuda/open_library.h"
#include "runtime/short_float.h"

namespace pitwall::cuda {

namespace {

constexpr char kCublasLibrary[] = "libcublasLt.so.13";
constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;  // what NVIDIA recommends for Hopper

#define PITWALL_CUBLASLT_FUNCTIONS(X)      \
  X(cublasLtGetVersion)                    \
  X(cublasLtCreate)                        \
  X(cublasLtMatmul)                        \
  X(cublasLtMatmulAlgoGetHeuristic)        \
  X(cublasLtMatmulDescInit_internal)       \
  X(cublasLtMatmulDescSetAttribute)        \
  X(cublasLtMatrixLayoutInit_internal)     \
  X(cublasLtMatrixLayoutSetAttribute)      \
  X(cublasLtMatmulPreferenceInit_internal) \
  X(cublasLtMatmulPreferenceSetAttribute)  \
  X(cublasLtGetStatusString)

}  // namespace

struct CublasLtApi {
#define PITWALL_DECLARE(name) decltype(&::name) name = nullptr;
  PITWALL_CUBLASLT_FUNCTIONS(PITWALL_DECLARE)
#undef PITWALL_DECLARE

  Status statusOf(cublasStatus_t status, const char* what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return {};
    return fail(ErrorCode::internal,
                fmt::format("cuBLASLt: {} failed: {}", what, cublasLtGetStatusString(status)));
  }
};

namespace {

Result<CublasLtApi> loadCublas() {
  void* const library = PITWALL_TRY(openLibrary(kCublasLibrary));
  CublasLtApi api;
#define PITWALL_LOAD(name) \
  api.name = reinterpret_cast<decltype(api.name)>(PITWALL_TRY(functionOf(library, kCublasLibrary, #name)));
  PITWALL_CUBLASLT_FUNCTIONS(PITWALL_LOAD)
#undef PITWALL_LOAD
  return api;
}

const CublasLtApi* cublas() {
  static const Result<CublasLtApi> api = loadCublas();
  return api.has_value() ? &*api : nullptr;
}

// Of the thread's GPU; all threads share it.
Result<cublasLtHandle_t> handleHere(const CublasLtApi& api) {
  static Mutex mutex;
  static auto* const handles = new std::map<int, cublasLtHandle_t>;  // the driver ends before statics do
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return fail(ErrorCode::internal, "cudaGetDevice failed");
  const ScopedLock lock(mutex);
  cublasLtHandle_t& handle = (*handles)[device];
  if (handle == nullptr) PITWALL_TRY(api.statusOf(api.cublasLtCreate(&handle), "cublasLtCreate"));
  return handle;
}

cudaDataType_t typeOf(DType type) {
  switch (type) {
    case DType::float16: return CUDA_R_16F;
    case DType::bfloat16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
}

// cuBLASLt takes descriptions that it only reads by pointers to what may change.
cublasLtMatrixLayout_t asArgument(const cublasLtMatrixLayoutOpaque_t& layout) {
  return const_cast<cublasLtMatrixLayout_t>(&layout);
}

}  // namespace

void checkCublasVersion() {
  const CublasLtApi* const api = cublas();
  if (api == nullptr) return;
  static std::once_flag once;
  std::call_once(once, [&] {
    const std::size_t found = api->cublasLtGetVersion();
    if (found < CUBLAS_VERSION)
      fprintf(
          stderr,
          "pitwall: cuBLAS %zu is older than that of the build, %d; MXNET_CUDA_LIB_CHECKING=0 hides this\n",
          found, CUBLAS_VERSION);
  });
}

Result<std::shared_ptr<Product>> Product::make(const ProductProblem& problem) {
  const CublasLtApi* const api = cublas();
  const MatrixProduct& p = problem.factors;
  if (api == nullptr || p.rows * p.columns * p.inner * p.batch == 0) return std::shared_ptr<Product>();
  auto made = std::make_shared<Product>(*api, problem);
  PITWALL_TRY(made->describe());
  return PITWALL_TRY(made->choose()) ? made : std::shared_ptr<Product>();
}

Status Product::run(const KernelContext& context, const void* left, const void* right, const void* bias,
                    void* out) const {
  // The factors have the type of the sums.
  const MatrixProduct& p = problem_.factors;
  const Ending& ending = problem_.ending;
  const float one = 1;
  const Float16 short_one = fromFloat<Float16>(1), short_beta = fromFloat<Float16>(problem_.beta);
  const bool is_short = problem_.numbers.addsIn16Bits();
  const void* const alpha = is_short ? static_cast<const void*>(&short_one) : &one;
  const void* const beta = is_short ? static_cast<const void*>(&short_beta) : &problem_.beta;
  cublasLtMatmulDescOpaque_t how = how_;
  if (ending.bias)
    PITWALL_TRY(api_.statusOf(
        api_.cublasLtMatmulDescSetAttribute(&how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
        "a product"));
  const cublasLtHandle_t handle = PITWALL_TRY(handleHere(api_));
  PITWALL_TRY(api_.statusOf(
      api_.cublasLtMatmul(handle, &how, alpha, right, asArgument(right_), left, asArgument(left_), beta, out,
                          asArgument(out_), out, asArgument(out_), &algorithm_, context.workspace,
                          workspace_bytes_, static_cast<cudaStream_t>(context.stream)),
      "a product"));
  if (ending.isFused()) return {};
  return launchEpilogue(context, {problem_.numbers.type, p.batch * p.rows * p.columns, p.columns, 1,
                                  ending.activation, out, nullptr, nullptr, out});
}

ProductProblem ProductProblem::of(const gpu_kernels::StridedProduct& p, const Numbers& numbers) {
  return {.factors = {.batch = 1,
                      .rows = p.rows,
                      .inner = p.inner,
                      .columns = p.columns,
                      .left = {0, p.transpose_left},
                      .right = {1, p.transpose_right}},
          .ending = {},
          .numbers = numbers,
          .step_left = p.step_left,
          .step_right = p.step_right,
          .step_out = p.step_out,
          .beta = p.beta};
}

CublasMatrices CublasMatrices::of(const ProductProblem& problem) {
  const MatrixProduct& p = problem.factors;
  // Of rows x columns in memory.
  const auto matrix = [](bool transposed, std::int64_t rows, std::int64_t columns, std::int64_t step) {
    if (transposed) std::swap(rows, columns);
    return CublasMatrix{columns, rows, step == 0 ? columns : step};
  };
  return {matrix(p.right.transposed, p.inner, p.columns, problem.step_right),
          matrix(p.left.transposed, p.rows, p.inner, problem.step_left),
          matrix(false, p.rows, p.columns, problem.step_out)};
}

Status Product::setLayout(cublasLtMatrixLayoutOpaque_t& layout, const CublasMatrix& m) {
  const auto check = [this](cublasStatus_t status) { return api_.statusOf(status, "a matrix"); };
  PITWALL_TRY(check(api_.cublasLtMatrixLayoutInit_internal(
      &layout, sizeof layout, typeOf(problem_.numbers.type), static_cast<std::uint64_t>(m.rows),
      static_cast<std::uint64_t>(m.columns), m.step)));
  if (problem_.factors.batch == 1) return {};
  const auto batch = static_cast<std::int32_t>(problem_.factors.batch);
  const std::int64_t elements = m.rows * m.columns;
  PITWALL_TRY(check(api_.cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                                          sizeof batch)));
  return check(api_.cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                     &elements, sizeof elements));
}

Status Product::setOfProduct(cublasLtMatmulDescAttributes_t name, const void* value, std::size_t size) {
  return api_.statusOf(api_.cublasLtMatmulDescSetAttribute(&how_, name, value, size), "a product");
}

Status Product::describe() {
  const MatrixProduct& p = problem_.factors;
  const Ending& ending = problem_.ending;
  const Numbers& numbers = problem_.numbers;
  PITWALL_TRY(
      api_.statusOf(api_.cublasLtMatmulDescInit_internal(&how_, sizeof how_, numbers.compute,
                                                         numbers.addsIn16Bits() ? CUDA_R_16F : CUDA_R_32F),
                    "a product"));
  const cublasOperation_t of_right = p.right.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                          of_left = p.left.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  PITWALL_TRY(setOfProduct(CUBLASLT_MATMUL_DESC_TRANSA, &of_right, sizeof of_right));
  PITWALL_TRY(setOfProduct(CUBLASLT_MATMUL_DESC_TRANSB, &of_left, sizeof of_left));
  const cublasLtEpilogue_t epilogue =
      ending.bias       ? ending.isRelu() ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
      : ending.isRelu() ? CUBLASLT_EPILOGUE_RELU
                        : CUBLASLT_EPILOGUE_DEFAULT;
  PITWALL_TRY(setOfProduct(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  const CublasMatrices matrices = CublasMatrices::of(problem_);
  PITWALL_TRY(setLayout(right_, matrices.right));
  PITWALL_TRY(setLayout(left_, matrices.left));
  return setLayout(out_, matrices.out);
}

// False: cuBLASLt has no kernel.
Result<bool> Product::choose() {
  cublasLtMatmulPreferenceOpaque_t preference{};
  PITWALL_TRY(api_.statusOf(api_.cublasLtMatmulPreferenceInit_internal(&preference, sizeof preference),
                            "a preference"));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t name, const void* value, std::size_t size) {
    return api_.statusOf(api_.cublasLtMatmulPreferenceSetAttribute(&preference, name, value, size),
                         "a preference");
  };
  PITWALL_TRY(set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kMostWorkspace, sizeof kMostWorkspace));
  for (const auto name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    PITWALL_TRY(set(name, &problem_.alignment, sizeof problem_.alignment));
  const cublasLtHandle_t handle = PITWALL_TRY(handleHere(api_));
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  const cublasStatus_t status = api_.cublasLtMatmulAlgoGetHeuristic(handle, &how_, &right_, &left_, &out_,
                                                                    &out_, &preference, 1, &best, &found);
  if (status != CUBLAS_STATUS_SUCCESS || found == 0 || best.state != CUBLAS_STATUS_SUCCESS) return false;
  algorithm_ = best.algo;
  workspace_bytes_ = best.workspaceSize;
  return true;
}

}  // namespace pitwall::cuda
