// A trace as lines of text that do not depend on how it was written, for comparing two traces.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "db/reader.h"

namespace pitwall::test {

inline std::string describe(Trace& trace, const Event& event) {
  return fmt::format(
      "{} '{}' {}+{} pushed {} ready {} correlation {} value {} op {} kernel {} args {} depth {}",
      toString(event.kind), trace.string(event.name), event.start_ns, event.dur_ns, event.pushed_ns,
      event.ready_ns, event.correlation, event.value, event.op.value, event.kernel.value,
      trace.string(event.args), event.depth);
}

// Everything except the facts that an import adds.
inline std::vector<std::string> dump(Trace& trace) {
  std::vector<std::string> lines;
  for (const char* table : {"process", "thread", "device", "track", "operator", "kernel", "frame", "stack",
                            "setting", "tunable", "loss"}) {
    const auto rows = trace.query(fmt::format("SELECT * FROM {} ORDER BY 1", table));
    if (!rows.has_value()) return {rows.error().message};
    for (const auto& row : rows->rows) {
      std::string line = table;
      for (const SqlValue& value : row) {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) line += fmt::format(" {}", *integer);
        if (const auto* real = std::get_if<double>(&value)) line += fmt::format(" {}", *real);
        if (const auto* text = std::get_if<std::string>(&value)) line += fmt::format(" '{}'", *text);
        if (std::holds_alternative<std::monostate>(value)) line += " -";
      }
      lines.push_back(line);
    }
  }
  const auto metas = trace.query(
      "SELECT key, value FROM meta WHERE key NOT LIKE 'import.%' AND key <> 'trace.end_ns' ORDER BY key");
  if (!metas.has_value()) return {metas.error().message};
  for (const auto& row : metas->rows)
    lines.push_back(fmt::format("meta {} {}", std::get<std::string>(row[0]), std::get<std::string>(row[1])));
  for (const IterationMark& mark : trace.iterations())
    lines.push_back(fmt::format("mark {} {} {}", mark.index, mark.time_ns, mark.items));
  for (std::uint32_t id = 1; id <= trace.tracks().size(); ++id) {
    auto events = trace.events(TrackId{id});
    if (!events.has_value()) return {events.error().message};
    std::vector<std::string> of_track;
    for (const Event& event : *events)
      of_track.push_back(fmt::format("track {} {}", id, describe(trace, event)));
    std::sort(of_track.begin(), of_track.end());
    lines.insert(lines.end(), of_track.begin(), of_track.end());
    auto samples = trace.counters(TrackId{id});
    if (!samples.has_value()) return {samples.error().message};
    of_track.clear();
    for (const CounterSample& sample : *samples)
      of_track.push_back(fmt::format("track {} sample {} {}", id, sample.time_ns, sample.value));
    std::sort(of_track.begin(), of_track.end());
    lines.insert(lines.end(), of_track.begin(), of_track.end());
  }
  auto edges = trace.dependencies();
  if (!edges.has_value()) return {edges.error().message};
  std::vector<std::string> arrows;
  for (const Dependency& edge : *edges)
    arrows.push_back(fmt::format("{} {} -> {}", toString(edge.kind), edge.source, edge.target));
  std::sort(arrows.begin(), arrows.end());
  lines.insert(lines.end(), arrows.begin(), arrows.end());
  return lines;
}

}  // namespace pitwall::test
