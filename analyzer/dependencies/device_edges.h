// The edges between the nodes of a device graph, whose other members are complete.
#pragma once

#include "analyzer/dependencies/device_graph.h"

namespace pitwall::analysis {

// `launch_end_ns`: of each device work from first_work on, the end of its launch.
void addDeviceEdges(DeviceGraph& devices, std::span<const TimeNs> launch_end_ns);

}  // namespace pitwall::analysis
