// The reference operators: the simplest loops that define each operator, summing in double. Slow by design;
// every other backend is tested against them.
//
// Each operator that has a file of its name here has a make(), which returns a function that computes one pass on
// row-major arrays of the signature's shapes. It sets the size of a workspace that it writes, in bytes.
#pragma once

#include "runtime/backend/support/function_kernel.h"
#include "runtime/operators.h"

namespace pitwall::reference {
#define PITWALL_OPERATOR(Desc) RunFunction make(const Desc& desc, Pass pass, Signature& signature);
#include "runtime/backend/reference/kernel_list.inc"  // generated
#undef PITWALL_OPERATOR

}  // namespace pitwall::reference
