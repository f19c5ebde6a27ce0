// What waited for what in a window of a trace: events as nodes, and what each of them waited for as edges.
//
// A graph is built once, by graphOfOperators() (dependencies/operator_graph.h) or graphOfDevices()
// (dependencies/device_graph.h), and does not change after that. It owns all that it holds and needs no trace, but
// names and facts are ids of the trace's dimensions. It takes some 60 bytes per node and 8 per edge.
//
// Two waits are no edges, because nodes say them. On a host thread events are nested: a node runs within its
// `parent`, after the nodes before it of the same resource. And no node starts before it was asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/analysis/intervals.h"
#include "db/event.h"
#include "db/ids.h"
#include "db/units.h"

namespace pitwall::analysis {

// What events run on: one at a time, but those nested in others and those that a stream runs side by side.
struct Resource {
  TrackId track;
  DeviceId device;            // of a stream; none for a thread
  bool asynchronous = false;  // of a graph of operators: no worker runs what is on it (track_kinds.h)
};

struct Node {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  TimeNs start_ns = 0, end_ns = 0;  // since the trace's start
  TimeNs asked_ns = INT64_MIN;      // an operator was pushed; the launch of device work began; else unknown
  StringId name = {};
  OperatorId op = {};
  TrackId track = {};              // of a device graph's event: a thread may have several
  std::uint32_t resource = 0;      // index in Graph::resources
  std::uint32_t asked_on = kNone;  // resource of the launch, which need not be in the window; kNone = unknown
  std::uint32_t parent = kNone;    // of a host event: the node that encloses it on its thread
  std::int64_t bytes = 0;          // of a copy or collective; 0 = none or unknown
  EventKind kind = EventKind::api;
  std::uint8_t meaning = 0;  // NameMeaning, of a call

  TimeNs durNs() const { return end_ns - start_ns; }
};

enum class EdgeKind : std::uint8_t {
  data,  // from an operator, or the last work that it launched, to one that uses its result: starts after `from` ended
  order,     // from what ran before on the same worker or stream: starts after `from` ended
  launch,    // from a call to the device work that it launched: starts after `from` started
  stream,    // from other work, of another stream or without launches of any: starts after `from` ended
  release,   // from work, or an operator, to the call that waited for it: ends after `from` ended
  handOver,  // from an outermost event of another thread, whose work it continues: starts after `from` ended
};

struct Edge {
  std::uint32_t from = 0, to = 0;  // indices in Graph::nodes
  EdgeKind kind = EdgeKind::data;
};

struct Wait {
  std::uint32_t from = 0;
  EdgeKind kind = EdgeKind::data;
};

class Graph {
 public:
  static constexpr std::uint32_t kNone = Node::kNone;

  Interval window;
  std::vector<Resource> resources;
  std::vector<Node> nodes;  // in the order that the builder states

  // Replaces all edges. Those into one node keep their order. Linear in nodes and edges.
  void setEdges(std::span<const Edge> edges);

  // What a node waited for. Constant time.
  std::span<const Wait> into(std::uint32_t node) const {
    return std::span(waits_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  // The node that the first edge of this kind comes from; kNone = there is none.
  std::uint32_t into(std::uint32_t node, EdgeKind kind) const;
  std::size_t edges() const { return waits_.size(); }

 private:
  std::vector<std::uint32_t> first_;  // by node, and one more: its first in waits_
  std::vector<Wait> waits_;
};

}  // namespace pitwall::analysis
