#include "runtime/backend/cuda/cublas_kernels.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "db/try.h"
#include "runtime/backend/cuda/cublas_product.h"
#include "runtime/backend/cuda/library_helpers.h"
#include "runtime/backend/gpu_kernels/rnn.h"
#include "runtime/operators.h"

namespace pitwall::cuda {

namespace {

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
    auto made = PITWALL_TRY(Product::make({.factors = p, .ending = ending, .numbers = numbers_}));
    if (made == nullptr && numbers_.addsIn16Bits())
      made = PITWALL_TRY(Product::make({.factors = p, .ending = ending, .numbers = {.type = numbers_.type}}));
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

// The products of a recurrent network, whose arrays are float32. Plain loops compute those for which cuBLASLt has no kernel.
class CublasProducts final : public gpu_kernels::StridedProducts {
 public:
  // False: it has none at all.
  Result<bool> add(const gpu_kernels::RnnProducts& products, Pass pass, const Numbers& numbers) {
    for (const gpu_kernels::StridedProduct& p : products.of(pass)) {
      ProductProblem problem = ProductProblem::of(p, numbers);
      problem.alignment = static_cast<std::uint32_t>(products.alignment());
      auto made = PITWALL_TRY(Product::make(problem));
      if (made == nullptr) continue;
      workspace_bytes_ = std::max(workspace_bytes_, made->workspaceBytes());
      made_.emplace_back(p, std::move(made));
    }
    return !made_.empty();
  }

  Bytes workspaceBytes() const override { return workspace_bytes_; }
  Status multiply(const KernelContext& context, const gpu_kernels::StridedProduct& product, const float* left,
                  const float* right, float* out) const override {
    const auto found = std::ranges::find_if(made_, [&](const auto& entry) { return entry.first == product; });
    if (found == made_.end()) return launchProduct(context, product, left, right, out);
    return found->second->run(context, left, right, nullptr, out);
  }

 private:
  std::vector<std::pair<gpu_kernels::StridedProduct, std::shared_ptr<Product>>> made_;
  Bytes workspace_bytes_ = 0;
};

Result<KernelPtr> makeRnn(const RnnDesc& desc, Pass pass, Signature signature, const Numbers& numbers) {
  auto products = std::make_shared<CublasProducts>();
  if (!PITWALL_TRY(products->add({rnnExtents(desc, pass, signature)}, pass, numbers))) return KernelPtr();
  gpu_kernels::GpuFunction function = rnnOf(desc, pass, signature, std::move(products));
  return KernelPtr(std::make_shared<gpu_kernels::GpuFunctionKernel>(std::move(signature), "cublasLt",
                                                                    std::move(function)));
}

Numbers numbersOf(DType type, const CudaOptions& options) {
  Numbers numbers{.type = type};
  if (type == DType::float32 && options.tensor_cores)
    numbers.compute = options.converts ? CUBLAS_COMPUTE_32F_FAST_16F : CUBLAS_COMPUTE_32F_FAST_TF32;
  return numbers;
}

bool haveOneType(const Signature& s) {
  const auto isOfType = [type = s.inputs[0].dtype](const TensorSpec& spec) { return spec.dtype == type; };
  return std::ranges::all_of(s.inputs, isOfType) && std::ranges::all_of(s.outputs, isOfType);
}

}  // namespace

Result<KernelPtr> makeProduct(const OperatorKindDesc& desc, Pass pass, const Signature& s,
                              const CudaOptions& options) {
  const bool is_dense = desc.is<FullyConnectedDesc>(), is_dot = desc.is<DotDesc>(),
             is_rnn = desc.is<RnnDesc>();
  if (!is_dense && !is_dot && !is_rnn && !desc.is<BatchDotDesc>()) return KernelPtr();
  if (options.checks_cuda) checkCublasVersion();
  Numbers numbers = numbersOf(s.inputs[0].dtype, options);
  if (is_rnn) return makeRnn(desc.as<RnnDesc>(), pass, s, numbers);
  if (!haveOneType(s)) return KernelPtr();
  if (is_dense && numbers.type == DType::float16 && options.dense_adds_in_16_bits)
    numbers.compute = CUBLAS_COMPUTE_16F;
  if (is_dense) return makeDense(desc.as<FullyConnectedDesc>(), pass, s, numbers);
  const Shape &a = s.inputs[0].shape, &b = s.inputs[1].shape;
  return makeFactors(is_dot ? desc.as<DotDesc>().factors(a, b) : desc.as<BatchDotDesc>().factors(a, b), pass,
                     s, numbers);
}

}  // namespace pitwall::cuda
