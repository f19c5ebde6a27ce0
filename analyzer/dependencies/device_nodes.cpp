// Reads the nodes of a device graph.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analyzer/analysis/host_threads.h"
#include "analyzer/analysis/launch_index.h"
#include "analyzer/analysis/track_kinds.h"
#include "analyzer/dependencies/device_edges.h"
#include "analyzer/dependencies/device_graph.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

bool isHostEvent(EventKind kind) {
  return kind == EventKind::operatorRun || kind == EventKind::api || kind == EventKind::communication ||
         kind == EventKind::dataWait;
}

class Loader {
 public:
  Loader(Trace& trace, const Activity& activity, DeviceGraph& out, std::size_t most)
      : trace_(trace), activity_(activity), out_(out), most_(most) {}

  // False in `fits` when there are too many.
  Status run(ProcessId process, bool& fits) {
    const auto tracks = trace_.tracks();
    const HostThreads host(tracks);
    for (std::uint32_t i = 0; i < tracks.size() && fits_; ++i) {
      const auto& info = tracks[i];
      if (info.kind == TrackKind::counter || (info.process && info.process != process)) continue;
      PITWALL_TRY(info.kind == TrackKind::thread ? readThread(TrackId{i + 1}, TrackId{host.first(i + 1)})
                                                 : readStream(TrackId{i + 1}, info));
    }
    fits = fits_;
    if (!fits_) return {};
    PITWALL_TRY(addLaunches());
    if (of_engine_) moveStarts();
    return finish();
  }

 private:
  struct HostEvent {
    Node node;
    CorrelationId correlation = 0;
  };
  struct Thread {
    TrackId id;
    std::vector<HostEvent> events;
    Intervals bulks;
    std::int64_t waits = 0;
  };

  template <typename Each>
  Status read(TrackId track, const Each& each) {
    const Interval window = out_.graph.window;
    const EventSelection selection{
        track, window.start_ns, window.end_ns,
        kStart | kDur | kPushed | kCorrelation | kValue | kName | kOperator | kKind};
    return trace_.eventColumns(selection, [&](const EventSpans& events) {
      for (std::size_t i = 0; i < events.size; ++i) {
        const TimeNs start = events.start_ns[i], end = start + events.dur_ns[i];
        if (start < window.end_ns && end > window.start_ns) each(events, i, start, end);
      }
      fits_ = host_events_ + work_.size() <= most_;
      return fits_;
    });
  }

  std::uint8_t meaning(StringId name, EventKind kind) {
    const auto [place, is_new] = meanings_.try_emplace(name.value, std::uint8_t{0});
    if (is_new) place->second = meaningOf(trace_.string(name), kind);
    return place->second;
  }

  Thread& threadOf(TrackId first_track) {
    const auto [place, is_new] =
        thread_index_.try_emplace(first_track, static_cast<std::uint32_t>(threads_.size()));
    if (is_new) threads_.push_back({.id = first_track, .events = {}, .bulks = {}});
    return threads_[place->second];
  }

  Status readThread(TrackId id, TrackId first_track) {
    Thread& thread = threadOf(first_track);
    thread_index_[id] = thread_index_[first_track];
    return read(id, [&](const EventSpans& events, std::size_t i, TimeNs start, TimeNs end) {
      const auto kind = static_cast<EventKind>(events.kind[i]);
      if (kind == EventKind::bulk) thread.bulks.push_back({start, end});
      if (!isHostEvent(kind) && kind != EventKind::wait) return;
      ++host_events_;
      thread.waits += kind == EventKind::wait;
      const StringId name{static_cast<std::uint32_t>(events.name[i])};
      HostEvent event{{.start_ns = start,
                       .end_ns = end,
                       .name = name,
                       .op = OperatorId{static_cast<std::uint32_t>(events.op[i])},
                       .track = id,
                       .kind = kind,
                       .meaning = kind == EventKind::api ? meaning(name, kind) : std::uint8_t{kNoMeaning}},
                      static_cast<CorrelationId>(events.correlation[i])};
      if (kind == EventKind::operatorRun && event.correlation != 0) {
        event.node.asked_ns = std::min(events.pushed_ns[i], start);
        of_engine_ |= events.pushed_ns[i] < start;
      }
      thread.events.push_back(event);
    });
  }

  // What is known of an engine alone is left out where there is none.
  void leaveOutEngine() {
    for (auto& thread : threads_) {
      std::erase_if(thread.events, [](const HostEvent& event) { return event.node.kind == EventKind::wait; });
      for (auto& event : thread.events) event.node.asked_ns = INT64_MIN;
      thread.bulks.clear();
    }
  }

