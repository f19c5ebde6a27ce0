#include "db/import/build/builder.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <thread>

#include "db/import/input/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kHeldEvents = std::size_t{1} << 19;

}  // namespace

Builder::Builder(TraceSink& sink, ImportSummary& summary)
    : sink_(sink),
      tally_(summary),
      tracks_(sink, tally_),
      names_(sink, tally_, [this](OperatorId id, const OperatorFacts& facts) { phases_.known(id, facts); }),
      phases_(names_),
      nesting_(tally_),
      arrows_(tally_),
      marks_(tally_) {}

// --- Data ---

bool Builder::add(TrackRef track, Event event) {
  tally_.repairLength(event);
  if (!InputClock::inRange(event.start_ns) || !InputClock::inRange(event.dur_ns) ||
      !InputClock::inRange(event.start_ns + event.dur_ns)) {
    tally_.dropped("events with a time out of range", fmt::format("start {} ns", event.start_ns));
    return false;
  }
  event.pushed_ns = event.start_ns;
  event.ready_ns = event.start_ns;
  clock_.extend(event.start_ns, event.start_ns + event.dur_ns);
  tally_.countEvents(event.kind, 1);
  tracks_[track].events.push_back(event);
  flushIfFull();
  return true;
}

void Builder::sample(TrackRef track, std::int64_t time_ns, double value) {
  if (!InputClock::inRange(time_ns)) {
    tally_.dropped("counter samples with a time out of range", fmt::format("time {} ns", time_ns));
    return;
  }
  clock_.extend(time_ns, time_ns);
  tally_.countSamples(1);
  tracks_[track].samples.push_back({time_ns, value});
  flushIfFull();
}

void Builder::mark(std::int64_t index, std::int64_t time_ns) {
  if (InputClock::inRange(time_ns)) marks_.add(index, time_ns);
}

void Builder::flow(const FlowPoint& point) {
  if (!InputClock::inRange(point.time_ns)) return tally_.dropped("arrows with a time out of range", "");
  arrows_.add(point);
  flushIfFull();
}

void Builder::meta(std::string_view key, std::string_view value) {
  std::string clean;
  appendClean(value, clean);
  // With several inputs, the trace has the facts of the first, and what makes the times of one of them wrong.
  const bool is_of_all = input_number_ <= 1 || key == meta::kSerialisedKernels;
  sink_.meta(is_of_all ? std::string(key) : fmt::format("input.{}.{}", input_number_, key), clean);
}

void Builder::flushIfFull() {
  if (++held_ >= kHeldEvents) flush();
}

void Builder::flush() {
  const std::int64_t zero = clock_.zero();
  for (Track& track : tracks_.all()) nesting_.apply(track.events, track.open, track.thread_key);
  arrows_.bind(tracks_, phases_);
  for (Track& track : tracks_.all()) {
    if (track.kind == TrackKind::thread && !track.events.empty()) phases_.apply(track.events, track.phases);
  }
  phases_.endFlush();
  tracks_.emit(zero, kHeldEvents);
  arrows_.emit(sink_);
  held_ = 0;
}

// --- Inputs ---

void Builder::beginInput() {
  ++input_number_;
  tracks_.beginInput();
  arrows_.beginInput();
  phases_.beginInput();
  marks_.beginInput();
  clock_.beginInput();
}

void Builder::place(TimeNs begin_ns, std::optional<int> rank, bool shows_rank) {
  clock_.place(begin_ns);
  if (shows_rank) tracks_.showRank();
  if (rank) tracks_.rank(*rank);
}

void Builder::origin(const ProfileOrigin& origin) {
  if (origin.start_unix_ns && InputClock::inRange(*origin.start_unix_ns))
    clock_.wallClock(*origin.start_unix_ns);
  tracks_.writer(origin.pid);
  if (!origin.framework.empty()) sink_.meta(meta::kFrameworkProfile, origin.framework);
  for (const auto& [handle, tid] : origin.threads) {
    // As MXNet writes it.
    tracks_.threadId(std::to_string(std::hash<std::thread::id>{}(std::thread::id(handle))), tid);
  }
}

void Builder::endInput() {
  flush();
  clock_.endInput(tally_.summary(), isFirstInput());
  marks_.endInput(sink_, clock_.zero());
}

void Builder::finish() {
  tally_.finish();
  if (const auto start = clock_.traceStartUnixNs())
    sink_.meta(meta::kTraceStartUnixNs, std::to_string(*start));
  sink_.meta(meta::kTraceEndNs, std::to_string(tally_.summary().end_ns));
}

}  // namespace pitwall::import
