#include "analyzer/emit/comparison_walk.h"

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

std::string changeOf(const Comparison& c) {
  if (!c.has_interval)
    return fmt::format("{}; too few iterations to say how much of it is chance.", signedShare(c.change));
  const std::string interval = fmt::format("95 % interval {} to {}", signedShare(c.low), signedShare(c.high));
  if (!c.isSignificant())
    return fmt::format("{}, which may be chance ({}).", signedShare(c.change), interval);
  return fmt::format("B is {} {} ({}).", showShare(std::fabs(c.change)), c.change > 0 ? "slower" : "faster",
                     interval);
}

std::string verdictOf(const Comparison& c) {
  if (c.same_recording) return "A and B are one and the same recording: nothing can have changed.";
  if (c.by_recording) {
    return fmt::format(
        "Neither trace has steady iterations. The whole of A takes {}, the whole of B {}: {}; of one "
        "recording "
        "each nobody can say how much of it is chance.",
        showDuration(c.a_ns), showDuration(c.b_ns), signedShare(c.change));
  }
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

// What the medians do not tell: a stall is an outlier, and a setting may be all about stalls.
std::string outliersOf(const Comparison& c) {
  const bool compared = !c.same_recording && !c.by_recording && c.a_mean_ns > 0 && c.b_mean_ns > 0;
  if (!compared || c.a_outliers + c.b_outliers == 0) return {};
  const double change = c.b_mean_ns / c.a_mean_ns - 1;
  const bool contrary = change * c.change < 0 && std::fabs(change) > kWorthMentioning;
  return fmt::format(
      "{} with outliers ({} in A, {} in B), which medians leave out: {} in A and {} in B, {}.{}",
      c.by_item ? "The mean of an item" : "The mean", c.a_outliers, c.b_outliers, showDuration(c.a_mean_ns),
      showDuration(c.b_mean_ns), signedShare(change),
      contrary ? " The two contradict each other: the outliers decide how long the whole takes, so "
                 "find out what they are, and repeat both runs."
               : "");
}

void walkAspects(const Comparison& c, Emitter& emitter) {
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
  // Sentences, which a column would cut.
  for (const auto& aspect : c.aspects) {
    if (!aspect.remark.empty()) emitter.paragraph(fmt::format("{}: {}.", aspect.name, aspect.remark));
  }
}

void walkTime(const Comparison& c, Emitter& emitter) {
  emitter.beginObject("iteration", "TIME", Style::heading);
  emitter.paragraph(verdictOf(c));
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
  emitter.field("change", "", jsonOnly(c.change));
  emitter.field("change_low", "", jsonOnly(c.has_interval ? Json(c.low) : Json()));
  emitter.field("change_high", "", jsonOnly(c.has_interval ? Json(c.high) : Json()));
  emitter.field("significant", "", jsonOnly(c.isSignificant()));
  emitter.endObject();
}

Table changesOf(const char* what, const std::vector<Comparison::Change>& changes, bool counts) {
  Table table{{{"name", what},
               {"a_ns", "A", Align::right},
               {"b_ns", "B", Align::right},
               {"", "change", Align::right},
               {"", " ", Align::right},
               {counts ? "a_count" : "", ""},
               {counts ? "b_count" : "", ""}}};
  for (const auto& change : changes) {
    if (change.a_ns == 0 && change.b_ns == 0) continue;
    const double delta = change.b_ns - change.a_ns;
    const std::string share = change.a_ns > 0 && change.b_ns > 0 ? signedShare(delta / change.a_ns)
                              : change.a_ns > 0                  ? "gone"
                              : change.b_ns > 0                  ? "new"
                                                                 : "";
    table.rows.push_back({text(change.name),
                          durationOrNone(change.a_ns),
                          durationOrNone(change.b_ns),
                          {{}, signedDuration(delta)},
                          {{}, share},
                          jsonOnly(change.a_count),
                          jsonOnly(change.b_count)});
  }
  if (!counts) {
    double a = 0, b = 0;
    for (const auto& change : changes) a += change.a_ns, b += change.b_ns;
    table.footer = {"total", showDuration(a), showDuration(b), signedDuration(b - a),
                    a > 0 ? signedShare(b / a - 1) : ""};
  }
  return table;
}

void walkChanges(const Comparison& c, Emitter& emitter) {
  std::string per = c.by_recording ? ", of the whole" : c.by_item ? ", per item" : ", per iteration";
  if (!c.breakdown.empty()) {
    emitter.heading(fmt::format("WHERE THE TIME GOES{}{}", per, c.by_recording ? "" : " (means)"));
    if (c.device_count > 1)
      emitter.paragraph(fmt::format("Times are sums over up to {} devices.", c.device_count));
  }
  emitter.table("breakdown", "", changesOf("category", c.breakdown, false));
  Table work = changesOf("operator or kernel", c.work, true);
  const double least = kWorthShowing * std::max(c.a_ns, c.b_ns);
  work.text_rows = 0;
  for (const auto& change : c.work) {
    if (std::fabs(change.b_ns - change.a_ns) > least && work.text_rows < kShownWork) ++work.text_rows;
  }
  if (work.text_rows > 0) emitter.heading("GREATEST CHANGES OF OPERATORS AND KERNELS" + per);
  if (work.text_rows == 0 && !c.work.empty())
    emitter.paragraph("No operator or kernel changed by more than 0.2 % of the time.");
  emitter.table("work", "", work);
}

void walkSettings(const Comparison& c, Emitter& emitter) {
  Table table{{{"name", "setting", Align::left, false}, {"a", "A"}, {"b", "B"}}};
  const auto shown = [](const std::string& value) { return Cell{value, value.empty() ? "unset" : value}; };
  for (const auto& change : c.settings)
    table.rows.push_back({text(change.name), shown(change.a), shown(change.b)});
  emitter.heading(table.rows.empty() ? "SETTINGS: the same" : "SETTINGS that differ");
  emitter.table("settings", "", table);
}

}  // namespace

void walkComparison(const Comparison& comparison, Emitter& emitter) {
  emitter.beginObject("");
  emitter.field("schema_version", "", jsonOnly(std::int64_t{kReportSchemaVersion}));
  emitter.field("a", "A", text(comparison.a_path));
  emitter.field("b", "B", text(comparison.b_path));
  walkAspects(comparison, emitter);
  walkTime(comparison, emitter);
  walkChanges(comparison, emitter);
  walkSettings(comparison, emitter);
  emitter.endObject();
}

}  // namespace emit

std::string comparisonSentence(const Comparison& comparison) { return emit::verdictOf(comparison); }

std::string comparisonAsText(const Comparison& comparison, TextOptions options) {
  emit::TextEmitter emitter(options);
  emit::walkComparison(comparison, emitter);
  return std::move(emitter).take();
}

std::string comparisonAsJson(const Comparison& comparison) {
  emit::JsonEmitter emitter;
  emit::walkComparison(comparison, emitter);
  return std::move(emitter).take();
}

std::string comparisonAsMarkdown(const Comparison& comparison) {
  emit::MarkdownEmitter emitter;
  emit::walkComparison(comparison, emitter);
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
  emit::HtmlEmitter emitter("Pitwall: " + comparison.a_path + " and " + comparison.b_path, charts);
  emit::walkComparison(comparison, emitter);
  return std::move(emitter).take();
}

}  // namespace pitwall
