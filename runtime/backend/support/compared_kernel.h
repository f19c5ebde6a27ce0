// A kernel that runs a second time as another one, and compares the results.
#pragma once

#include <string>
#include <vector>

#include "runtime/backend.h"

namespace pitwall {

struct ComparedKernels {
  KernelPtr kernel;  // whose results are taken
  KernelPtr plain;   // on row-major arrays
  // For each input and output of `kernel`: what makes it row-major; nullptr where it is.
  std::vector<KernelPtr> input_reorders, output_reorders;
  std::string what;  // the request, for messages
};

// Its run() fails with an error that names both values where float32 results differ by more than 1e-3 of the largest value of the
// array; other types are not compared. Inputs must be readable in full, unless they are at the place of an output that is smaller.
KernelPtr compareKernels(ComparedKernels kernels);

}  // namespace pitwall
