#include "analyzer/emit/comparison_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyzer/emit.h"
#include "analyzer/emit/cells.h"
#include "analyzer/emit/charts.h"
#include "analyzer/emit/html_emitter.h"
#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/markdown_emitter.h"
#include "analyzer/emit/text_emitter.h"
#include "analyzer/units_text.h"

namespace pitwall {
namespace emit {
namespace {

constexpr std::size_t kShownWork = 15;
constexpr double kWorthMentioning = 0.02;
constexpr double kWorthShowing = 0.002;  // of an iteration's time

Cell durationOrNone(double ns) { return {ns, ns == 0 ? "-" : showDuration(ns)}; }
std::string signedShare(double share) {
  if (share >= 10) return showRate(share + 1) + "x";
  const std::string size = showShare(std::fabs(share));
  return share == 0 ? size : (share > 0 ? "+" : "-") + size;
}
std::string signedDuration(double ns) {
  return ns == 0 ? "0" : (ns > 0 ? "+" : "-") + showDuration(std::fabs(ns));
}

double perSecond(double items, double iteration_ns) {
  return items > 0 && iteration_ns > 0 ? items * 1e9 / iteration_ns : 0;
}

std::string intervalText(double low, double high) {
  return fmt::format("{} to {}", signedShare(low), signedShare(high));
}

std::string runsText(const Comparison& c) {
  if (c.a_runs.size() == 1 && c.b_runs.size() == 1) return "One run each";
  return fmt::format("{} of A and {} of B", plural(static_cast<std::int64_t>(c.a_runs.size()), "run", "runs"),
                     plural(static_cast<std::int64_t>(c.b_runs.size()), "run", "runs"));
}

// Of fewer than three runs on a side.
std::string assumedText(const Comparison& c) {
  const std::string basis =
      fmt::format("run-to-run variation (typically {}, of which 10 % is assumed; 97 % interval {})",
                  showShare(c.run_spread), intervalText(c.low, c.high));
  if (c.isSignificant())
    return fmt::format("B is {} {}. {}: more than {} explains.", showShare(std::fabs(c.change)),
                       c.change > 0 ? "slower" : "faster", runsText(c), basis);
  return fmt::format("{}. {}: not distinguishable from {}. Record five runs of each, alternating.",
                     signedShare(c.change), runsText(c), basis);
}

std::string changeOf(const Comparison& c) {
  if (!c.hasInterval())
    return fmt::format("{}; too few iterations to separate it from chance.", signedShare(c.change));
  if (c.basis == Comparison::Basis::assumed) return assumedText(c);
  const std::string basis = fmt::format("97 % interval {}; {}, which vary by {}", intervalText(c.low, c.high),
                                        runsText(c), showShare(c.run_spread));
  if (!c.isSignificant())
    return fmt::format("{}, which run-to-run variation explains ({}).", signedShare(c.change), basis);
  return fmt::format("B is {} {} ({}).", showShare(std::fabs(c.change)), c.change > 0 ? "slower" : "faster",
                     basis);
}

std::string wholesOf(const Comparison& c) {
  const std::string wholes = fmt::format(
      "Neither has steady iterations. The whole of A takes {}, the whole of B {}: ", showDuration(c.a_ns),
      showDuration(c.b_ns));
  if (c.hasInterval()) return wholes + changeOf(c);
  return wholes + fmt::format(
                      "{}. {}: how much of it is run-to-run variation is unknown; record at least three "
                      "of each.",
                      signedShare(c.change), runsText(c));
}

std::string verdictOf(const Comparison& c) {
  if (c.same_recording) return "A and B are the same recording, so there is no difference.";
  if (c.by_recording) return wholesOf(c);
  if (c.a_iterations == 0 || c.b_iterations == 0) {
    return fmt::format("Only {} has steady iterations, so their times are not compared.",
                       c.a_iterations > 0 ? "A" : "B");
  }
  const std::string before = showDuration(c.a_ns), after = showDuration(c.b_ns);
  if (!c.by_item)
    return fmt::format("An iteration takes {} in A and {} in B (medians): {}", before, after, changeOf(c));
  return fmt::format(
      "A does {} items/s and B {} items/s. An item takes {} in A and {} in B (medians): {} The batches "
      "differ, so iterations are not compared: {} for {} items in A, {} for {} in B.",
      showRate(1e9 / c.a_ns), showRate(1e9 / c.b_ns), before, after, changeOf(c),
      showDuration(c.a_iteration_ns), showReal(c.a_items), showDuration(c.b_iteration_ns),
      showReal(c.b_items));
}

// What the medians do not show: a stall is an outlier, and a setting may affect only stalls.
std::string outliersOf(const Comparison& c) {
  const bool compared = !c.same_recording && !c.by_recording && c.a_mean_ns > 0 && c.b_mean_ns > 0;
  if (!compared || c.a_outliers + c.b_outliers == 0) return {};
  const double change = c.b_mean_ns / c.a_mean_ns - 1;
  const bool contrary = change * c.change < 0 && std::fabs(change) > kWorthMentioning;
  return fmt::format(
      "{} with outliers ({} in A, {} in B), which medians leave out: {} in A and {} in B, {}.{}",
      c.by_item ? "The mean of an item" : "The mean", c.a_outliers, c.b_outliers, showDuration(c.a_mean_ns),
      showDuration(c.b_mean_ns), signedShare(change),
      contrary ? " The two contradict each other: the outliers determine the total time, so find "
                 "their cause and repeat both runs."
               : "");
}

// Where the medians decide nothing, or the opposite.
std::string fastestText(const Comparison& c) {
  const auto& f = c.fastest;
  if (!f.differs() || (c.isSignificant() && (f.change > 0) == (c.change > 0))) return {};
  return fmt::format(
      "The fastest tenth of the {}, which other programs disturb least, takes {} in A and {} in B: B is {} "
      "{} (99 % "
      "interval {}; the runs vary by {}).",
      c.by_item ? "items" : "iterations", showDuration(f.a_ns), showDuration(f.b_ns),
      showShare(std::fabs(f.change)), f.change > 0 ? "slower" : "faster", intervalText(f.low, f.high),
      showShare(f.run_spread));
}

void writeAspects(const Comparison& c, Emitter& emitter) {
  const std::string verdict = toString(c.verdict);
  emitter.field("comparability", "", jsonOnly(verdict));
  std::string title = verdict;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char ch) { return std::toupper(ch); });
  emitter.heading("THESE TRACES ARE " + title);
  Table table{
      {{"aspect", "aspect", Align::left, false}, {"a", "A"}, {"b", "B"}, {"verdict", ""}, {"remark", ""}}};
  for (const auto& aspect : c.aspects) {
    table.rows.push_back({text(aspect.name), text(aspect.a), text(aspect.b),
                          jsonOnly(toString(aspect.verdict)), jsonOnly(aspect.remark)});
  }
  emitter.table("aspects", "", table);
  // Sentences, which a column would truncate.
  for (const auto& aspect : c.aspects) {
    if (!aspect.remark.empty()) emitter.paragraph(fmt::format("{}: {}.", aspect.name, aspect.remark));
  }
}

const char* nameOf(Comparison::Basis basis) {
  switch (basis) {
    case Comparison::Basis::none: return "none";
    case Comparison::Basis::assumed: return "assumed";
    case Comparison::Basis::runs: return "runs";
  }
  return "none";
}

void writeInterval(const Comparison& c, Emitter& emitter) {
  emitter.field("change", "", jsonOnly(c.change));
  emitter.field("change_low", "", jsonOnly(c.hasInterval() ? Json(c.low) : Json()));
  emitter.field("change_high", "", jsonOnly(c.hasInterval() ? Json(c.high) : Json()));
  emitter.field("basis", "", jsonOnly(nameOf(c.basis)));
  emitter.field("run_spread", "", jsonOnly(c.hasInterval() ? Json(c.run_spread) : Json()));
  emitter.field("significant", "", jsonOnly(c.isSignificant()));
}

void writeFastest(const Comparison::Fastest& f, Emitter& emitter) {
  const auto known = [&f](double value) { return f.has_interval ? Json(value) : Json(); };
  emitter.field("fastest_a_ns", "", jsonOnly(known(f.a_ns)));
  emitter.field("fastest_b_ns", "", jsonOnly(known(f.b_ns)));
  emitter.field("fastest_change", "", jsonOnly(known(f.change)));
  emitter.field("fastest_change_low", "", jsonOnly(known(f.low)));
  emitter.field("fastest_change_high", "", jsonOnly(known(f.high)));
  emitter.field("fastest_significant", "", jsonOnly(f.differs()));
}

void writeTime(const Comparison& c, Emitter& emitter) {
  emitter.beginObject("iteration", "TIME", Style::heading);
  emitter.paragraph(verdictOf(c));
  if (const std::string fastest = fastestText(c); !fastest.empty()) emitter.paragraph(fastest);
  if (const std::string outliers = outliersOf(c); !outliers.empty()) emitter.paragraph(outliers);
  emitter.field("per", "", jsonOnly(c.by_item ? "item" : c.by_recording ? "recording" : "iteration"));
  emitter.field("same_recording", "", jsonOnly(c.same_recording));
  emitter.field("a_ns", "", jsonOnly(c.a_ns));
  emitter.field("b_ns", "", jsonOnly(c.b_ns));
  emitter.field("a_outliers", "", jsonOnly(c.a_outliers));
  emitter.field("b_outliers", "", jsonOnly(c.b_outliers));
  emitter.field("a_mean_ns", "", jsonOnly(c.a_mean_ns));
  emitter.field("b_mean_ns", "", jsonOnly(c.b_mean_ns));
  const auto rate = [](double items, double ns) {
    return items > 0 && ns > 0 ? Json(perSecond(items, ns)) : Json();
  };
  emitter.field("a_iteration_ns", "", jsonOnly(c.a_iteration_ns));
  emitter.field("b_iteration_ns", "", jsonOnly(c.b_iteration_ns));
  emitter.field("a_items_per_second", "", jsonOnly(rate(c.a_items, c.a_iteration_ns)));
  emitter.field("b_items_per_second", "", jsonOnly(rate(c.b_items, c.b_iteration_ns)));
  emitter.field("a_iterations", "", jsonOnly(static_cast<std::int64_t>(c.a_iterations)));
  emitter.field("b_iterations", "", jsonOnly(static_cast<std::int64_t>(c.b_iterations)));
  writeInterval(c, emitter);
  writeFastest(c.fastest, emitter);
  emitter.endObject();
}

// A line for each run, where a side has several.
void writeRuns(const Comparison& c, Emitter& emitter) {
  Table table{{{"side", "", Align::left, false},
               {"trace", "run", Align::left},
               {"ns",
                c.by_recording ? "whole"
                : c.by_item    ? "median of an item"
                               : "median iteration",
                Align::right},
               {"iterations", "steady iterations", Align::right}}};
  for (const auto* side : {&c.a_runs, &c.b_runs}) {
    for (const auto& run : *side) {
      const auto count = static_cast<std::int64_t>(run.iterations);
      table.rows.push_back({text(side == &c.a_runs ? "A" : "B"), text(run.path), durationOrNone(run.ns),
                            Cell{count, showCount(count)}});
    }
  }
  const bool several = c.a_runs.size() + c.b_runs.size() > 2;
  if (several) emitter.heading("RUNS");
  if (!several) table.text_rows = 0;
  emitter.table("runs", "", table);
}

std::string signedPercent(double share) {
  if (std::fabs(share) < 0.0995) return fmt::format("{:+.1f}", 100 * share);
  return fmt::format("{:+.0f}", 100 * share);
}

// "-12 to +3.4 %": two figures, so that the name of the row has room.
std::string shortInterval(const Comparison::Change& change) {
  if (!change.has_interval) return "";
  return fmt::format("{} to {} %", signedPercent(change.low), signedPercent(change.high));
}

bool isTested(const std::vector<Comparison::Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const auto& change) { return change.has_interval; });
}

