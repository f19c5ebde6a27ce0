#include "runtime/array/bulk.h"

namespace pitwall {

int bulkSize(Session& session, Device device, BulkKind kind) {
  constexpr int kWholeGraph = 1 << 20;
  const Settings& settings = session.settings();
  if (kind == BulkKind::inference)
    return settings.boolean("MXNET_EXEC_BULK_EXEC_INFERENCE") ? kWholeGraph : 0;
  if (!settings.boolean("MXNET_EXEC_BULK_EXEC_TRAIN")) return 0;
  const char* name = kind == BulkKind::forward ? "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD"
                                               : "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD";
  if (!settings.isSet(name)) name = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN";
  if (device.kind == DeviceKind::gpu && !settings.isSet(name)) return kWholeGraph;
  return static_cast<int>(settings.integer(name));
}

}  // namespace pitwall
