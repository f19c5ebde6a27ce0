// The track events of a Perfetto trace: ranges, instants, counters, arrows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "db/import/build/builder.h"
#include "db/import/chrome/open_ranges.h"
#include "db/import/chrome/place.h"
#include "db/import/perfetto/pftrace_sequence.h"
#include "db/import/perfetto/pftrace_tracks.h"

namespace pitwall::import {

class PftraceEvents {
 public:
  PftraceEvents(Builder& builder, PftraceTracks& tracks)
      : builder_(builder), tracks_(tracks), open_(builder) {}

  // A message TrackEvent of this sequence, at this time.
  void event(std::string_view message, PftraceSequence& sequence, std::int64_t time_ns, const Place& place);
  void end() { open_.endAll(); }

 private:
  // A track event's members.
  struct Fields {
    std::uint64_t type = 0;
    std::uint64_t track = 0;
    bool has_track = false;
    std::string_view name;
    std::string category;
    bool has_count = false;
    double count = 0;
    std::string_view legacy;
    std::vector<std::string_view> annotations;
    std::vector<std::pair<std::uint64_t, bool>> flows;  // number, whether it ends there
    bool has_extra_counters = false;
  };
  Fields fieldsOf(std::string_view message, const PftraceSequence& sequence, const Place& place);
  void legacy(Fields& fields, const PftraceSequence& sequence, Event out, const Place& place);
  StringId argsOf(const Fields& fields, const PftraceSequence& sequence);
  TrackRef trackOf(const Fields& fields, const PftraceSequence& sequence);
  void counter(const Fields& fields, std::int64_t time_ns);
  void begin(const Event& event, TrackRef track, const Place& place);
  void endRange(TrackRef track, std::int64_t time_ns, const Place& place);
  void flows(const Fields& fields, TrackRef track, std::int64_t time_ns);

  Builder& builder_;
  PftraceTracks& tracks_;
  OpenRanges open_;
  std::unordered_set<std::uint64_t> begun_flows_;
};

}  // namespace pitwall::import
