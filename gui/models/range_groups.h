// What happened in a time range, by other keys than names: those that the timeline keeps no column of
// are read from the trace. Plain C++; made in the background.
#pragma once

#include "gui/timeline/aggregate.h"

namespace pitwall::gui {

// Names: with what differs from event to event left out (name_groups.h), or exactly.
enum class RangeGrouping { name, category, layer, thread, stream, phase, exactName };

struct GroupedRows {
  std::vector<std::string> labels;
  std::vector<AggregateRow> rows;        // `name` is the index of the label; by total time, highest first
  std::string error;                     // empty: none
  std::vector<std::size_t> tracks = {};  // of each label, where one is a track
};

// By thread or by stream: one group each of these tracks.
GroupedRows groupTracks(const Timeline& timeline, const std::vector<std::size_t>& tracks, TrackKind kind,
                        TimeNs from, TimeNs to, const std::atomic<bool>& cancel);

// By category (the kind of an event), by layer or by phase of its operator.
GroupedRows groupEvents(Trace& trace, const Timeline& timeline, const std::vector<std::size_t>& tracks,
                        RangeGrouping grouping, TimeNs from, TimeNs to, const std::atomic<bool>& cancel);

// The names, as groups, of the events in one of the rows of groupEvents(): those of that label.
GroupedRows namesWithin(Trace& trace, const Timeline& timeline, const std::vector<std::size_t>& tracks,
                        RangeGrouping grouping, const std::string& label, TimeNs from, TimeNs to,
                        const std::atomic<bool>& cancel);

}  // namespace pitwall::gui