std::string shareOf(const Comparison::Change& change) {
  if (change.a_ns > 0 && change.b_ns > 0) return signedShare(change.b_ns / change.a_ns - 1);
  if (change.in_some_runs) return "not in all";
  return change.a_ns > 0 ? "gone" : "new";
}

std::vector<Cell> rowOf(const Comparison::Change& change) {
  const double delta = change.b_ns - change.a_ns;
  const bool known = change.has_interval;
  return {text(change.name),
          durationOrNone(change.a_ns),
          durationOrNone(change.b_ns),
          textOnly(signedDuration(delta)),
          textOnly(shareOf(change)),
          textOnly(shortInterval(change)),
          textOnly(!change.differs() ? ""
                   : change.low > 0  ? "slower"
                                     : "faster"),
          jsonOnly(known ? Json(change.low) : Json()),
          jsonOnly(known ? Json(change.high) : Json()),
          jsonOnly(change.differs()),
          jsonOnly(change.a_count),
          jsonOnly(change.b_count)};
}

// Where rows are tested, intervals and verdicts replace the differences.
Table changesOf(const char* what, const std::vector<Comparison::Change>& changes, bool counts) {
  const bool tested = isTested(changes);
  Table table{{{"name", what},
               {"a_ns", "A", Align::right},
               {"b_ns", "B", Align::right},
               {"", tested ? "" : "change", Align::right},
               {"", tested ? "change" : " ", Align::right},
               {"", tested ? "95 % interval" : "", Align::right, false},
               {"", tested ? "verdict" : "", Align::left, false},
               {"change_low", ""},
               {"change_high", ""},
               {"differs", ""},
               {counts ? "a_count" : "", ""},
               {counts ? "b_count" : "", ""}}};
  for (const auto& change : changes) {
    if (change.a_ns != 0 || change.b_ns != 0) table.rows.push_back(rowOf(change));
  }
  if (!counts) {
    double a = 0, b = 0;
    for (const auto& change : changes) a += change.a_ns, b += change.b_ns;
    const std::string share = a > 0 ? signedShare(b / a - 1) : "";
    table.footer = {"total", showDuration(a), showDuration(b)};
    if (!tested) table.footer.push_back(signedDuration(b - a));
    table.footer.push_back(share);
    if (tested) table.footer.insert(table.footer.end(), {"", ""});
  }
  return table;
}

