// A track at every zoom level: nodes of the event_summary table at the bottom, sixteen nodes per node of the
// next level.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "db/reader.h"
#include "db/result.h"
#include "db/sqlite/event_nodes.h"

namespace pitwall::store {

class TraceData;

class EventPyramid {
 public:
  // Reads the track's summaries; the summary of a chunk without one is computed here. Error: corruptTrace.
  static Result<std::unique_ptr<EventPyramid>> make(TraceData& data, std::uint32_t track);

  // The bins that events touch, by time. Reads a chunk's columns only where a node of few events is wider
  // than a bin. Precondition: from_ns < to_ns, bins > 0.
  Result<std::vector<EventBin>> bins(const BinRequest& request);

 private:
  struct Node : EventNode {
    std::uint32_t chunk = 0;  // index into the table's summaries; of the lowest level
  };
  // Of one depth: the lowest level first, each ordered by start.
  struct DepthLevels {
    std::int64_t depth = 0;
    std::vector<std::vector<Node>> levels;
  };
  class Painter;

  explicit EventPyramid(TraceData& data) : data_(data) {}
  Status addChunk(std::uint32_t chunk, std::vector<Node>& nodes);
  void build(std::vector<Node> nodes);

  TraceData& data_;
  std::vector<DepthLevels> depths_;  // by depth
};

}  // namespace pitwall::store
