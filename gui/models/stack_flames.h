// The flame graph of sampled stacks: functions below those that call them, as wide as their time. A wait is innermost.
// Plain C++.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "db/reader.h"
#include "gui/models/flame_tree.h"

namespace pitwall::gui {

// The stacks of a trace in memory, read once. Samples of one thread are ordered by time.
struct SampledStacks {
  struct Sample {
    TimeNs start_ns = 0, dur_ns = 0;  // what it stands for
    StackId stack;
  };
  struct Thread {
    std::uint32_t name = 0;  // in `names`
    ThreadId id;
    std::vector<Sample> samples;
  };
  struct Frame {
    std::uint32_t name = 0;
    ColorIndex color = 0;
  };
  std::vector<std::string> names;  // of functions, states and threads; [0] is empty
  std::vector<Frame> frames;       // by FrameId.value - 1
  std::vector<StackInfo> stacks;   // by StackId.value - 1
  std::vector<Thread> threads;
  std::vector<ThreadId> thread_of_track;  // by TrackId.value - 1
};

// Errors: corruptTrace.
Result<std::shared_ptr<const SampledStacks>> readSampledStacks(Trace& trace);

// Of [from, to): of the threads of which one of these tracks (indices into timeline.tracks) is, and of those that have no
// track in the timeline. Stops with what it has when *cancel becomes true.
FlameTree stackFlameTree(const SampledStacks& stacks, const Timeline& timeline,
                         const std::vector<std::size_t>& tracks, TimeNs from, TimeNs to,
                         FlameGrouping grouping, const std::atomic<bool>* cancel = nullptr);

}  // namespace pitwall::gui
