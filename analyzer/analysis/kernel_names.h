// What the names of GPU kernels say of them: those that cuBLAS, cuDNN, CUTLASS, Tensile and Triton give.
#pragma once

#include <optional>
#include <string_view>

namespace pitwall::analysis {

// A matrix product or a convolution; not the kernels that prepare its operands or add up its parts.
bool isMatrixKernel(std::string_view name);

// Empty where the name does not say it.
std::optional<bool> usesTensorCores(std::string_view name);

}  // namespace pitwall::analysis
