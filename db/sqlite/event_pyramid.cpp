#include "db/sqlite/event_pyramid.h"

#include <algorithm>
#include <utility>

#include "db/sqlite/trace_data.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

constexpr std::size_t kFanOut = 16;

}  // namespace

Result<std::unique_ptr<EventPyramid>> EventPyramid::make(TraceData& data, std::uint32_t track) {
  std::unique_ptr<EventPyramid> pyramid(new EventPyramid(data));
  std::vector<Node> nodes;
  for (const std::uint32_t chunk : data.events().ofTrack(track)) {
    PITWALL_TRY(pyramid->addChunk(chunk, nodes));
  }
  pyramid->build(std::move(nodes));
  return pyramid;
}

Status EventPyramid::addChunk(std::uint32_t chunk, std::vector<Node>& nodes) {
  const ChunkSummary& of = data_.events().summaries()[chunk];
  EventSummary summary;
  const auto strings = static_cast<std::int64_t>(data_.dimensions().strings.size());
  const bool found = PITWALL_TRY(data_.eventSummaries().nodes(of.id, of.count, strings, summary));
  if (!found) {
    constexpr EventColumn kColumns[] = {EventColumn::start, EventColumn::dur, EventColumn::name,
                                        EventColumn::depth};
    std::vector<std::int64_t> scratch[4];
    std::span<const std::int64_t> columns[4];
    for (std::size_t i = 0; i < 4; ++i) {
      columns[i] = PITWALL_TRY(scanColumn(data_, chunk, kColumns[i], scratch[i]));
    }
    summary.nodes =
        nodesOf({.start = columns[0], .dur = columns[1], .name = columns[2], .depth = columns[3]});
  }
  for (const EventNode& node : summary.nodes) {
    Node& added = nodes.emplace_back();
    static_cast<EventNode&>(added) = node;
    added.chunk = chunk;
  }
  return {};
}

void EventPyramid::build(std::vector<Node> nodes) {
  const auto before = [](const Node& a, const Node& b) {
    return a.depth != b.depth ? a.depth < b.depth : a.start_ns < b.start_ns;
  };
  std::stable_sort(nodes.begin(), nodes.end(), before);
  for (auto at = nodes.begin(); at != nodes.end();) {
    const auto end =
        std::find_if(at, nodes.end(), [depth = at->depth](const Node& n) { return n.depth != depth; });
    DepthLevels& levels_of_depth = depths_.emplace_back();
    levels_of_depth.depth = at->depth;
    levels_of_depth.levels.emplace_back(at, end);
    while (levels_of_depth.levels.back().size() > kFanOut) {
      const std::vector<Node>& below = levels_of_depth.levels.back();
      std::vector<Node> level((below.size() + kFanOut - 1) / kFanOut);
      for (std::size_t i = 0; i < below.size(); ++i) level[i / kFanOut].add(below[i]);
      levels_of_depth.levels.push_back(std::move(level));
    }
    at = end;
  }
}

// Fills the bins of one request.
class EventPyramid::Painter {
 public:
  Painter(TraceData& data, const BinRequest& request)
      : data_(data),
        request_(request),
        // Of any range of times; unsigned, as a range may be longer than the greatest TimeNs.
        width_(std::max<std::uint64_t>(
            1, (difference(request.from_ns, request.to_ns) + static_cast<std::uint64_t>(request.bins) - 1) /
                   static_cast<std::uint64_t>(request.bins))),
        bins_(static_cast<std::size_t>(request.bins)) {}

  Status paint(const DepthLevels& levels_of_depth, std::size_t level, std::size_t at) {
    const Node& node = levels_of_depth.levels[level][at];
    if (node.start_ns >= request_.to_ns || node.end_ns < request_.from_ns) return {};
    const bool inside = node.start_ns >= request_.from_ns && node.end_ns <= request_.to_ns;
    if (inside && difference(node.start_ns, node.end_ns) <= width_) {
      put(node);
      return {};
    }
    if (level == 0) return paintEvents(node, levels_of_depth.depth);
    const std::size_t end = std::min((at + 1) * kFanOut, levels_of_depth.levels[level - 1].size());
    for (std::size_t below = at * kFanOut; below < end; ++below) {
      PITWALL_TRY(paint(levels_of_depth, level - 1, below));
    }
    return {};
  }

