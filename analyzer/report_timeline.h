// The part of a trace's timeline that a report shows: a typical iteration with its critical path, and the places of
// the findings' evidence. Its size has a limit whatever the trace: events that are too short to be seen are
// merged, with their count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"
#include "db/units.h"

namespace pitwall {

// Times are ns since the trace's start. Data only; it owns its strings.
struct ReportTimeline {
  // What an event is: events of the same name, kind and operator share one.
  struct Item {
    std::string text;      // "conv1 Convolution"
    std::string category;  // "forward", "kernel", "wait", ...: categoryOf() in analyzer/excerpt/items.cpp
    std::string detail;    // phase, shapes, type of numbers and implementation of an operator; may be empty
  };
  // An event, or several that are too short: from the begin of the first to the end of the last.
  struct Piece {
    TimeNs start_ns = 0, dur_ns = 0;
    std::size_t item = 0;    // of the longest event
    std::int64_t count = 1;  // events; above 1 they are merged
  };
  struct Lane {
    std::size_t row = 0;
    int depth = 0;              // nesting, 0 = outermost
    std::vector<Piece> pieces;  // by start
  };
  // A part of the time with its events; windows do not overlap.
  struct Window {
    TimeNs begin_ns = 0, end_ns = 0;
    std::vector<Lane> lanes;
  };
  struct Row {
    std::string title;             // "main", "stream 7"
    std::string group;             // the process or device that it belongs to
    int depths = 1;                // of nesting that are shown
    std::int64_t too_deep = 0;     // events that are nested deeper than is shown, in all windows
    std::vector<double> activity;  // share of each equal part of the trace in which something runs, 0..1
  };
  struct Step {
    TimeNs start_ns = 0, dur_ns = 0;
    std::size_t item = 0;
    std::optional<std::size_t> row;  // nullopt: a gap, or on a row that is not shown
    std::int64_t count = 1;          // steps of the path; above 1 they are merged
  };
  // Where row `evidence` of the evidence of `findings[finding]` is.
  struct Place {
    std::size_t finding = 0, evidence = 0;
    TimeNs start_ns = 0, dur_ns = 0;
    std::optional<std::size_t> row;
  };

  TimeNs begin_ns = 0, end_ns = 0;      // of the trace's events; equal: there is no timeline
  TimeNs home_ns = 0, home_end_ns = 0;  // what is shown first
  std::string title;                    // "Timeline of a typical iteration"
  std::string explanation;              // which part of the trace that is, and why
  std::vector<Item> items;
  std::vector<Row> rows;
  std::vector<Window> windows;      // by begin
  std::vector<Step> critical_path;  // within home_ns..home_end_ns
  std::vector<Place> places;
  std::int64_t rows_left_out = 0;  // with events, but less than the others

  bool empty() const { return end_ns <= begin_ns; }
};

// How much of a trace is read and kept.
struct ReportTimelineLimits {
  std::size_t rows = 40;
  int depths = 10;                   // of nesting, in each row
  std::size_t home_pieces = 16'000;  // in the part that is shown first
  std::size_t place_pieces = 600;    // in the window around a place
  std::size_t place_windows = 16;
  double window_events = 400'000;  // a window of more is not read
};

// Reads the tables that analyzeTrace() has filled through the same `trace`, and the events of the windows; empty for a
// trace without events or without their times. Errors: those of Trace::query and Trace::eventColumns.
Result<ReportTimeline> reportTimeline(Trace& trace, const Report& report,
                                      const ReportTimelineLimits& limits = {});

}  // namespace pitwall
