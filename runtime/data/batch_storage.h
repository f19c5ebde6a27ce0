// The memory in which batches are made.
#pragma once

#include "db/result.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/session.h"

namespace pitwall::data {

// Errors: invalidInput for a device whose memory the host does not write; those of Session::storage().
Result<Storage*> batchStorage(Session& session, Device device);

}  // namespace pitwall::data
