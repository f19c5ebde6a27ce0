#include "db/export/event_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace pitwall::exporting {

namespace {

std::int64_t integerOf(const SqlValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer == nullptr ? 0 : *integer;
}

std::string textOf(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

EventKind kindOf(const SqlValue& value) {
  static const std::unordered_map<std::string, EventKind> kinds = [] {
    std::unordered_map<std::string, EventKind> map;
    for (int kind = 0; kind <= static_cast<int>(EventKind::communication); ++kind)
      map.emplace(toString(static_cast<EventKind>(kind)), static_cast<EventKind>(kind));
    return map;
  }();
  const auto found = kinds.find(textOf(value));
  return found == kinds.end() ? EventKind::scope : found->second;
}

DependencyKind dependencyKindOf(const SqlValue& value) {
  const std::string text = textOf(value);
  for (int kind = 0; kind <= static_cast<int>(DependencyKind::flow); ++kind) {
    if (text == toString(static_cast<DependencyKind>(kind))) return static_cast<DependencyKind>(kind);
  }
  return DependencyKind::flow;
}

FullEvent eventOf(const std::vector<SqlValue>& row) {
  FullEvent full;
  Event& event = full.event;
  event.start_ns = integerOf(row[0]);
  event.dur_ns = integerOf(row[1]);
  event.pushed_ns = integerOf(row[2]);
  event.ready_ns = integerOf(row[3]);
  event.kind = kindOf(row[4]);
  event.op = OperatorId{static_cast<std::uint32_t>(integerOf(row[5]))};
  event.correlation = static_cast<CorrelationId>(integerOf(row[6]));
  event.depth = static_cast<std::uint16_t>(integerOf(row[7]));
  event.value = integerOf(row[8]);
  full.name = textOf(row[9]);
  event.kernel = KernelId{static_cast<std::uint32_t>(integerOf(row[10]))};
  full.args = textOf(row[11]);
  return full;
}

bool before(const FullEvent& a, const FullEvent& b) {
  return a.event.start_ns != b.event.start_ns ? a.event.start_ns < b.event.start_ns
                                              : a.event.depth < b.event.depth;
}

}  // namespace

Result<EventStream> EventStream::open(Trace& trace, TrackId track, const Selection& selection, Pace& pace) {
  EventStream stream(trace, track, selection, pace);
  const SqlParameter parameters[] = {
      {":track", std::int64_t{track.value}}, {":begin", selection.beginNs()}, {":end", selection.endNs()}};
  const auto rows = trace.query(
      "SELECT id, first_start_ns, event_count FROM event_chunk WHERE track_id = :track AND "
      "first_start_ns < :end AND last_end_ns >= :begin ORDER BY first_start_ns, id",
      parameters);
  if (!rows.has_value()) return fail(rows.error());
  for (const auto& row : rows->rows)
    stream.chunks_.push_back({integerOf(row[0]), integerOf(row[1]), integerOf(row[2])});
  return stream;
}

Status EventStream::read() {
  const ChunkRef& chunk = chunks_[next_chunk_++];
  const SqlParameter parameters[] = {
      {":track", std::int64_t{track_.value}}, {":first", chunk.id}, {":last", chunk.id + chunk.count - 1}};
  const auto rows = trace_.query(
      "SELECT start_ns, dur_ns, pushed_ns, ready_ns, kind, operator, correlation, depth, value, name, "
      "kernel, args FROM event WHERE track = :track AND id >= :first AND id <= :last",
      parameters);
  if (!rows.has_value()) return fail(rows.error());
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  for (const auto& row : rows->rows) {
    FullEvent event = eventOf(row);
    if (selection_.has(event.event)) held_.push_back(std::move(event));
  }
  std::stable_sort(held_.begin(), held_.end(), before);
  return pace_.advance(chunk.count);
}

Result<const FullEvent*> EventStream::next() {
  while (next_chunk_ < chunks_.size() &&
         (at_ == held_.size() || held_[at_].event.start_ns >= chunks_[next_chunk_].first_start_ns)) {
    if (Status status = read(); !status.has_value()) return fail(status.error());
  }
  return at_ < held_.size() ? &held_[at_++] : nullptr;
}

Status eachDependency(Trace& trace, Pace& pace, const std::function<Status(const Dependency&)>& visit) {
  class Visitor final : public SqlVisitor {
   public:
    Visitor(Pace& pace, const std::function<Status(const Dependency&)>& visit) : pace_(pace), visit_(visit) {}
    void columns(std::span<const std::string>) override {}
    bool row(std::span<const SqlValue> values) override {
      Dependency dependency;
      dependency.source = static_cast<CorrelationId>(integerOf(values[0]));
      dependency.target = static_cast<CorrelationId>(integerOf(values[1]));
      dependency.kind = dependencyKindOf(values[2]);
      status = visit_(dependency);
      if (status.has_value() && ++rows_ % 8192 == 0) status = pace_.advance(8192);
      return status.has_value();
    }
    Status status;

   private:
    Pace& pace_;
    const std::function<Status(const Dependency&)>& visit_;
    std::int64_t rows_ = 0;
  };
  Visitor visitor(pace, visit);
  Status status = trace.visit("SELECT source, target, kind FROM dependency", {}, visitor);
  return visitor.status.has_value() ? std::move(status) : std::move(visitor.status);
}

Result<std::vector<CounterSample>> samplesOf(Trace& trace, TrackId track, const Selection& selection) {
  Result<std::vector<CounterSample>> samples = trace.counters(track);
  if (!samples.has_value() || selection.isWhole()) return samples;
  std::vector<CounterSample> within;
  const CounterSample* in_force = nullptr;
  for (const CounterSample& sample : *samples) {
    if (sample.time_ns < selection.beginNs()) in_force = &sample;
    if (selection.hasTime(sample.time_ns)) within.push_back(sample);
  }
  const bool at_begin = !within.empty() && within.front().time_ns == selection.beginNs();
  if (in_force != nullptr && !at_begin) within.insert(within.begin(), {selection.beginNs(), in_force->value});
  return within;
}

}  // namespace pitwall::exporting
