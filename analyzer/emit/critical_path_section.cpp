#include "analyzer/emit/critical_path_section.h"

#include <algorithm>

#include "analyzer/emit/cells.h"

namespace pitwall::emit {
namespace {

constexpr std::size_t kShownOnPath = 8;

// "device work 93.1 %, host 5.2 %, ..."
std::string whereItGoes(const PathSummary& path) {
  const auto part = [&path](const char* name, TimeNs ns) {
    return fmt::format("{} {}", name, showShare(static_cast<double>(ns) / static_cast<double>(path.span_ns)));
  };
  return fmt::format("{}, {}, {}, {}", part("device work", path.device_ns), part("the host", path.host_ns),
                     part("delays of launches, streams and the engine", path.delay_ns),
                     part("no event", path.nothing_ns));
}

std::string nameOf(const PathRow& row) {
  if (row.part == "nothing") return "(no event)";
  if (row.executions == 0) return row.part;
  return row.title;
}

// Sums of what is not shown and of all, so that the column adds up.
std::vector<std::string> sumOf(std::string title, const PathSummary& path, std::size_t from) {
  TimeNs total = 0;
  double part = 0;
  for (std::size_t i = from; i < path.rows.size(); ++i) {
    total += path.rows[i].on_path_ns;
    part += path.rows[i].share;
  }
  return {std::move(title), "", "", showDuration(static_cast<double>(total)), showShare(part), ""};
}

}  // namespace

void writeCriticalPathSection(const PathSummary& path, Emitter& emitter) {
  emitter.beginObject("critical_path");
  for (const auto& [key, ns] : {std::pair{"begin_ns", path.begin_ns},
                                {"span_ns", path.span_ns},
                                {"device_ns", path.device_ns},
                                {"host_ns", path.host_ns},
                                {"delay_ns", path.delay_ns},
                                {"nothing_ns", path.nothing_ns}})
    emitter.field(key, "", jsonOnly(ns));
  emitter.field("missing", "", jsonOnly(path.missing));
  if (!path.rows.empty()) {
    emitter.heading("CRITICAL PATH");
    emitter.paragraph(fmt::format(
        "The steps that determine the end of a time window of {}, back to its beginning: {}. Slack is how "
        "much later one could have ended on average without delaying the end.",
        showDuration(static_cast<double>(path.span_ns)), whereItGoes(path)));
  }
  Table table{{{"title", ""},
               {"", "on the path"},
               {"part", "is", Align::left, false},
               {"phase", ""},
               {"executions", "count", Align::right},
               {"on_path_ns", "on path", Align::right},
               {"share", "share", Align::right},
               {"slack_mean_ns", "slack", Align::right}}};
  table.text_rows = kShownOnPath;
  for (const auto& row : path.rows) {
    const bool runs = row.executions > 0;
    table.rows.push_back({jsonOnly(row.title), textOnly(nameOf(row)),
                          Cell{row.part, runs ? row.part : std::string("gap")}, text(row.phase),
                          Cell{row.executions, runs ? fmt::format("{}", row.executions) : std::string("-")},
                          duration(row.on_path_ns), share(row.share),
                          runs ? duration(row.slack_mean_ns) : Cell{std::monostate{}, "-"}});
  }
  const auto shown = std::min(kShownOnPath, path.rows.size());
  table.rest =
      sumOf(plural(static_cast<std::int64_t>(path.rows.size() - shown), "other", "others"), path, shown);
  table.footer = sumOf("total", path, 0);
  emitter.table("rows", "", table);
  if (!path.missing.empty() && !path.rows.empty())
    emitter.paragraph(fmt::format("Not in this trace: {}.", path.missing));
  emitter.endObject();
}

}  // namespace pitwall::emit
