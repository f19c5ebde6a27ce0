// Names and texts that the profilers of JAX and TensorFlow write: devices, their lines, details of kernels
// and copies. The same in trace.json.gz and xplane.pb.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/event.h"

namespace pitwall::import {

struct XlaDevice {
  std::string kind;  // "gpu", "tpu"
  int index = 0;
  std::string name;  // after the number; may be empty
};
// Of "/device:GPU:0 (NVIDIA A100)", also with a host's name before it; none for hosts and devices without a
// number.
std::optional<XlaDevice> xlaDevice(std::string_view plane);

// The meaning of a device's line.
enum class XlaLine : std::uint8_t {
  stream,   // the work of a GPU's stream
  ops,      // a TPU's operations; on a GPU derived from its streams
  steps,    // steps, by number
  derived,  // the same time again, by module, operation, scope or line of source
};
XlaLine xlaLine(std::string_view name);
// "14" of "Stream #14(Compute,MemcpyH2D)"; else the whole name.
std::string_view xlaStream(std::string_view line);

// Of "regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:256,1,1 occ_pct:100", in any order.
KernelFacts xlaKernel(std::string_view details);

struct XlaCopy {
  std::string name;  // "Memcpy HtoD (Pinned -> Device)", "Memset (Device)"
  Bytes bytes = 0;
};
// `event`: "MemcpyH2D"; `details`: "kind_src:pinned kind_dst:device size:4096 dest:0 async:1".
std::optional<XlaCopy> xlaCopy(std::string_view event, std::string_view details);

// Whether a kernel or an operation of XLA exchanges data between devices.
bool isXlaCollective(std::string_view name);

}  // namespace pitwall::import
