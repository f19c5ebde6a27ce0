// A trace as the timeline shows it: processes, their threads, streams and counters, and the lanes of each, in
// memory. Built once by a loading thread, then read by the user interface and never changed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/reader.h"
#include "gui/timeline/counter_series.h"
#include "gui/timeline/duration_classes.h"
#include "gui/timeline/lane_builder.h"
#include "gui/timeline/name_groups.h"
#include "gui/timeline/name_index.h"
#include "gui/timeline/tile_pyramid.h"

namespace pitwall::gui {

inline constexpr std::size_t kNoTrack = static_cast<std::size_t>(-1);

// What a sampled thread does (thread_states.h).
struct ThreadStates {
  Lane lane;
  TilePyramid pyramid;
};

// Live memory of a tag and of those below it (memory_stack.h).
struct MemoryLayer {
  std::string tag;
  CounterSeries top;
};

// An event of a key-value store's operator (store_keys.h).
struct StoreEvent {
  TimeNs start_ns = 0, dur_ns = 0;
  std::uint32_t name = 0;  // in Timeline::store_names
};

struct TimelineTrack {
  TrackId id;  // kThreadRow and more: stands for a thread that has counters and no events
  TrackKind kind = TrackKind::thread;
  std::size_t process = 0;      // index into Timeline::processes
  std::string title;            // names it within its process: "gpu 0 stream 7", "main: cpu (share)"
  std::string label;            // of a counter below its thread's row: "cpu (share)"; else empty
  std::size_t distinct_to = 0;  // the title up to here differs from every other title
  std::string unit;             // of a counter
  std::string device;           // "gpu 0"; empty = none
  std::uint32_t thread = 0;     // ThreadId.value; 0 = none
  std::string thread_name;
  std::size_t parent = kNoTrack;  // of a counter: its thread's track, which is before it
  std::size_t events = 0;
  std::vector<Lane> lanes;               // nested or overlapping events are in lower lanes
  std::vector<TilePyramid> pyramids;     // of each lane
  std::vector<NameIndex> name_indices;   // of each lane; may be missing
  std::vector<StoreEvent> store_events;  // by start
  CounterSeries counter;
  std::shared_ptr<const std::vector<MemoryLayer>> memory;  // of a row of all tags, lowest first; else null
  std::shared_ptr<const ThreadStates> states;              // of a thread; null: it was not sampled
};

struct TimelineProcess {
  std::string title;  // "rank 0: train_lenet (4711)"
  std::int64_t pid = 0;
  int rank = 0;
};

// Ids of tracks that the trace does not have: this plus the thread's.
inline constexpr std::uint32_t kThreadRow = 0x80000000;

struct Timeline {
  std::string path;
  bool complete = true;
  std::vector<TimelineProcess> processes;
  std::vector<TimelineTrack>
      tracks;  // of one process together; devices with streams and counters, then threads with their counters,
               // by activity, then other counters
  std::vector<IterationMark> iterations;
  std::vector<Loss> losses;
  std::vector<std::string> names;  // by StringId.value; [0] and names without events are empty
  std::vector<std::string>
      store_names;    // of a store's operators and their keys: "KVStoreReduce conv1.weight"
  NameGroups groups;  // of `names`; empty: each name is by itself
  std::vector<std::uint64_t> name_counts;  // number of events with the name; empty: unknown
  DurationClasses classes;                 // of all events; empty: unknown
  std::size_t events = 0;
  TimeNs begin_ns = 0, end_ns = 0;
  bool from_cache = false;

  const std::string& name(std::uint32_t id) const { return id < names.size() ? names[id] : names[0]; }
  // The name without what differs from event to event, and the first name of that group.
  const std::string& groupName(std::uint32_t id) const {
    return id < groups.group_of.size() ? groups.titles[groups.group_of[id]] : name(id);
  }
  // What has room on an event: without op_id and such, but with the number of a step. Numbers above those of names are those of store_names.
  const std::string& label(std::uint32_t id) const {
    if (id >= names.size() && id - names.size() < store_names.size()) return store_names[id - names.size()];
    const bool grouped = id < groups.group_of.size() && !groups.labels[groups.group_of[id]].empty();
    return grouped ? groups.labels[groups.group_of[id]] : name(id);
  }
  std::uint32_t firstOfGroup(std::uint32_t id) const {
    return id < groups.group_of.size() ? groups.first[groups.group_of[id]] : id;
  }
};

struct LoadControl {
  std::function<void(double share)> progress;  // 0..1, from the loading thread
  const std::atomic<bool>* cancel = nullptr;
  std::string cache_folder = {};  // of timeline_cache.h; empty: neither read nor written
};

// Reads columns of events, never rows; about as fast as they can be decoded. Errors: those of reading;
// cancelled.
Result<std::shared_ptr<const Timeline>> loadTimeline(Trace& trace, const LoadControl& control = {});

// The lanes of some events (lane_builder.h), whose colours say the category alone.
std::vector<Lane> lanesOf(const std::vector<Event>& events, std::span<const OperatorFacts> facts);

}  // namespace pitwall::gui
