#include "gui/models/stack_flames.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "db/stacks.h"
#include "db/try.h"
#include "gui/models/flame_builder.h"
#include "gui/timeline/palette.h"

namespace pitwall::gui {
namespace {

class Reader {
 public:
  explicit Reader(Trace& trace) : trace_(trace) { name(""); }

  Result<std::shared_ptr<const SampledStacks>> read() {
    for (const FrameInfo& frame : trace_.frames()) {
      const std::uint32_t number = name(frame.function);
      read_.frames.push_back({number, colorOf(kindOf(frame), Phase::none, hueOfName(frame.function), false)});
    }
    read_.stacks.assign(trace_.stacks().begin(), trace_.stacks().end());
    const auto tracks = trace_.tracks();
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      read_.thread_of_track.push_back(tracks[i].thread);
      if (tracks[i].kind == TrackKind::counter && tracks[i].unit == kStackUnit &&
          tracks[i].name != kNativeFunctionTrack)
        PITWALL_TRY(addThread(TrackId{i + 1}, tracks[i]));
    }
    return std::make_shared<const SampledStacks>(std::move(read_));
  }

 private:
  // Its colour distinguishes the languages and waiting.
  static EventKind kindOf(const FrameInfo& frame) {
    if (frame.language == kStateLanguage) return EventKind::wait;
    return frame.language == "python" ? EventKind::scope : EventKind::api;
  }

  std::uint32_t name(const std::string& text) {
    const auto [found, fresh] = numbers_.try_emplace(text, static_cast<std::uint32_t>(read_.names.size()));
    if (fresh) read_.names.push_back(text);
    return found->second;
  }

  Status addThread(TrackId id, const TrackInfo& track) {
    SampledStacks::Thread& thread = read_.threads.emplace_back();
    thread.id = track.thread;
    thread.name = name(titleOf(track));
    const std::vector<CounterSample> samples = PITWALL_TRY(trace_.counters(id));
    const std::vector<TimeNs> times = stackTimes(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const StackId stack = stackOf(samples[i], read_.stacks.size());
      if (stack && times[i] > 0) thread.samples.push_back({samples[i].time_ns, times[i], stack});
    }
    return {};
  }

  std::string titleOf(const TrackInfo& track) const {
    if (!track.thread) return track.name;
    const ThreadInfo& thread = trace_.threads()[track.thread.value - 1];
    return fmt::format("{} ({})", thread.name.empty() ? "thread" : thread.name, thread.tid);
  }

  Trace& trace_;
  SampledStacks read_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// Threads of which the timeline has tracks, but none of `tracks`.
std::set<ThreadId> hiddenThreads(const SampledStacks& stacks, const Timeline& timeline,
                                 const std::vector<std::size_t>& tracks) {
  const auto threadOf = [&](std::size_t track) {
    if (timeline.tracks[track].thread != 0) return ThreadId{timeline.tracks[track].thread};
    const std::size_t at = timeline.tracks[track].id.value - 1;
    return at < stacks.thread_of_track.size() ? stacks.thread_of_track[at] : ThreadId{};
  };
  std::set<ThreadId> hidden;
  for (std::size_t track = 0; track < timeline.tracks.size(); ++track) hidden.insert(threadOf(track));
  for (const std::size_t track : tracks) hidden.erase(threadOf(track));
  hidden.erase(ThreadId{});
  return hidden;
}

class StackFlames {
 public:
  StackFlames(FlameTree& tree, const SampledStacks& stacks) : tree_(tree), stacks_(stacks), builder_(tree) {}

  void add(const SampledStacks::Thread& thread) {
    const auto first = std::ranges::partition_point(thread.samples, [&](const SampledStacks::Sample& sample) {
      return sample.start_ns + sample.dur_ns <= tree_.from_ns;
    });
    std::map<StackId, Sum> sums;
    for (auto sample = first; sample != thread.samples.end() && sample->start_ns < tree_.to_ns; ++sample) {
      Sum& sum = sums[sample->stack];
      ++sum.count;
      sum.total_ns += std::min(sample->start_ns + sample->dur_ns, tree_.to_ns) -
                      std::max(sample->start_ns, tree_.from_ns);
    }
    if (sums.empty()) return;
    const std::uint32_t root = tree_.by_track ? builder_.trackNode(thread.name) : 0;
    for (const auto& [stack, sum] : sums) addStack(stack, sum, root);
  }

 private:
  struct Sum {
    std::int64_t count = 0;
    TimeNs total_ns = 0;
  };

  void addStack(StackId stack, const Sum& sum, std::uint32_t node) {
    constexpr std::size_t kMostFrames = 1024;  // the recorder's limit; a damaged file may have more
    frames_.clear();
    for (; stack && frames_.size() < kMostFrames; stack = stacks_.stacks[stack.value - 1].caller)
      frames_.push_back(&stacks_.frames[stacks_.stacks[stack.value - 1].frame.value - 1]);
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      node = builder_.child(node, (*frame)->name, (*frame)->color);
      tree_.nodes[node].count += sum.count;
      tree_.nodes[node].total_ns += sum.total_ns;
    }
    tree_.nodes[node].self_ns += sum.total_ns;
  }

  FlameTree& tree_;
  const SampledStacks& stacks_;
  FlameBuilder builder_;
  std::vector<const SampledStacks::Frame*> frames_;  // of one stack, innermost first
};

}  // namespace

Result<std::shared_ptr<const SampledStacks>> readSampledStacks(Trace& trace) { return Reader(trace).read(); }

FlameTree stackFlameTree(const SampledStacks& stacks, const Timeline& timeline,
                         const std::vector<std::size_t>& tracks, TimeNs from, TimeNs to,
                         FlameGrouping grouping, const std::atomic<bool>* cancel) {
  FlameTree tree;
  tree.from_ns = from;
  tree.to_ns = to;
  tree.by_track = grouping == FlameGrouping::byTrack;
  tree.of_stacks = true;
  tree.names = stacks.names;
  const auto hidden = hiddenThreads(stacks, timeline, tracks);
  StackFlames flames(tree, stacks);
  for (const SampledStacks::Thread& thread : stacks.threads) {
    if (cancel != nullptr && cancel->load()) break;
    if (!hidden.contains(thread.id)) flames.add(thread);
  }
  finishFlameTree(tree);
  return tree;
}

}  // namespace pitwall::gui