// Explains the rows of the tables.
std::string rowsText(const Comparison& c) {
  if (c.same_recording || c.breakdown.empty()) return {};
  if (!isTested(c.breakdown) && !isTested(c.work)) {
    return "How much of a row's change is run-to-run variation is not tested: that needs at least three runs "
           "of "
           "each side.";
  }
  return "Rows called slower or faster changed by more than run-to-run variation explains; the intervals of "
         "all "
         "rows of a table hold jointly with 95 %. Rows without an interval are smaller than 0.2 % of the "
         "time or "
         "not in every run.";
}

void writeChanges(const Comparison& c, Emitter& emitter) {
  std::string per = c.by_recording ? ", of the whole" : c.by_item ? ", per item" : ", per iteration";
  if (!c.breakdown.empty()) {
    emitter.heading(fmt::format("WHERE THE TIME GOES{}{}", per, c.by_recording ? "" : " (means)"));
    if (c.device_count > 1)
      emitter.paragraph(fmt::format("Times are sums over up to {} devices.", c.device_count));
    if (const std::string rows = rowsText(c); !rows.empty()) emitter.paragraph(rows);
  }
  emitter.table("breakdown", "", changesOf("category", c.breakdown, false));
  Table work = changesOf("operator or kernel", c.work, true);
  const double least = kWorthShowing * std::max(c.a_ns, c.b_ns);
  work.text_rows = 0;
  // Those that differ come first, so that the first small one ends them.
  for (const auto& change : c.work) {
    const bool shown = change.differs() || std::fabs(change.b_ns - change.a_ns) > least;
    if (!shown || work.text_rows >= kShownWork) break;
    ++work.text_rows;
  }
  if (work.text_rows > 0) emitter.heading("GREATEST DIFFERENCES OF OPERATORS AND KERNELS" + per);
  if (work.text_rows == 0 && !c.work.empty())
    emitter.paragraph("No operator or kernel differs by more than 0.2 % of the time.");
  emitter.table("work", "", work);
}

