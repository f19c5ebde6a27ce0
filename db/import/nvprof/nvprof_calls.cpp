#include "db/import/nvprof/nvprof_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pitwall::import {
namespace {

struct Call {
  std::int64_t number;
  const char* name;
};
// The numbers of CUPTI's header cupti_runtime_cbid.h that programs use most.
constexpr Call kRuntimeCalls[] = {{1, "cudaDriverGetVersion"},
                                  {2, "cudaRuntimeGetVersion"},
                                  {3, "cudaGetDeviceCount"},
                                  {4, "cudaGetDeviceProperties"},
                                  {8, "cudaConfigureCall"},
                                  {9, "cudaSetupArgument"},
                                  {10, "cudaGetLastError"},
                                  {11, "cudaPeekAtLastError"},
                                  {13, "cudaLaunch"},
                                  {14, "cudaFuncSetCacheConfig"},
                                  {15, "cudaFuncGetAttributes"},
                                  {16, "cudaSetDevice"},
                                  {17, "cudaGetDevice"},
                                  {19, "cudaSetDeviceFlags"},
                                  {20, "cudaMalloc"},
                                  {21, "cudaMallocPitch"},
                                  {22, "cudaFree"},
                                  {23, "cudaMallocArray"},
                                  {24, "cudaFreeArray"},
                                  {25, "cudaMallocHost"},
                                  {26, "cudaFreeHost"},
                                  {27, "cudaHostAlloc"},
                                  {28, "cudaHostGetDevicePointer"},
                                  {30, "cudaMemGetInfo"},
                                  {31, "cudaMemcpy"},
                                  {32, "cudaMemcpy2D"},
                                  {39, "cudaMemcpyToSymbol"},
                                  {40, "cudaMemcpyFromSymbol"},
                                  {41, "cudaMemcpyAsync"},
                                  {44, "cudaMemcpy2DAsync"},
                                  {47, "cudaMemcpyToSymbolAsync"},
                                  {48, "cudaMemcpyFromSymbolAsync"},
                                  {49, "cudaMemset"},
                                  {50, "cudaMemset2D"},
                                  {51, "cudaMemsetAsync"},
                                  {52, "cudaMemset2DAsync"},
                                  {123, "cudaThreadExit"},
                                  {126, "cudaThreadSynchronize"},
                                  {129, "cudaStreamCreate"},
                                  {130, "cudaStreamDestroy"},
                                  {131, "cudaStreamSynchronize"},
                                  {132, "cudaStreamQuery"},
                                  {133, "cudaEventCreate"},
                                  {134, "cudaEventCreateWithFlags"},
                                  {135, "cudaEventRecord"},
                                  {136, "cudaEventDestroy"},
                                  {137, "cudaEventSynchronize"},
                                  {138, "cudaEventQuery"},
                                  {139, "cudaEventElapsedTime"},
                                  {140, "cudaMalloc3D"},
                                  {144, "cudaMemcpy3D"},
                                  {145, "cudaMemcpy3DAsync"},
                                  {147, "cudaStreamWaitEvent"},
                                  {151, "cudaPointerGetAttributes"},
                                  {152, "cudaHostRegister"},
                                  {153, "cudaHostUnregister"},
                                  {154, "cudaDeviceCanAccessPeer"},
                                  {155, "cudaDeviceEnablePeerAccess"},
                                  {156, "cudaDeviceDisablePeerAccess"},
                                  {160, "cudaMemcpyPeer"},
                                  {161, "cudaMemcpyPeerAsync"},
                                  {164, "cudaDeviceReset"},
                                  {165, "cudaDeviceSynchronize"},
                                  {211, "cudaLaunchKernel"},
                                  {214, "cudaLaunchKernel_ptsz"},
                                  {215, "cudaMemcpy_ptds"},
                                  {225, "cudaMemcpyAsync_ptsz"}};

}  // namespace

std::string cudaRuntimeCall(std::int64_t number) {
  const auto* found = std::find_if(std::begin(kRuntimeCalls), std::end(kRuntimeCalls),
                                   [&](const Call& call) { return call.number == number; });
  return found != std::end(kRuntimeCalls) ? std::string(found->name)
                                          : fmt::format("CUDA runtime call {}", number);
}

std::string cuptiCopyKind(std::int64_t kind) {
  constexpr const char* kKinds[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                    "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  return kind > 0 && kind < 11 ? std::string(kKinds[kind]) : fmt::format("kind {}", kind);
}
std::string cuptiMemoryKind(std::int64_t kind) {
  constexpr const char* kKinds[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                    "Array",   "Managed",  "Device Static", "Managed Static"};
  return kind >= 0 && kind < 8 ? std::string(kKinds[kind]) : fmt::format("kind {}", kind);
}

}  // namespace pitwall::import
