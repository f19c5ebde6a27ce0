// One product of matrices by cuBLASLt.
#pragma once

#include <cublasLt.h>

#include <memory>

#include "runtime/backend.h"
#include "runtime/backend/gpu_kernels/strided_product.h"
#include "runtime/backend/support/matrix_product.h"
#include "runtime/operators/activation.h"

namespace pitwall::cuda {

struct CublasLtApi;

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

// What a product asks of cuBLASLt.
struct ProductProblem {
  MatrixProduct factors;
  Ending ending;
  Numbers numbers;
  // Between rows in memory; 0: they are beside each other.
  std::int64_t step_left = 0, step_right = 0, step_out = 0;
  float beta = 0;                // of what the result has
  std::uint32_t alignment = 64;  // of all arrays, in bytes; that of Storage

  // Of inputs 0 and 1.
  static ProductProblem of(const gpu_kernels::StridedProduct& product, const Numbers& numbers);
};

// A matrix whose columns are beside each other in memory, `step` apart.
struct CublasMatrix {
  std::int64_t rows, columns, step;
};
// cuBLASLt counts columns first: it computes the transposed product, of the transposed factors in the other order, which are the same
// memory. `right` comes first.
struct CublasMatrices {
  CublasMatrix right, left, out;
  static CublasMatrices of(const ProductProblem& problem);
};

class Product {
 public:
  // nullptr where cuBLASLt is not there or has no kernel. The calling thread uses the GPU. Errors: those of cuBLASLt.
  static Result<std::shared_ptr<Product>> make(const ProductProblem& problem);
  Product(const CublasLtApi& api, const ProductProblem& problem) : api_(api), problem_(problem) {}

  Bytes workspaceBytes() const { return static_cast<Bytes>(workspace_bytes_); }

  // On the context's stream, with its workspace.
  Status run(const KernelContext& context, const void* left, const void* right, const void* bias,
             void* out) const;

 private:
  Status setLayout(cublasLtMatrixLayoutOpaque_t& layout, const CublasMatrix& matrix);
  Status setOfProduct(cublasLtMatmulDescAttributes_t name, const void* value, std::size_t size);
  Status describe();
  Result<bool> choose();

  const CublasLtApi& api_;
  const ProductProblem problem_;
  cublasLtMatmulDescOpaque_t how_{};
  cublasLtMatrixLayoutOpaque_t right_{}, left_{}, out_{};
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_bytes_ = 0;
};

// A line about a cuBLASLt that is older than that of the build, once per process.
void checkCublasVersion();

}  // namespace pitwall::cuda
