// The bytes of arrays, whatever device they are on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device.h"
#include "runtime/session.h"
#include "runtime/tensor.h"

namespace pitwall {

// Between memory of the host and that of `device`. Both wait until it is done.
Status writeBytes(Session& session, Device device, void* to, const void* from, Bytes bytes);
Status readBytes(Session& session, Device device, void* to, const void* from, Bytes bytes);

// The same of numbers of a real type, which are float32 on the host's side.
Status writeValues(Session& session, Device device, DType type, void* to, std::span<const float> values);
Result<std::vector<float>> readValues(Session& session, Device device, DType type, const void* from,
                                      std::int64_t count);

// In an operator of a GPU: on its thread's stream, for which it does not wait.
Status copyOnStream(Session& session, Device device, void* to, const void* from, Bytes bytes);
// With 32 bits again and again; the rest at the end with the first of them.
Status fillOnStream(Session& session, Device device, void* to, std::uint32_t word, Bytes bytes);

// Waits for all that this thread has put on its stream of a GPU.
Status waitForStream(Session& session, Device device);

// A block that work on the thread's stream may still use, is freed after it.
Status freeAfterWork(Session& session, Device device, Block block);

}  // namespace pitwall
