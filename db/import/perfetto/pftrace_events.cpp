#include "db/import/perfetto/pftrace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/import/input/protobuf.h"
#include "db/import/input/recent_texts.h"
#include "db/import/input/text.h"
#include "db/import/perfetto/pftrace_fields.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostFlows = std::size_t{1} << 20;
constexpr std::size_t kMostMembers = 4096;  // of one event

// A message LegacyEvent: what programs write that were made for Chrome's JSON.
struct Legacy {
  char phase = '\0';
  std::int64_t duration_us = 0;
  bool on_another_thread = false;
};

Legacy legacyOf(std::string_view message) {
  Legacy out;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.is_bytes) continue;
    if (field.number == 2 && field.value < 128) out.phase = static_cast<char>(field.value);
    if (field.number == 3) out.duration_us = field.integer();
    if (field.number == 18 || field.number == 19) out.on_another_thread = true;
  }
  return out;
}

}  // namespace

PftraceEvents::Fields PftraceEvents::fieldsOf(std::string_view message, const PftraceSequence& sequence,
                                              const Place& place) {
  using namespace track_event;
  Fields out;
  std::uint64_t name_id = 0;
  const auto addCategory = [&](std::string_view category) {
    if (out.category.size() < 256) out.category += (out.category.empty() ? "" : ",") + std::string(category);
  };
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    switch (field.number) {
      case kType: out.type = field.value; break;
      case kTrack: out.track = field.value, out.has_track = true; break;
      case kName: out.name = field.bytes; break;
      case kNameId: name_id = field.value; break;
      case kCategoryText: addCategory(field.bytes); break;
      case kCategoryIds:
        if (const std::string* known = sequence.category(field.value)) addCategory(*known);
        break;
      case kCounter: out.count = static_cast<double>(field.integer()), out.has_count = true; break;
      case kRealCounter: out.count = field.real(), out.has_count = true; break;
      case kLegacy: out.legacy = field.bytes; break;
      case kAnnotation:
        if (out.annotations.size() < kMostMembers) out.annotations.push_back(field.bytes);
        break;
      case kFlow:
      case kOldFlow:
      case kLastFlow:
      case kOldLastFlow:
        if (!field.is_bytes && out.flows.size() < kMostMembers)
          out.flows.emplace_back(field.value, field.number == kLastFlow || field.number == kOldLastFlow);
        break;
      case kExtraCounters:
      case kExtraRealCounters: out.has_extra_counters = true; break;
      default: break;
    }
  }
  if (out.name.empty() && name_id != 0) {
    if (const std::string* known = sequence.name(name_id)) {
      out.name = *known;
    } else {
      builder_.tally().repaired("names that the sequence does not hold: shown as (unnamed)", place);
    }
  }
  if (!out.has_track && sequence.has_default_track) out.track = sequence.default_track, out.has_track = true;
  return out;
}

StringId PftraceEvents::argsOf(const Fields& fields, const PftraceSequence& sequence) {
  PftraceAnnotations annotations(sequence);
  if (!fields.category.empty()) annotations.text("category", fields.category);
  const auto category_only = annotations.object();
  for (const std::string_view message : fields.annotations) annotations.add(message);
  const auto whole = annotations.object();
  if (!whole) {
    builder_.tally().dropped("arguments of events beyond 1024 bytes", "debug annotations");
    return category_only && !category_only->empty() ? builder_.names().args(*category_only) : StringId{};
  }
  return whole && !whole->empty() ? builder_.names().args(*whole) : StringId{};
}

TrackRef PftraceEvents::trackOf(const Fields& fields, const PftraceSequence& sequence) {
  if (!fields.has_track && sequence.thread) return *sequence.thread;
  return tracks_.track(fields.track);
}

