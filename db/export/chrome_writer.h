// Chrome Trace Event JSON; docs/export.md documents the layout and all keys.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/export.h"
#include "db/export/chrome_rows.h"
#include "db/export/event_stream.h"
#include "db/export/location_index.h"
#include "db/export/output_file.h"
#include "db/export/selection.h"

namespace pitwall::exporting {

class ChromeWriter {
 public:
  ChromeWriter(Trace& trace, const Selection& selection, Pace& pace, OutputFile& out, LocationIndex locations)
      : trace_(trace),
        selection_(selection),
        pace_(pace),
        out_(out),
        locations_(std::move(locations)),
        rows_(trace) {}

  Result<ExportSummary> write();

 private:
  // A record of one table: metadata that viewers ignore.
  class Record;

  Status extent();
  Status meta();
  void dimensions();
  void facts();
  void stacks();
  void rows();
  void nameRow(const ChromeRow& row, std::int64_t sort_index);  // once
  Status events(TrackId track);
  void event(const FullEvent& full, TrackId track, const ChromeRow& row);
  void arguments(const FullEvent& full, TrackId track);
  void kernelArguments(const KernelFacts& facts);
  Status counters(TrackId track);
  bool hasStacks(TrackId track) const;  // selected samples of stacks
  Status sampledStacks();
  Status stackTree();
  Status stackSamples(TrackId track, bool& first);
  void iterations();
  Status dependencies();
  void arrow(const Location& source, const Location& target, const Dependency& dependency);

  void begin(char phase, std::string_view name);  // opens an event: separator, ph and name
  void place(const ChromeRow& row, TimeNs time_ns);
  void key(std::string_view name);  // ,"name":
  void text(std::string_view key, std::string_view value);
  void integer(std::string_view key, std::int64_t value);
  void end() { out_.append("}"); }

  Trace& trace_;
  const Selection& selection_;
  Pace& pace_;
  OutputFile& out_;
  LocationIndex locations_;
  ChromeRows rows_;
  std::vector<ChromeRow> drawn_;                           // all rows with events, for the locations
  std::set<std::pair<std::int64_t, std::int64_t>> named_;  // pid and tid
  ExportSummary summary_;
  bool first_ = true;
};

}  // namespace pitwall::exporting
