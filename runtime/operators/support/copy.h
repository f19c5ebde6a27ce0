// Copies between devices.
#pragma once

#include "runtime/array/array.h"
#include "runtime/engine.h"

namespace pitwall {

// Where a copy runs. A copy between devices of the host is an ordinary operator of the target device: the
// engine has no pool for such copies, since they need the same CPUs. Copies to and from a GPU run in its copy
// pool; between two GPUs in that of the source.
struct CopyPlacement {
  Device device;
  OperatorClass operator_class = OperatorClass::normal;
};
CopyPlacement placementOfCopy(Device from, Device to);

// Pushes the operator "Copy" and returns the array on `to` that will hold the contents, in the same layout
// where both devices have the same kind of backend, else row-major. Errors: unsupported when `to` has no
// storage.
Result<Value> copyToDevice(const Value& value, Device to, Phase phase);

// Pushes the copy of `from` into an array of another device, named `name` (a literal). `to` gets the layout of the contents as
// above, unless it must stay row-major.
Status copyInto(const char* name, const Value& from, const Value& to, Phase phase);

}  // namespace pitwall
