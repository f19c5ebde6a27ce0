// Records the operators of PyTorch in this process: each one's name, input shapes and type, phase and time, and the
// ranges that PyTorch or the program names (optimizer steps, waits for the data loader, record_function()). Through
// PyTorch's own callbacks, so it works beside the program's own profiler and needs no PyTorch to compile.
//
// Not seen: what a compiled graph (torch.compile, CUDA graphs) runs inside.
#pragma once

#include "runtime/profiler.h"
#include "runtime/profiler/torch/abi.h"

namespace pitwall::torch {

// Begins with `functions` of the loaded PyTorch. `profiler` is called on the first operator and, in a forked child, on the
// first one there; it returns the process's recording, which must live to the end of the process, or nullptr to record
// nothing. Called again, looks for the recording anew; not while operators run.
// Errors: unsupported when a function is missing.
Status recordOperators(const torch_abi::Functions& functions, Profiler* (*profiler)());

}  // namespace pitwall::torch
