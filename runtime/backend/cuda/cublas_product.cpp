#include "runtime/backend/cuda/cublas_product.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>

#include "db/mutex.h"
#include "db/try.h"
#include "runtime/backend/cuda/library_helpers.h"
#include "runtime/backend/cuda/open_library.h"
#include "runtime/backend/support/matrix_product.h"
#include "runtime/operators.h"
#include "runtime/short_float.h"

namespace pitwall::cuda {

namespace {

constexpr char kCublasLibrary[] = "libcublasLt.so.13";
constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;  // what NVIDIA recommends for Hopper
constexpr std::uint32_t kArrayAlignment = 64;                  // Storage's, in bytes

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

void checkVersion(const CublasLtApi& api) {
  static std::once_flag once;
  std::call_once(once, [&] {
    const std::size_t found = api.cublasLtGetVersion();
    if (found < CUBLAS_VERSION)
      fprintf(
          stderr,
          "pitwall: cuBLAS %zu is older than that of the build, %d; MXNET_CUDA_LIB_CHECKING=0 hides this\n",
          found, CUBLAS_VERSION);
  });
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

// What follows the product: bias of a column, activation.
struct Ending {
  bool bias = false;
  FusedActivation activation = {};
  bool isRelu() const { return activation.type == FusedActivation::Type::relu; }
  bool isFused() const { return isRelu() || activation.type == FusedActivation::Type::none; }
};

// What a product is computed of and with.
struct Numbers {
  DType type = DType::float32;  // of all arrays
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool addsIn16Bits() const { return compute == CUBLAS_COMPUTE_16F; }
};

cudaDataType_t typeOf(DType type) {
  switch (type) {
    case DType::float16: return CUDA_R_16F;
    case DType::bfloat16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
}

// cuBLASLt counts columns first: it computes the transposed product, of the transposed factors in the other order, which are the same
// memory.
class Product {
 public:
  static Result<std::shared_ptr<Product>> make(const MatrixProduct& p, const Ending& ending,
                                               const Numbers& numbers) {
    const CublasLtApi* const api = cublas();
    if (api == nullptr || p.rows * p.columns * p.inner * p.batch == 0) return std::shared_ptr<Product>();
    auto made = std::make_shared<Product>(*api, p, ending, numbers);
    PITWALL_TRY(made->describe());
    return PITWALL_TRY(made->choose()) ? made : std::shared_ptr<Product>();
  }
  Product(const CublasLtApi& api, const MatrixProduct& p, const Ending& ending, const Numbers& numbers)
      : api_(api), product_(p), ending_(ending), numbers_(numbers) {}

  Bytes workspaceBytes() const { return static_cast<Bytes>(workspace_bytes_); }

  Status run(const KernelContext& context, const void* left, const void* right, const void* bias,
             void* out) const {
    // The factors have the type of the sums.
    const float one = 1, zero = 0;
    const Float16 short_one = fromFloat<Float16>(1), short_zero = fromFloat<Float16>(0);
    const bool is_short = numbers_.addsIn16Bits();
    const void* const alpha = is_short ? static_cast<const void*>(&short_one) : &one;
    const void* const beta = is_short ? static_cast<const void*>(&short_zero) : &zero;
    cublasLtMatmulDescOpaque_t how = how_;
    if (ending_.bias)
      PITWALL_TRY(api_.statusOf(
          api_.cublasLtMatmulDescSetAttribute(&how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
          "a product"));
    const cublasLtHandle_t handle = PITWALL_TRY(handleHere(api_));
    PITWALL_TRY(api_.statusOf(
        api_.cublasLtMatmul(handle, &how, alpha, right, asArgument(right_), left, asArgument(left_), beta,
                            out, asArgument(out_), out, asArgument(out_), &algorithm_, context.workspace,
                            workspace_bytes_, static_cast<cudaStream_t>(context.stream)),
        "a product"));
    if (ending_.isFused()) return {};
    return launchEpilogue(context, {numbers_.type, product_.batch * product_.rows * product_.columns,
                                    product_.columns, 1, ending_.activation, out, nullptr, nullptr, out});
  }

 private:
  // cuBLASLt takes descriptions that it only reads by pointers to what may change.
  static cublasLtMatrixLayout_t asArgument(const cublasLtMatrixLayoutOpaque_t& layout) {
    return const_cast<cublasLtMatrixLayout_t>(&layout);
  }

  Status setLayout(cublasLtMatrixLayoutOpaque_t& layout, std::int64_t rows, std::int64_t columns) {
    PITWALL_TRY(
        api_.statusOf(api_.cublasLtMatrixLayoutInit_internal(&layout, sizeof layout, typeOf(numbers_.type),
                                                             static_cast<std::uint64_t>(rows),
                                                             static_cast<std::uint64_t>(columns), rows),
                      "a matrix"));
    if (product_.batch == 1) return {};
    const auto batch = static_cast<std::int32_t>(product_.batch);
    const std::int64_t step = rows * columns;
    PITWALL_TRY(api_.statusOf(api_.cublasLtMatrixLayoutSetAttribute(
                                  &layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
                              "a matrix"));
    return api_.statusOf(api_.cublasLtMatrixLayoutSetAttribute(
                             &layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step),
                         "a matrix");
  }

  Status setOfProduct(cublasLtMatmulDescAttributes_t name, const void* value, std::size_t size) {
    return api_.statusOf(api_.cublasLtMatmulDescSetAttribute(&how_, name, value, size), "a product");
  }

  Status describe() {
    const MatrixProduct& p = product_;
    PITWALL_TRY(
        api_.statusOf(api_.cublasLtMatmulDescInit_internal(&how_, sizeof how_, numbers_.compute,
                                                           numbers_.addsIn16Bits() ? CUDA_R_16F : CUDA_R_32F),
                      "a product"));
    const cublasOperation_t of_right = p.right.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                            of_left = p.left.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    PITWALL_TRY(setOfProduct(CUBLASLT_MATMUL_DESC_TRANSA, &of_right, sizeof of_right));
    PITWALL_TRY(setOfProduct(CUBLASLT_MATMUL_DESC_TRANSB, &of_left, sizeof of_left));
    const cublasLtEpilogue_t epilogue =
        ending_.bias       ? ending_.isRelu() ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
        : ending_.isRelu() ? CUBLASLT_EPILOGUE_RELU
                           : CUBLASLT_EPILOGUE_DEFAULT;
    PITWALL_TRY(setOfProduct(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    PITWALL_TRY(setLayout(right_, p.right.transposed ? p.inner : p.columns,
                          p.right.transposed ? p.columns : p.inner));
    PITWALL_TRY(setLayout(left_, p.left.transposed ? p.rows : p.inner, p.left.transposed ? p.inner : p.rows));
    return setLayout(out_, p.columns, p.rows);
  }

  // False: cuBLASLt has no kernel.
  Result<bool> choose() {
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
      PITWALL_TRY(set(name, &kArrayAlignment, sizeof kArrayAlignment));
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

  const CublasLtApi& api_;
  const MatrixProduct product_;
  const Ending ending_;
  const Numbers numbers_;
  cublasLtMatmulDescOpaque_t how_{};
  cublasLtMatrixLayoutOpaque_t right_{}, left_{}, out_{};
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_bytes_ = 0;
};

// A part of a kernel: a product of two of its inputs, or the sums of the columns of one.
class ProductKernel final : public Kernel {
 public:
  ProductKernel(Signature signature, const Numbers& numbers) : numbers_(numbers) {
    inputs_ = std::move(signature.inputs);
    outputs_ = std::move(signature.outputs);
    implementation_ = "cublasLt";
  }

  // Into the next output. False: cuBLASLt has no kernel for it.
  Result<bool> add(const MatrixProduct& p, const Ending& ending) {
    auto made = PITWALL_TRY(Product::make(p, ending, numbers_));
    if (made == nullptr && numbers_.addsIn16Bits())
      made = PITWALL_TRY(Product::make(p, ending, {.type = numbers_.type}));
    if (made == nullptr) return false;
    workspace_bytes_ = std::max(workspace_bytes_, made->workspaceBytes());
    products_.push_back({p, ending, std::move(made)});
    return true;
  }
  void addColumnSum(std::size_t input, std::int64_t rows, std::int64_t columns) {
    sum_ = ColumnSum{input, gpu_kernels::ChannelParts({columns, 1, true}, rows)};
    workspace_bytes_ = std::max(workspace_bytes_, sum_->parts.sizeBytes(1));
  }

  Status run(const KernelArgs& a) const override {
    for (std::size_t i = 0; i < products_.size(); ++i) {
      const Part& part = products_[i];
      PITWALL_TRY(part.product->run(a.context, a.inputs[part.factors.left.array],
                                    a.inputs[part.factors.right.array],
                                    part.ending.bias ? a.inputs[2] : nullptr, a.outputs[i]));
    }
    if (!sum_) return {};
    return launchChannelSum(a.context, sum_->parts, numbers_.type, a.inputs[sum_->input],
                            a.outputs[products_.size()]);
  }

 private:
  struct Part {
    MatrixProduct factors;
    Ending ending;
    std::shared_ptr<Product> product;
  };
  struct ColumnSum {
    std::size_t input;
    gpu_kernels::ChannelParts parts;
  };
  const Numbers numbers_;
  std::vector<Part> products_;
  std::optional<ColumnSum> sum_;
};

Result<KernelPtr> makeFactors(const MatrixFactors& f, Pass pass, const Signature& s, const Numbers& numbers) {
  auto kernel = std::make_shared<ProductKernel>(s, numbers);
  std::vector<MatrixProduct> products{f.product()};
  if (pass == Pass::backward) products = {f.gradientOfA(), f.gradientOfB()};
  for (const MatrixProduct& p : products)
    if (!PITWALL_TRY(kernel->add(p, {}))) return KernelPtr();
  return KernelPtr(std::move(kernel));
}

// out (n x m) = data (n x k) weight (m x k)^T
Result<KernelPtr> makeDense(const FullyConnectedDesc& d, Pass pass, const Signature& s,
                            const Numbers& numbers) {
  const Shape& data = pass == Pass::backwardData ? s.outputs[0].shape : s.inputs[0].shape;
  const std::int64_t m = d.units, k = d.flatten ? data.elements() / data[0] : data[data.rank() - 1],
                     n = data.elements() / k;
  auto kernel = std::make_shared<ProductKernel>(s, numbers);
  bool made = false;
  if (pass == Pass::backwardData) {
    made = PITWALL_TRY(kernel->add({1, n, m, k, {0, false}, {1, false}}, {}));
  } else if (pass == Pass::backwardWeights) {
    made = PITWALL_TRY(kernel->add({1, m, n, k, {1, true}, {0, false}}, {}));
    if (d.bias) kernel->addColumnSum(1, n, m);
  } else {
    made = PITWALL_TRY(kernel->add({1, n, k, m, {0, false}, {1, true}}, {d.bias, d.activation}));
  }
  return made ? KernelPtr(std::move(kernel)) : KernelPtr();
}

}  // namespace

Result<KernelPtr> makeProduct(const OperatorKindDesc& desc, Pass pass, const Signature& s,
                              const CudaOptions& options) {
  const bool is_dense = desc.is<FullyConnectedDesc>(), is_dot = desc.is<DotDesc>();
  if (!is_dense && !is_dot && !desc.is<BatchDotDesc>()) return KernelPtr();
  if (const CublasLtApi* const api = cublas(); api != nullptr && options.checks_cuda) checkVersion(*api);
  Numbers numbers{.type = s.inputs[0].dtype};
  for (const auto* const specs : {&s.inputs, &s.outputs})
    for (const TensorSpec& spec : *specs)
      if (spec.dtype != numbers.type) return KernelPtr();  // of mixed types
  if (numbers.type == DType::float32 && options.tensor_cores)
    numbers.compute = options.converts ? CUBLAS_COMPUTE_32F_FAST_16F : CUBLAS_COMPUTE_32F_FAST_TF32;
  if (is_dense && numbers.type == DType::float16 && options.dense_adds_in_16_bits)
    numbers.compute = CUBLAS_COMPUTE_16F;
  if (is_dense) return makeDense(desc.as<FullyConnectedDesc>(), pass, s, numbers);
  const Shape &a = s.inputs[0].shape, &b = s.inputs[1].shape;
  return makeFactors(is_dot ? desc.as<DotDesc>().factors(a, b) : desc.as<BatchDotDesc>().factors(a, b), pass,
                     s, numbers);
}

}  // namespace pitwall::cuda
