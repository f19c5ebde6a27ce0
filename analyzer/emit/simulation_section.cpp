// What an iteration would take after changes.
#include <algorithm>

#include "analyzer/emit.h"
#include "analyzer/emit/cells.h"
#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/text_emitter.h"
#include "db/function_name.h"

namespace pitwall {
namespace emit {
namespace {

constexpr std::size_t kShownParts = 8;

std::string sentenceOf(const ReplayCheck& check) {
  if (!check.predictable) return fmt::format("Not predictable: {}.", check.why);
  return fmt::format(
      "Iterations of {} (median of {}, from {}). The unchanged graph, with delays that are usual for their "
      "kind, replays in {:+.1f} % of the recorded time.",
      showDuration(static_cast<double>(check.recorded_ns)), check.iterations, check.iteration_source,
      100 * check.error);
}

// How much less time than `before`.
std::string lessThan(TimeNs before, TimeNs after) {
  return showShare(1 - static_cast<double>(after) / static_cast<double>(std::max<TimeNs>(1, before)));
}

void writeCheck(const ReplayCheck& check, Emitter& emitter) {
  emitter.beginObject("replay");
  emitter.paragraph(sentenceOf(check));
  emitter.field("predictable", "", jsonOnly(check.predictable));
  emitter.field("why", "", jsonOnly(check.why));
  emitter.field("iteration_source", "", jsonOnly(check.iteration_source));
  emitter.field("iterations", "", jsonOnly(check.iterations));
  emitter.field("events", "", jsonOnly(check.events));
  emitter.field("recorded_ns", "", jsonOnly(check.recorded_ns));
  emitter.field("recorded_usual_ns", "", jsonOnly(check.recorded_usual_ns));
  emitter.field("replayed_usual_ns", "", jsonOnly(check.replayed_usual_ns));
  emitter.field("error", "", jsonOnly(check.error));
  emitter.endObject();
}

void writePath(const SimulatedPath& path, const char* title, const char* key, Emitter& emitter) {
  emitter.beginObject(key);
  emitter.heading(title);
  emitter.field(
      "limit", "Limited by",
      {path.limit, fmt::format("{} ({} of the critical path)", path.limit, showShare(path.limit_share))});
  emitter.field("limit_share", "", jsonOnly(path.limit_share));
  Table table{{{"title", "on the path, of an iteration"},
               {"part", "is", Align::left, false},
               {"time_ns", "time", Align::right},
               {"share", "share", Align::right}}};
  table.text_rows = kShownParts;
  TimeNs rest = 0;
  double rest_share = 0;
  for (std::size_t i = 0; i < path.parts.size(); ++i) {
    const auto& part = path.parts[i];
    table.rows.push_back(
        {{part.title, shortName(part.title)}, text(part.part), duration(part.time_ns), share(part.share)});
    if (i >= kShownParts) rest += part.time_ns, rest_share += part.share;
  }
  if (path.parts.size() > kShownParts) {
    table.rest = {plural(static_cast<std::int64_t>(path.parts.size() - kShownParts), "other", "others"), "",
                  showDuration(static_cast<double>(rest)), showShare(rest_share)};
  }
  emitter.table("parts", "", table);
  emitter.endObject();
}

void writePrediction(const Simulation& simulation, Emitter& emitter) {
  const auto& prediction = *simulation.prediction;
  const TimeNs before = simulation.check.recorded_ns;
  emitter.beginObject("prediction");
  emitter.heading("PREDICTED");
  const auto show = [](TimeNs ns) { return showDuration(static_cast<double>(ns)); };
  emitter.field("middle_ns", "An iteration",
                {prediction.middle_ns, fmt::format("{}, from {} to {}", show(prediction.middle_ns),
                                                   show(prediction.low_ns), show(prediction.high_ns))});
  emitter.field(
      "", "Less time",
      textOnly(fmt::format("{}, from {} to {}", lessThan(before, prediction.middle_ns),
                           lessThan(before, prediction.high_ns), lessThan(before, prediction.low_ns))));
  emitter.field("low_ns", "", jsonOnly(prediction.low_ns));
  emitter.field("high_ns", "", jsonOnly(prediction.high_ns));
  emitter.field("added_ns", "", jsonOnly(prediction.added_ns));
  emitter.beginList("notes");
  for (const auto& note : prediction.notes) {
    emitter.field("", "", jsonOnly(note));
    emitter.paragraph(note);
  }
  emitter.endList();
  writePath(prediction.path, "CRITICAL PATH AFTER THE CHANGE", "path", emitter);
  emitter.endObject();
}

void writeTimeline(const Simulation& simulation, Emitter& emitter) {
  const auto& timeline = *simulation.timeline;
  emitter.beginObject("timeline");
  emitter.heading("SIMULATED TIMELINE");
  emitter.field("path", "Trace", text(timeline.path));
  emitter.field("events", "Events", {timeline.events, showCount(timeline.events)});
  emitter.paragraph(
      fmt::format("Beside the recording: pitwall-gui {} {}", simulation.trace_path, timeline.path));
  if (simulation.prediction && simulation.prediction->added_ns > 0) {
    emitter.paragraph(
        fmt::format("The prediction has {} an iteration that the timeline does not show: waits of which "
                    "nothing is recorded.",
                    showDuration(static_cast<double>(simulation.prediction->added_ns))));
  }
  emitter.endObject();
}

void writeSimulation(const Simulation& simulation, Emitter& emitter) {
  emitter.beginObject("");
  emitter.field("schema_version", "", jsonOnly(std::int64_t{kReportSchemaVersion}));
  emitter.field("trace", "Trace", text(simulation.trace_path));
  emitter.beginList("changes");
  for (const auto& change : simulation.changes) emitter.field("", "Change", text(change));
  emitter.endList();
  writeCheck(simulation.check, emitter);
  if (simulation.check.predictable)
    writePath(simulation.check.path, "CRITICAL PATH AS RECORDED", "path", emitter);
  if (simulation.prediction) writePrediction(simulation, emitter);
  if (simulation.timeline) writeTimeline(simulation, emitter);
  emitter.endObject();
}

}  // namespace
}  // namespace emit

std::string simulationAsText(const Simulation& simulation, TextOptions options) {
  emit::TextEmitter emitter(options);
  emit::writeSimulation(simulation, emitter);
  return std::move(emitter).take();
}

std::string simulationAsJson(const Simulation& simulation) {
  emit::JsonEmitter emitter;
  emit::writeSimulation(simulation, emitter);
  return std::move(emitter).take();
}

}  // namespace pitwall
