// How many operators go into one bulk segment (MXNET_EXEC_BULK_EXEC_*).
#pragma once

#include <cstdint>

#include "runtime/session.h"

namespace pitwall {

enum class BulkKind : std::uint8_t { forward, backward, inference };

// 0 = no bulk. Training on a GPU: the whole pass unless a setting limits it, because the next segment starts when the host has seen the
// end of the one before.
int bulkSize(Session& session, Device device, BulkKind kind);

}  // namespace pitwall
