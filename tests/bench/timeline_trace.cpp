#include "tests/bench/timeline_trace.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "db/store.h"

namespace pitwall::bench {
namespace {

constexpr int kThreads = 48, kStreams = 16, kDepths = 5, kNames = 2000, kLayers = 150;

template <class T>
T must(Result<T> result) {
  if (result.has_value()) return std::move(result).value();
  std::fprintf(stderr, "timeline_bench: %s\n", result.error().message.c_str());
  std::exit(1);
}

// Events of one track in the order of their starts. Bursts of work between pauses, lengths over several
// orders of magnitude; on a thread each outermost event has up to four levels inside.
class MadeLane {
 public:
  MadeLane(std::uint64_t seed, int depths, const std::vector<StringId>& names,
           const std::vector<OperatorId>& operators)
      : random_(seed), depths_(depths), names_(names), operators_(operators) {}

  void next(std::size_t count, std::vector<Event>& events) {
    events.clear();
    while (events.size() < count) {
      if (in_burst_-- == 0) {
        in_burst_ = 20 + static_cast<int>(random_() % 2000);
        now_ += length(12.0, 1.5);  // a pause of some hundred microseconds
      }
      now_ += length(6.0, 1.0);
      // A few names are most of the events, as a few operators are most of a network.
      const double share = static_cast<double>(random_() % 10'000) / 10'000;
      const auto name = static_cast<std::size_t>(share * share * share * (kNames - 1));
      now_ = nested({0, name, now_, depths_ == 1 ? length(8.5, 1.2) : length(10.5, 1.0)}, events);
    }
  }

 private:
  TimeNs length(double mean, double spread) {
    return static_cast<TimeNs>(std::exp(mean + spread * normal_(random_)));
  }
  struct Made {
    int depth;
    std::size_t name;
    TimeNs start, dur;
  };
  // Returns the end.
  TimeNs nested(const Made& made, std::vector<Event>& events) {
    const auto [depth, name, start, dur] = made;
    Event event;
    event.kind = depths_ == 1 ? EventKind::kernel : EventKind::scope;
    event.start_ns = event.pushed_ns = event.ready_ns = start;
    event.dur_ns = dur;
    event.depth = static_cast<std::uint16_t>(depth);
    event.name = names_[name];
    event.op = operators_[name % operators_.size()];
    events.push_back(event);
    if (depth + 1 < depths_ && dur > 100) {
      TimeNs begin = start + dur / 50;
      const auto parts = static_cast<TimeNs>(1 + random_() % 2);
      for (TimeNs part = 0; part < parts; ++part) {
        const TimeNs room = dur / parts - dur / 25;
        // Inner events depend on the enclosing ones.
        const std::size_t inside = (name * 3 + static_cast<std::size_t>(part) + 1) % kNames;
        nested({depth + 1, inside, begin, room * static_cast<TimeNs>(50 + random_() % 50) / 100}, events);
        begin += dur / parts;
      }
    }
    return start + dur;
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  const int depths_;
  const std::vector<StringId>& names_;
  const std::vector<OperatorId>& operators_;
  TimeNs now_ = 0;
  int in_burst_ = 0;
};

void finish(TraceSink& sink) {
  if (const Status status = sink.finish(); !status.has_value()) {
    std::fprintf(stderr, "timeline_bench: %s\n", status.error().message.c_str());
    std::exit(1);
  }
}

}  // namespace

void makeManyTracks(const std::string& path, int tracks) {
  std::unique_ptr<TraceSink> sink = must(createTrace(path));
  const ProcessId process = sink->process({.pid = 1, .name = "train", .command_line = "train"});
  const StringId names[] = {sink->string("step"), sink->string("wait")};
  for (int i = 0; i < tracks; ++i) {
    const ThreadId thread = sink->thread({process, i + 1, fmt::format("thread {}", i)});
    const TrackId track = sink->track({TrackKind::thread, process, thread, {}, "", ""});
    const Event events[] = {{.start_ns = i * 100, .dur_ns = 1'000'000, .name = names[0]},
                            {.start_ns = i * 100 + 1'500'000, .dur_ns = 9000, .name = names[1]}};
    sink->events(track, events);
  }
  finish(*sink);
}

void makeTimelineTrace(const std::string& path, std::int64_t events) {
  std::unique_ptr<TraceSink> sink = must(createTrace(path));
  const ProcessId process = sink->process({.pid = 1, .name = "train", .command_line = "train"});
  const DeviceId device = sink->device({.kind = "gpu", .index = 0, .name = "GPU"});
  std::vector<StringId> names;
  for (int i = 0; i < kNames; ++i)
    names.push_back(sink->string(fmt::format("layer{}_{}", i, i % 3 == 0 ? "convolution_forward" : "relu")));
  std::vector<OperatorId> operators;
  for (int i = 0; i < kLayers; ++i) {
    OperatorFacts facts;
    facts.name = "Convolution";
    facts.layer = fmt::format("layer{}", i);
    facts.phase = i % 2 == 0 ? Phase::forward : Phase::backward;
    operators.push_back(sink->operatorFacts(facts));
  }
  std::vector<TrackId> tracks;
  std::vector<MadeLane> made;
  for (int i = 0; i < kThreads + kStreams; ++i) {
    TrackInfo track;
    track.kind = i < kThreads ? TrackKind::thread : TrackKind::stream;
    track.process = process;
    if (track.kind == TrackKind::stream) track.device = device;
    track.name = i < kThreads ? fmt::format("worker {}", i) : fmt::format("stream {}", i - kThreads);
    tracks.push_back(sink->track(track));
    made.emplace_back(static_cast<std::uint64_t>(i + 1), i < kThreads ? kDepths : 1, names, operators);
  }
  std::vector<Event> portion;
  const std::int64_t of_track = events / (kThreads + kStreams);
  for (std::int64_t done = 0; done < of_track; done += 4096) {
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      made[i].next(static_cast<std::size_t>(std::min<std::int64_t>(4096, of_track - done)), portion);
      sink->events(tracks[i], portion);
    }
  }
  finish(*sink);
}

std::shared_ptr<const gui::Timeline> loadPlain(const std::string& path) {
  const auto trace = must(Trace::open(path));
  return must(gui::loadTimeline(*trace));
}

double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double processSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void line(std::string_view what, const std::string& figure, std::string_view target) {
  fmt::print("  {:<58} {:>28}   {}\n", what, figure, target);
  std::fflush(stdout);
}

double Times::at(double share) const {
  std::vector<double> sorted = ms_;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0
                        : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

std::string Times::text() const {
  return fmt::format("{:.2f} / {:.2f} / {:.2f} ms", at(0), at(0.5), at(0.99));
}

}  // namespace pitwall::bench
