// What a primitive computes in addition, before it writes its output.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"
#include "runtime/operators/activation.h"

namespace pitwall::onednn {

// Attributes of a primitive that adds what its output holds already, if `adds`, and applies the activation.
dnnl::primitive_attr fusedAttributes(const FusedActivation& activation, bool adds = false);

}  // namespace pitwall::onednn
