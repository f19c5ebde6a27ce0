#include "analyzer/analysis/window_events.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analyzer/analysis/launch_index.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr std::uint32_t kNone = WindowEvents::kNone;

bool isHostEvent(EventKind kind) {
  return kind == EventKind::operatorRun || kind == EventKind::api || kind == EventKind::communication ||
         kind == EventKind::dataWait;
}

class Loader {
 public:
  Loader(Trace& trace, const Activity& activity, WindowEvents& out, std::size_t most)
      : trace_(trace), activity_(activity), out_(out), most_(most) {}

  // False in `fits` when there are too many.
  Status run(ProcessId process, bool& fits) {
    const auto tracks = trace_.tracks();
    for (std::uint32_t i = 0; i < tracks.size() && fits_; ++i) {
      const auto& info = tracks[i];
      if (info.kind == TrackKind::counter || (info.process && info.process != process)) continue;
      PITWALL_TRY(info.kind == TrackKind::thread ? readThread(TrackId{i + 1})
                                                 : readStream(TrackId{i + 1}, info));
    }
    fits = fits_;
    if (!fits_) return {};
    PITWALL_TRY(addLaunches());
    finish();
    return {};
  }

 private:
  template <typename Each>
  Status read(TrackId track, const Each& each) {
    const EventSelection selection{track, out_.window.start_ns, out_.window.end_ns,
                                   kStart | kDur | kCorrelation | kName | kOperator | kKind};
    return trace_.eventColumns(selection, [&](const EventSpans& events) {
      for (std::size_t i = 0; i < events.size; ++i) {
        const TimeNs start = events.start_ns[i], end = start + events.dur_ns[i];
        if (start < out_.window.end_ns && end > out_.window.start_ns) each(events, i, start, end);
      }
      fits_ = out_.host.size() + out_.work.size() <= most_;
      return fits_;
    });
  }

  std::uint8_t meaning(StringId name, EventKind kind) {
    const auto [place, is_new] = meanings_.try_emplace(name.value, std::uint8_t{0});
    if (is_new) place->second = meaningOf(trace_.string(name), kind);
    return place->second;
  }

