// Units of every number that crosses a folder boundary. Names carry them too (start_ns, size_bytes).
#pragma once

#include <cstdint>

namespace pitwall {

// Nanoseconds. In a trace: since the trace's start, which the meta key "trace.start_unix_ns" places in
// wall-clock time. Signed, so that differences are safe.
using TimeNs = std::int64_t;

// Bytes. Signed for the same reason.
using Bytes = std::int64_t;

// Floating-point operations; a fused multiply-add counts as two.
using Flop = std::int64_t;

}  // namespace pitwall
