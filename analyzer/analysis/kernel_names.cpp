#include "analyzer/analysis/kernel_names.h"

#include <algorithm>
#include <initializer_list>

namespace pitwall::analysis {

namespace {

bool containsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

}  // namespace

bool isMatrixKernel(std::string_view name) {
  // Their names hold those of the matrix kernels they work for.
  if (containsAny(name, {"convertTensor", "init_device_workspace", "splitKreduce", "ReduceSplitK"}))
    return false;
  // nvjet: of cuBLAS, from Hopper on.
  return containsAny(name, {"gemm", "Gemm", "GEMM", "Cijk_", "conv", "wgrad", "dgrad", "implicit_",
                            "cutlass::Kernel", "winograd", "nvjet_"});
}

std::optional<bool> usesTensorCores(std::string_view name) {
  // First: some kernels of the xmma family compute with FMA units (sm80_xmma_gemm_f32f32_..._ffma_...).
  if (containsAny(name, {"sgemm", "simt", "Simt", "scudnn", "maxwell_", "ffma", "dgrad_engine",
                         "wgrad_alg0_engine", "convolve_common_engine"}))
    return false;
  if (containsAny(name, {"s884", "h884", "s1688", "h1688", "16816", "161616", "xmma", "wgmma", "hmma",
                         "tensorop", "TensorOp", "MI16x16", "MI32x32", "imma", "warpgroup", "nvjet_"}))
    return true;
  return {};
}

}  // namespace pitwall::analysis