  Status readThread(TrackId id) {
    const auto first = static_cast<std::uint32_t>(out_.host.size());
    auto status = read(id, [&](const EventSpans& events, std::size_t i, TimeNs start, TimeNs end) {
      const auto kind = static_cast<EventKind>(events.kind[i]);
      if (!isHostEvent(kind)) return;
      const StringId name{static_cast<std::uint32_t>(events.name[i])};
      out_.host.push_back({start, end, name, OperatorId{static_cast<std::uint32_t>(events.op[i])}, kNone,
                           kind, kind == EventKind::api ? meaning(name, kind) : std::uint8_t{kNoMeaning}});
    });
    if (!status.has_value() || out_.host.size() == first) return status;
    std::sort(out_.host.begin() + first, out_.host.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.start_ns, -a.end_ns, a.name.value) <
             std::tuple(b.start_ns, -b.end_ns, b.name.value);
    });
    nest(first);
    thread_index_[id] = static_cast<std::uint32_t>(out_.threads.size());
    out_.threads.push_back({id, first, static_cast<std::uint32_t>(out_.host.size())});
    return {};
  }

  void nest(std::uint32_t first) {
    std::vector<std::uint32_t> open;
    for (auto i = first; i < out_.host.size(); ++i) {
      while (!open.empty() && out_.host[open.back()].end_ns <= out_.host[i].start_ns) open.pop_back();
      out_.host[i].parent = open.empty() ? kNone : open.back();
      open.push_back(i);
    }
  }

  Status readStream(TrackId id, const TrackInfo& info) {
    const auto first = out_.work.size();
    const auto stream = static_cast<std::uint32_t>(out_.streams.size());
    auto status = read(id, [&](const EventSpans& events, std::size_t i, TimeNs start, TimeNs end) {
      const auto kind = static_cast<EventKind>(events.kind[i]);
      if (!worksOnDevice(kind)) return;
      WindowEvents::Work work{start, end, StringId{static_cast<std::uint32_t>(events.name[i])}, kind, stream};
      work.correlation = static_cast<CorrelationId>(events.correlation[i]);
      out_.work.push_back(work);
    });
    if (!status.has_value() || out_.work.size() == first) return status;
    std::sort(out_.work.begin() + static_cast<std::ptrdiff_t>(first), out_.work.end(),
              [](const auto& a, const auto& b) {
                return std::tuple(a.start_ns, a.end_ns, a.name.value) <
                       std::tuple(b.start_ns, b.end_ns, b.name.value);
              });
    for (auto i = first + 1; i < out_.work.size(); ++i)
      out_.work[i].before = static_cast<std::uint32_t>(i - 1);
    out_.streams.push_back({id, info.device});
    return {};
  }

  Status addLaunches() {
    std::vector<CorrelationId> correlations;
    for (const auto& work : out_.work) correlations.push_back(work.correlation);
    LaunchIndex launches(activity_);
    PITWALL_TRY(launches.load(trace_, std::move(correlations)));
    for (auto& work : out_.work) {
      const auto* call = launches.find(work.correlation);
      if (call == nullptr) continue;
      work.call_thread = call->track.value;  // temporary; see finish()
      work.call_start_ns = call->start_ns;
      work.call_end_ns = call->end_ns;
    }
    return {};
  }

  // Threads that neither run operators nor launch anything wait in the operating system most of the time:
  // their work for the others is unknown.
  void finish() {
    std::vector<bool> useful(out_.threads.size());
    for (std::size_t t = 0; t < out_.threads.size(); ++t) {
      for (auto i = out_.threads[t].first; i < out_.threads[t].last && !useful[t]; ++i)
        useful[t] = out_.host[i].kind != EventKind::api || (out_.host[i].meaning & kSynchronises) != 0;
    }
    for (auto& work : out_.work) {
      const auto found = thread_index_.find(TrackId{work.call_thread});
      const bool known = work.call_thread != kNone && found != thread_index_.end();
      if (known) useful[found->second] = true;
      out_.without_launch += work.call_thread == kNone;
      work.call_thread = known ? found->second : kNone;
    }
    keepThreads(useful);
    for (const auto& event : out_.host) {
      if (event.kind != EventKind::api) continue;
      out_.has_synchronisation |= (event.meaning & kSynchronises) != 0;
      out_.has_stream_waits |= trace_.string(event.name).find("StreamWaitEvent") != std::string::npos;
    }
    const auto list = [](const auto& events, auto keep) {
      std::vector<std::uint32_t> result;
      for (std::uint32_t i = 0; i < events.size(); ++i) {
        if (events[i].end_ns > events[i].start_ns && keep(i)) result.push_back(i);
      }
      std::sort(result.begin(), result.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(events[a].end_ns, events[a].start_ns, a) <
               std::tuple(events[b].end_ns, events[b].start_ns, b);
      });
      return result;
    };
    out_.work_by_end = list(out_.work, [](std::uint32_t) { return true; });
    out_.roots_by_end = list(out_.host, [this](std::uint32_t i) { return out_.host[i].parent == kNone; });
  }

  void keepThreads(const std::vector<bool>& useful) {
    std::vector<WindowEvents::HostEvent> host;
    std::vector<WindowEvents::Thread> threads;
    std::vector<std::uint32_t> place(useful.size(), kNone);
    for (std::uint32_t t = 0; t < useful.size(); ++t) {
      if (!useful[t]) continue;
      const auto& thread = out_.threads[t];
      const auto first = static_cast<std::uint32_t>(host.size());
      place[t] = static_cast<std::uint32_t>(threads.size());
      for (auto i = thread.first; i < thread.last; ++i) {
        host.push_back(out_.host[i]);
        if (host.back().parent != kNone) host.back().parent += first - thread.first;
      }
      threads.push_back({thread.id, first, static_cast<std::uint32_t>(host.size())});
      out_.thread_of.resize(host.size(), place[t]);
    }
    for (auto& work : out_.work) {
      if (work.call_thread != kNone) work.call_thread = place[work.call_thread];
    }
    out_.host = std::move(host);
    out_.threads = std::move(threads);
  }

  Trace& trace_;
  const Activity& activity_;
  WindowEvents& out_;
  std::size_t most_;
  bool fits_ = true;
  std::unordered_map<std::uint32_t, std::uint8_t> meanings_;  // by name, of calls
  std::unordered_map<TrackId, std::uint32_t> thread_index_;
};

}  // namespace

std::uint32_t WindowEvents::lastBefore(std::uint32_t thread, TimeNs at) const {
  const auto begin = host.begin() + threads[thread].first, end = host.begin() + threads[thread].last;
  const auto after =
      std::partition_point(begin, end, [at](const HostEvent& event) { return event.start_ns < at; });
  return after == begin ? kNone : static_cast<std::uint32_t>(after - host.begin() - 1);
}

std::size_t WindowEvents::workEnded(TimeNs at) const {
  const auto after = std::partition_point(work_by_end.begin(), work_by_end.end(),
                                          [&](std::uint32_t i) { return work[i].end_ns <= at; });
  return static_cast<std::size_t>(after - work_by_end.begin());
}

std::size_t WindowEvents::rootsEnded(TimeNs at) const {
  const auto after = std::partition_point(roots_by_end.begin(), roots_by_end.end(),
                                          [&](std::uint32_t i) { return host[i].end_ns <= at; });
  return static_cast<std::size_t>(after - roots_by_end.begin());
}

Result<WindowEvents> readWindow(Trace& trace, const Activity& activity, Interval window, ProcessId process,
                                std::size_t most) {
  for (;;) {
    WindowEvents events;
    events.window = window;
    bool fits = true;
    PITWALL_TRY(Loader(trace, activity, events, most).run(process, fits));
    const TimeNs quarter = (window.end_ns - window.start_ns) / 4;
    if (fits) return events;
    if (quarter == 0) return WindowEvents{};
    window = {window.start_ns + quarter, window.end_ns - quarter};
  }
}

}  // namespace pitwall::analysis