void writeSettings(const Comparison& c, Emitter& emitter) {
  Table table{{{"name", "setting", Align::left, false}, {"a", "A"}, {"b", "B"}}};
  const auto shown = [](const std::string& value) { return Cell{value, value.empty() ? "unset" : value}; };
  for (const auto& change : c.settings)
    table.rows.push_back({text(change.name), shown(change.a), shown(change.b)});
  emitter.heading(table.rows.empty() ? "SETTINGS: the same" : "SETTINGS that differ");
  emitter.table("settings", "", table);
}

}  // namespace

void writeComparison(const Comparison& comparison, Emitter& emitter) {
  emitter.beginObject("");
  emitter.field("schema_version", "", jsonOnly(std::int64_t{kReportSchemaVersion}));
  emitter.field("a", "A", text(comparison.a_path));
  emitter.field("b", "B", text(comparison.b_path));
  writeAspects(comparison, emitter);
  writeTime(comparison, emitter);
  writeRuns(comparison, emitter);
  writeChanges(comparison, emitter);
  writeSettings(comparison, emitter);
  emitter.endObject();
}

}  // namespace emit

std::string comparisonSentence(const Comparison& comparison) { return emit::verdictOf(comparison); }

std::string comparisonAsText(const Comparison& comparison, TextOptions options) {
  emit::TextEmitter emitter(options);
  emit::writeComparison(comparison, emitter);
  return std::move(emitter).take();
}

std::string comparisonAsJson(const Comparison& comparison) {
  emit::JsonEmitter emitter;
  emit::writeComparison(comparison, emitter);
  return std::move(emitter).take();
}

std::string comparisonAsMarkdown(const Comparison& comparison) {
  emit::MarkdownEmitter emitter;
  emit::writeComparison(comparison, emitter);
  return "# Pitwall comparison\n\n" + std::move(emitter).take();
}

std::string comparisonAsHtml(const Comparison& comparison) {
  std::vector<emit::Bar> before, after;
  for (const auto& change : comparison.breakdown) {
    const double whole = std::max(comparison.a_ns, comparison.b_ns);
    if (whole <= 0) break;
    before.push_back({change.name, std::min(1.0, change.a_ns / whole), showDuration(change.a_ns)});
    after.push_back({change.name, std::min(1.0, change.b_ns / whole), showDuration(change.b_ns)});
  }
  std::string charts;
  if (!before.empty())
    charts = emit::stackedChart("A", before) + emit::stackedChart("B, on the same scale", after);
  emit::HtmlEmitter emitter("Pitwall: " + comparison.a_path + " and " + comparison.b_path,
                            {{{"", charts}}, {}});
  emit::writeComparison(comparison, emitter);
  return std::move(emitter).take();
}

}  // namespace pitwall