  static void nest(std::vector<HostEvent>& events) {
    std::sort(events.begin(), events.end(), [](const HostEvent& a, const HostEvent& b) {
      return std::tuple(a.node.start_ns, -a.node.end_ns, a.node.name.value) <
             std::tuple(b.node.start_ns, -b.node.end_ns, b.node.name.value);
    });
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      while (!open.empty() && events[open.back()].node.end_ns <= events[i].node.start_ns) open.pop_back();
      events[i].node.parent = open.empty() ? Graph::kNone : open.back();
      open.push_back(i);
    }
  }

  // An operator that completes later is shown on no thread: a worker has started it, as the calls show that it made. It may
  // have done so long before the device ended what was before it, when the recorded operator begins.
  void moveStarts() {
    struct Start {
      std::uint32_t thread = 0;
      TimeNs begin_ns = INT64_MAX, end_ns = INT64_MIN;
    };
    std::unordered_map<CorrelationId, Start> starts;
    for (const auto& work : work_) {
      const auto thread = thread_index_.find(work.launch_track);
      if (work.op == 0 || thread == thread_index_.end()) continue;
      auto& start = starts[work.op];
      start = {thread->second, std::min(start.begin_ns, work.node.asked_ns),
               std::max(start.end_ns, work.launch_end_ns)};
    }
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      if (!isAsynchronous(trace_.tracks()[threads_[t].id.value - 1])) continue;
      std::erase_if(threads_[t].events, [&](HostEvent& event) {
        const auto start = starts.find(event.correlation);
        if (event.correlation == 0 || start == starts.end() || start->second.thread == t) return false;
        event.node.start_ns = std::min(event.node.start_ns, start->second.begin_ns);
        event.node.end_ns = std::clamp(start->second.end_ns, event.node.start_ns, event.node.end_ns);
        threads_[start->second.thread].events.push_back(event);
        return true;
      });
    }
  }

  Status readStream(TrackId id, const TrackInfo& info) {
    const auto first = work_.size();
    const auto stream = static_cast<std::uint32_t>(streams_.size());
    auto status = read(id, [&](const EventSpans& events, std::size_t i, TimeNs start, TimeNs end) {
      const auto kind = static_cast<EventKind>(events.kind[i]);
      if (!worksOnDevice(kind)) return;
      work_.push_back({{.start_ns = start,
                        .end_ns = end,
                        .name = StringId{static_cast<std::uint32_t>(events.name[i])},
                        .track = id,
                        .resource = stream,
                        .bytes = kind == EventKind::kernel ? 0 : events.value[i],
                        .kind = kind},
                       static_cast<CorrelationId>(events.correlation[i])});
    });
    if (!status.has_value() || work_.size() == first) return status;
    std::sort(work_.begin() + static_cast<std::ptrdiff_t>(first), work_.end(),
              [](const auto& a, const auto& b) {
                return std::tuple(a.node.start_ns, a.node.end_ns, a.node.name.value) <
                       std::tuple(b.node.start_ns, b.node.end_ns, b.node.name.value);
              });
    streams_.push_back({id, info.device});
    return {};
  }

  Status addLaunches() {
    std::vector<CorrelationId> correlations;
    for (const auto& work : work_) correlations.push_back(work.correlation);
    LaunchIndex launches(activity_);
    PITWALL_TRY(launches.load(trace_, std::move(correlations)));
    if (of_engine_) {
      PITWALL_TRY(launches.loadOperators(trace_));
    } else {
      leaveOutEngine();
    }
    for (auto& work : work_) {
      const auto* call = launches.find(work.correlation);
      if (call == nullptr) continue;
      work.launch_track = call->track;
      work.node.asked_ns = call->start_ns;
      work.launch_end_ns = call->end_ns;
      work.op = launches.operatorOf(*call);
    }
    return {};
  }

  Status finish() {
    EngineOperators engine;
    const auto place = keepThreads(usefulThreads(), engine);
    std::vector<Thread>().swap(threads_);
    std::vector<TimeNs> launch_end_ns;
    launch_end_ns.reserve(work_.size());
    const auto threads = static_cast<std::uint32_t>(out_.graph.resources.size());
    out_.first_work = static_cast<std::uint32_t>(out_.graph.nodes.size());
    for (const auto& work : work_) {
      out_.without_launch += !work.launch_track;
      Node node = work.node;
      node.resource += threads;
      const auto found = thread_index_.find(work.launch_track);
      if (found != thread_index_.end()) {
        node.asked_on = place[found->second];
      } else {
        node.asked_ns = INT64_MIN;
      }
      out_.graph.nodes.push_back(node);
      launch_end_ns.push_back(work.launch_end_ns);
    }
    std::vector<Work>().swap(work_);
    out_.graph.resources.insert(out_.graph.resources.end(), streams_.begin(), streams_.end());
    findCallsThatWait();
    listByEnd();
    auto edges = deviceEdges(out_, launch_end_ns);
    out_.graph.setEdges(edges);
    if (!of_engine_) return {};
    PITWALL_TRY(addEngineEdges(trace_, out_, engine, edges));
    out_.graph.setEdges(edges);
    return {};
  }

  // Threads that neither run operators nor launch anything wait in the operating system most of the time:
  // their work for the others is unknown.
  std::vector<bool> usefulThreads() const {
    std::vector<bool> useful(threads_.size());
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      useful[t] =
          std::any_of(threads_[t].events.begin(), threads_[t].events.end(), [](const HostEvent& event) {
            return event.node.kind != EventKind::api || (event.node.meaning & kSynchronises) != 0;
          });
    }
    for (const auto& work : work_) {
      const auto found = thread_index_.find(work.launch_track);
      if (found != thread_index_.end()) useful[found->second] = true;
    }
    return useful;
  }

  // Makes nodes of their events. Returns the resource of each thread.
  std::vector<std::uint32_t> keepThreads(const std::vector<bool>& useful, EngineOperators& engine) {
    auto& graph = out_.graph;
    graph.nodes.reserve(host_events_ + work_.size());
    std::vector<std::uint32_t> place(useful.size(), Graph::kNone);
    std::int64_t most_waits = 0;
    for (std::uint32_t t = 0; t < useful.size(); ++t) {
      Thread& thread = threads_[t];
      if (!useful[t] || thread.events.empty()) continue;
      const auto first = static_cast<std::uint32_t>(graph.nodes.size());
      place[t] = static_cast<std::uint32_t>(graph.resources.size());
      nest(thread.events);
      for (const auto& event : thread.events) {
        if (event.node.asked_ns != INT64_MIN)
          engine.nodes.emplace(event.correlation, static_cast<std::uint32_t>(graph.nodes.size()));
        auto& node = graph.nodes.emplace_back(event.node);
        node.resource = place[t];
        if (node.parent != Graph::kNone) node.parent += first;
      }
      graph.resources.push_back({thread.id, {}});
      out_.thread_begin.push_back(first);
      engine.bulks.push_back(std::move(thread.bulks));
      if (of_engine_ && thread.waits > most_waits) most_waits = thread.waits, out_.pushes = place[t];
    }
    out_.thread_begin.push_back(static_cast<std::uint32_t>(graph.nodes.size()));
    return place;
  }

  void findCallsThatWait() {
    for (std::uint32_t i = 0; i < out_.first_work; ++i) {
      const auto& event = out_.node(i);
      if (event.kind != EventKind::api) continue;
      out_.has_synchronisation |= (event.meaning & kSynchronises) != 0;
      out_.has_stream_waits |= trace_.string(event.name).find("StreamWaitEvent") != std::string::npos;
    }
  }

  void listByEnd() {
    const auto& nodes = out_.graph.nodes;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].durNs() <= 0) continue;
      if (out_.isWork(i)) {
        out_.work_by_end.push_back(i);
      } else if (nodes[i].parent == Graph::kNone) {
        out_.roots_by_end.push_back(i);
      }
    }
    for (auto* list : {&out_.work_by_end, &out_.roots_by_end}) {
      std::sort(list->begin(), list->end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(nodes[a].end_ns, nodes[a].start_ns, a) <
               std::tuple(nodes[b].end_ns, nodes[b].start_ns, b);
      });
    }
  }

  struct Work {
    Node node;  // its resource is an index in streams_
    CorrelationId correlation = 0;
    TrackId launch_track = {};  // none = not in the trace
    TimeNs launch_end_ns = 0;
    CorrelationId op = 0;  // that launched it; 0 = none or unknown
  };

  Trace& trace_;
  const Activity& activity_;
  DeviceGraph& out_;
  std::size_t most_;
  bool fits_ = true, of_engine_ = false;
  std::size_t host_events_ = 0;
  std::vector<Thread> threads_;
  std::vector<Work> work_;
  std::vector<Resource> streams_;
  std::unordered_map<std::uint32_t, std::uint8_t> meanings_;  // by name, of calls
  std::unordered_map<TrackId, std::uint32_t> thread_index_;   // by each of its tracks
};

}  // namespace

Result<DeviceGraph> graphOfDevices(Trace& trace, const Activity& activity, Interval window, ProcessId process,
                                   std::size_t most) {
  for (;;) {
    DeviceGraph devices;
    devices.graph.window = window;
    bool fits = true;
    PITWALL_TRY(Loader(trace, activity, devices, most).run(process, fits));
    const TimeNs quarter = (window.end_ns - window.start_ns) / 4;
    if (fits) return devices;
    if (quarter == 0) return DeviceGraph{};
    window = {window.start_ns + quarter, window.end_ns - quarter};
  }
}

}  // namespace pitwall::analysis