  std::vector<EventBin> take() {
    std::vector<EventBin> filled;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      if (!bins_[i].touched) continue;
      EventBin& bin = filled.emplace_back(bins_[i].bin);
      bin.bin = static_cast<int>(i);
      bin.begin_ns = static_cast<TimeNs>(static_cast<std::uint64_t>(request_.from_ns) + i * width_);
    }
    return filled;
  }

 private:
  struct Slot {
    EventBin bin;
    bool touched = false;
  };

  static std::uint64_t difference(TimeNs from, TimeNs to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  }

  // Times are nearly in order: most are in the same bin as the previous one, and a division is the most
  // expensive step.
  std::size_t binOf(TimeNs time) {
    if (time <= request_.from_ns) return 0;
    const std::uint64_t distance = difference(request_.from_ns, time);
    if (distance - recent_begin_ >= width_) {
      recent_ = static_cast<std::size_t>(std::min<std::uint64_t>(distance / width_, bins_.size() - 1));
      recent_begin_ = recent_ * width_;
    }
    return recent_;
  }

  void longest(EventBin& bin, TimeNs dur, std::int64_t name) {
    if (bin.longest_ns > dur) return;
    bin.longest_ns = dur;
    bin.longest_name = StringId{static_cast<std::uint32_t>(name)};
  }

  // A node no wider than a bin: its events count where it begins, its time is divided between the two bins it
  // may touch.
  void put(const EventNode& node) {
    const std::size_t first = binOf(node.start_ns), last = binOf(std::max(node.start_ns, node.end_ns - 1));
    bins_[first].bin.events += node.events;
    const std::uint64_t width = difference(node.start_ns, node.end_ns);
    const std::uint64_t border = static_cast<std::uint64_t>(request_.from_ns) + last * width_;
    const double share = first == last || width == 0
                             ? 0
                             : static_cast<double>(static_cast<std::uint64_t>(node.end_ns) - border) /
                                   static_cast<double>(width);
    const auto second = static_cast<TimeNs>(static_cast<double>(node.total_ns) * share);
    bins_[first].bin.total_ns += node.total_ns - second;
    bins_[last].bin.total_ns += second;
    for (const std::size_t at : {first, last}) {
      bins_[at].touched = true;
      longest(bins_[at].bin, node.longest_ns, node.name);
    }
  }

  void put(TimeNs start, TimeNs dur, std::int64_t name) {
    const TimeNs end = std::min(cappedEnd(start, dur), request_.to_ns);
    if (start >= request_.to_ns || end < request_.from_ns || (end == request_.from_ns && dur != 0)) return;
    const std::size_t first = binOf(start), last = binOf(std::max(start, end - 1));
    if (start >= request_.from_ns) ++bins_[first].bin.events;
    for (std::size_t at = first; at <= last; ++at) {
      const auto begin = static_cast<TimeNs>(static_cast<std::uint64_t>(request_.from_ns) + at * width_);
      const TimeNs stop = at + 1 == bins_.size() ? request_.to_ns : begin + static_cast<TimeNs>(width_);
      bins_[at].bin.total_ns += std::max<TimeNs>(0, std::min(end, stop) - std::max(start, begin));
      bins_[at].touched = true;
      longest(bins_[at].bin, dur, name);
    }
  }

  Status paintEvents(const Node& node, std::int64_t depth) {
    if (chunk_ == nullptr || chunk_index_ != node.chunk) {
      chunk_ = data_.events().chunk(node.chunk);
      chunk_index_ = node.chunk;
      names_ = {};
    }
    Chunk* const chunk = chunk_.get();
    auto starts = PITWALL_TRY(column(*chunk, EventColumn::start));
    auto durs = PITWALL_TRY(column(*chunk, EventColumn::dur));
    auto depths = PITWALL_TRY(column(*chunk, EventColumn::depth));
    if (names_.empty()) {
      names_ = PITWALL_TRY(idColumn(data_, *chunk, EventColumn::name));
    }
    std::int64_t left = node.events;
    for (auto row = static_cast<std::size_t>(node.row); row < starts.size() && left > 0; ++row) {
      if ((depths[row] & 0xffff) != depth) continue;
      --left;
      put(starts[row], durs[row], names_[row]);
    }
    return {};
  }

  TraceData& data_;
  const BinRequest& request_;
  const std::uint64_t width_;
  std::vector<Slot> bins_;
  std::shared_ptr<Chunk> chunk_;  // the last one read from
  std::uint32_t chunk_index_ = 0;
  std::span<const std::int64_t> names_;  // of it, checked once
  std::size_t recent_ = 0;               // the bin of the last time
  std::uint64_t recent_begin_ = 0;       // its offset from the first
};

Result<std::vector<EventBin>> EventPyramid::bins(const BinRequest& request) {
  Painter painter(data_, request);
  for (const DepthLevels& levels_of_depth : depths_) {
    if (request.depth.has_value() && levels_of_depth.depth != *request.depth) continue;
    const std::size_t top = levels_of_depth.levels.size() - 1;
    for (std::size_t at = 0; at < levels_of_depth.levels[top].size(); ++at) {
      PITWALL_TRY(painter.paint(levels_of_depth, top, at));
    }
  }
  return painter.take();
}

}  // namespace pitwall::store
