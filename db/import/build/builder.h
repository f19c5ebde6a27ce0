// Sits between a reader and the sink: creates tracks, shifts times, computes nesting, keeps the summary.
//
// Readers give times in nanoseconds of their input's own clock. Events are buffered (half a million at most)
// so that time 0 can be the earliest of them and names that come late in a file are still used; then they are
// flushed to the sink track by track. A larger file is flushed several times.
//
// Data kept across flushes is bounded for inputs of any size: tracks, distinct names and arguments, arrows
// that wait for their end, iteration marks. What exceeds a bound is merged or left out, and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "db/import/build/arrows.h"
#include "db/import/build/input_clock.h"
#include "db/import/build/marks.h"
#include "db/import/build/names.h"
#include "db/import/build/nesting.h"
#include "db/import/build/phases.h"
#include "db/import/build/tally.h"
#include "db/import/build/tracks.h"
#include "db/profile_origin.h"
#include "db/sink.h"

namespace pitwall::import {

class Builder {
 public:
  Builder(TraceSink& sink, ImportSummary& summary);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // --- The parts, each with its own state ---
  Tally& tally() { return tally_; }
  Tracks& tracks() { return tracks_; }
  Names& names() { return names_; }
  Phases& phases() { return phases_; }
  Arrows& arrows() { return arrows_; }
  InputClock& clock() { return clock_; }
  // For rows of a Pitwall trace, which are passed on directly.
  TraceSink& sink() { return sink_; }

  // --- Data; times on the input's clock ---
  // Rejects (and counts) times out of range; a negative duration becomes 0 (counted). pushed_ns and ready_ns
  // are set here.
  bool add(TrackRef track, Event event);
  void sample(TrackRef track, std::int64_t time_ns, double value);
  void mark(std::int64_t index, std::int64_t time_ns);
  void flow(const FlowPoint& point);
  void meta(std::string_view key, std::string_view value);

  // --- Input by input ---
  void beginInput();
  bool isFirstInput() const { return input_number_ == 1; }
  // The trace time of this input's time 0 (its first event), set before its first event; `rank` is its
  // processes' unless the file gives another one, and `shows_rank` begins their names with it.
  void place(TimeNs begin_ns, std::optional<int> rank, bool shows_rank);
  // What the input itself does not contain.
  void origin(const ProfileOrigin& origin);
  void endInput();
  // The input was no trace: the next one takes its place. Instead of endInput().
  void leaveOutInput() { --input_number_; }
  void finish();  // writes the meta rows that need all inputs

 private:
  void flush();
  void flushIfFull();

  TraceSink& sink_;
  Tally tally_;
  Tracks tracks_;
  Names names_;
  Phases phases_;
  Nesting nesting_;
  Arrows arrows_;
  Marks marks_;
  InputClock clock_;
  std::size_t held_ = 0;  // events, samples and ends of arrows since the last flush
  int input_number_ = 0;
};

}  // namespace pitwall::import
