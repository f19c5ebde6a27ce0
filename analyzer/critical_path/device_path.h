// What the two halves of the critical path over devices share: the walk and the slack.
#pragma once

#include <cstdint>

#include "analyzer/critical_path/path.h"
#include "analyzer/dependencies/device_graph.h"

namespace pitwall::analysis {

// What the path says of a node.
PathKey keyOf(const DeviceGraph& devices, std::uint32_t node);

// Gives each event of the graph its slack.
void addSlack(const DeviceGraph& devices, CriticalPath& path);

}  // namespace pitwall::analysis
