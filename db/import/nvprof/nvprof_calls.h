// Names of what nvprof's databases give by number: calls, kinds of copies and of memory.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::import {

// "cudaLaunchKernel"; of a number that is not known "CUDA runtime call 12".
std::string cudaRuntimeCall(std::int64_t number);

std::string cuptiCopyKind(std::int64_t kind);    // "HtoD"
std::string cuptiMemoryKind(std::int64_t kind);  // "Pageable"

}  // namespace pitwall::import
