// How many operators go into one bulk segment (MXNET_EXEC_BULK_EXEC_*).
#pragma once

#include <cstdint>

#include "runtime/session.h"

namespace pitwall {

enum class BulkKind : std::uint8_t { forward, backward, inference };

// 0 = no bulk.
int bulkSize(Session& session, BulkKind kind);

}  // namespace pitwall
