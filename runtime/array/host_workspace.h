// The workspace of kernels that run on the CPU: memory of the calling thread, as large as its largest kernel
// needed. Its contents are valid only while a kernel runs.
#pragma once

#include "db/units.h"

namespace pitwall {

// At least `size` bytes, aligned to a page; nullptr for 0 bytes, and when the system has no more memory.
void* hostWorkspace(Bytes size);

}  // namespace pitwall
