#include "runtime/data/batch_storage.h"

#include <fmt/format.h>

namespace pitwall::data {

Result<Storage*> batchStorage(Session& session, Device device) {
  if (device.kind == DeviceKind::gpu)
    return fail(
        ErrorCode::invalidInput,
        fmt::format("device is {}: batches are made by the CPU; use pinned({}), and copy them to the GPU",
                    toString(device), device.index));
  return session.storage(device);
}

}  // namespace pitwall::data
