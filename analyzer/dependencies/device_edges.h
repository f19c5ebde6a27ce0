// The edges between the nodes of a device graph, whose other members are complete.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/analysis/intervals.h"
#include "analyzer/dependencies/device_graph.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// `launch_end_ns`: of each device work from first_work on, the end of its launch.
std::vector<Edge> deviceEdges(const DeviceGraph& devices, std::span<const TimeNs> launch_end_ns);

// Of the operators of Pitwall's engine.
struct EngineOperators {
  std::unordered_map<CorrelationId, std::uint32_t> nodes;
  std::vector<Intervals> bulks;  // by thread: each starts operators that complete together
};

// Adds their edges to those between device work and its launches, which the graph has already. Reads the trace's
// dependencies. Errors: corruptTrace.
Status addEngineEdges(Trace& trace, const DeviceGraph& devices, const EngineOperators& engine,
                      std::vector<Edge>& edges);

}  // namespace pitwall::analysis