void PftraceEvents::counter(const Fields& fields, std::int64_t time_ns) {
  PftraceTracks::Counter& counter = tracks_.counter(fields.track);
  double value = fields.count * counter.multiplier;
  if (counter.incremental) value = counter.sum += value;
  if (fields.has_count && std::isfinite(value)) {
    builder_.sample(counter.track, time_ns, value);
  } else {
    builder_.tally().dropped("counter values that are missing or no numbers", "");
  }
}

void PftraceEvents::begin(const Event& event, TrackRef track, const Place& place) {
  if (!open_.mayOpen(place)) return;
  OpenRange range{.start_ns = event.start_ns, .track = track, .name = event.name};
  range.args = event.args;
  open_.begin(range);
}

void PftraceEvents::endRange(TrackRef track, std::int64_t time_ns, const Place& place) {
  const OpenRange* const range = open_.innermost(track);
  if (range == nullptr) return builder_.tally().dropped("ends of ranges without a begin", place);
  if (time_ns < range->start_ns)
    builder_.tally().repaired("ends before their begin: length taken as 0", place);
  open_.end(track, time_ns);
}

void PftraceEvents::flows(const Fields& fields, TrackRef track, std::int64_t time_ns) {
  for (const auto& [number, last] : fields.flows) {
    FlowPoint point;
    point.track = track;
    point.time_ns = time_ns;
    point.key = mixed(number, 0x70667472);
    const bool begun = begun_flows_.count(number) != 0;
    point.order = !begun ? 0 : last ? 2 : 1;
    if (!begun && begun_flows_.size() < kMostFlows) begun_flows_.insert(number);
    if (last && begun) begun_flows_.erase(number);
    builder_.flow(point);
  }
}

void PftraceEvents::legacy(Fields& fields, const PftraceSequence& sequence, Event out, const Place& place) {
  const Legacy about = legacyOf(fields.legacy);
  const TrackRef track = trackOf(fields, sequence);
  out.args = argsOf(fields, sequence);
  if (about.on_another_thread) {
    builder_.tally().notUnderstood("legacy events of another thread than their sequence's", place);
    return;
  }
  switch (about.phase) {
    case 'B': return begin(out, track, place);
    case 'E': return endRange(track, out.start_ns, place);
    case 'X':
      if (about.duration_us < 0 || about.duration_us > kLatestNs / 1000)
        return builder_.tally().dropped("events with a time out of range", place);
      out.dur_ns = about.duration_us * 1000;
      builder_.add(track, out);
      return;
    case 'i':
    case 'I':
    case 'R':
      out.kind = EventKind::instant;
      builder_.add(track, out);
      return;
    default:
      builder_.tally().notUnderstood("legacy events of other phases",
                                     fmt::format("phase {}", quotedText({&about.phase, 1})));
  }
}

void PftraceEvents::event(std::string_view message, PftraceSequence& sequence, std::int64_t time_ns,
                          const Place& place) {
  Fields fields = fieldsOf(message, sequence, place);
  if (fields.has_extra_counters)
    builder_.tally().notUnderstood("counters beside an event (extra_counter_values)", place);
  Event out;
  out.start_ns = time_ns;
  out.name = builder_.names().name(fields.name.empty() ? "(unnamed)" : fields.name);
  using namespace track_event;
  switch (fields.type) {
    case Type::begin: {
      const TrackRef track = trackOf(fields, sequence);
      out.args = argsOf(fields, sequence);
      begin(out, track, place);
      return flows(fields, track, time_ns);
    }
    case Type::end: return endRange(trackOf(fields, sequence), time_ns, place);
    case Type::instant: {
      const TrackRef track = trackOf(fields, sequence);
      out.kind = EventKind::instant;
      out.args = argsOf(fields, sequence);
      builder_.add(track, out);
      return flows(fields, track, time_ns);
    }
    case Type::counter: return counter(fields, time_ns);
    default: break;
  }
  if (!fields.legacy.empty()) return legacy(fields, sequence, out, place);
  builder_.tally().notUnderstood("track events of other types", fmt::format("type {}", fields.type));
}

}  // namespace pitwall::import
