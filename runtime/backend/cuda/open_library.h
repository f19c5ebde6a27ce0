// Libraries of NVIDIA that are opened when they are first needed: a program that uses no GPU loads none of them.
#pragma once

#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall::cuda {

// The one that the program has loaded; else in the loader's path, CUDA_HOME and /usr/local/cuda. Errors: notFound, with what the
// loader says.
Result<void*> openLibrary(const std::string& name);

// The address of a function. Errors: unsupported, naming both.
Result<void*> functionOf(void* library, const std::string& library_name, const char* function);

}  // namespace pitwall::cuda
