#include "analyzer/emit/report_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "analyzer/emit.h"
#include "analyzer/emit/cells.h"
#include "analyzer/emit/code_section.h"
#include "analyzer/emit/critical_path_section.h"
#include "analyzer/emit/kernel_section.h"
#include "analyzer/emit/operator_section.h"
#include "analyzer/emit/timeline_section.h"

namespace pitwall::emit {
namespace {

constexpr double kUnknown = 0.999;  // of the time: nothing is left to show
constexpr std::int64_t kGroup = 3;  // rules with one reason that have their own line

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

Style styleOf(Severity severity) {
  switch (severity) {
    case Severity::info: return Style::info;
    case Severity::low: return Style::low;
    case Severity::medium: return Style::medium;
    case Severity::high: return Style::high;
  }
  return Style::plain;
}

void writeHead(const Report& report, Emitter& emitter) {
  const auto& b = report.breakdown;
  std::string speed;
  const bool whole = b.iteration_source == "whole trace";
  // Warm-up and last are three iterations; more are outliers, and a program that includes those reports a
  // lower rate.
  if (b.items_per_second > 0)
    speed = fmt::format(", {} items/s{}", showRate(b.items_per_second),
                        b.skipped_iterations > 3 ? " without outliers" : "");
  emitter.field("schema_version", "", jsonOnly(std::int64_t{kReportSchemaVersion}));
  emitter.paragraph(fmt::format("{}: {}{}", report.trace_path,
                                report.timeline_kind == "sums only" ? "sums only"
                                : whole                             ? "no iterations found"
                                        : plural(b.iterations, "iteration", "iterations"),
                                speed));
  emitter.field("trace", "", jsonOnly(report.trace_path));
  emitter.field("complete", "", jsonOnly(report.trace_complete));
  emitter.field("timeline_kind", "", jsonOnly(report.timeline_kind));
}

void writeOverview(const Report& report, Emitter& emitter) {
  const Overview overview = overviewOf(report);
  emitter.beginObject("overview");
  emitter.field("ended", "Ended", text(overview.ended));
  emitter.field("exit_code", "", jsonOnly(report.end.exit_code ? Json(*report.end.exit_code) : Json()));
  emitter.field("exit_signal", "", jsonOnly(report.end.exit_signal ? Json(*report.end.exit_signal) : Json()));
  emitter.field("coverage", "", jsonOnly(report.coverage));
  emitter.field("startup", "Start-up", text(overview.startup));
  emitter.field("time", "Time", text(overview.time));
  emitter.field("first", "Do first", text(overview.first));
  emitter.field("finding", "", jsonOnly(overview.finding));
  emitter.field("gain", "May bring", text(overview.gain));
  emitter.field("then", "Then", text(overview.then));
  emitter.field("limits", "Limits", text(overview.limits));
  emitter.endObject();
}

void writeContext(const Report& report, Emitter& emitter) {
  emitter.beginObject("context", report.context.empty() ? "" : "WHAT WAS RECORDED", Style::heading);
  for (const auto& [key, value] : report.context) emitter.field(key, key, text(value));
  emitter.endObject();
}

// Bounds that are the same when they are rounded are written once.
std::string rangeText(const std::string& low, const std::string& high) {
  return low == high ? low : low + " to " + high;
}

std::string gainText(const Finding& finding) {
  if (finding.gain_method.empty()) return {};
  const std::string limit = finding.gain_limit.empty() ? "" : "; " + finding.gain_limit;
  if (finding.gain_high < 0.0005) {
    return finding.gain_limit.empty()
               ? "none. " + finding.gain_method
               : fmt::format("none by itself: {}. {}", finding.gain_limit, finding.gain_method);
  }
  const std::string low = showShare(finding.gain_low), high = showShare(finding.gain_high);
  const std::string speeds = rangeText(speedUp(finding.gain_low), speedUp(finding.gain_high));
  // An interval that begins at nothing is a bound, and says no more.
  const std::string gain =
      finding.gain_low < 0.005 || low == high
          ? fmt::format("{} of the time ({} the speed)", rangeText(low, high), speeds)
          : fmt::format("about {} of the time: {} to {} ({} the speed)",
                        showShare(estimatedGain(finding.gain_low, finding.gain_high)), low, high, speeds);
  return fmt::format("{}, {} confidence{}. {}", gain, pitwall::toString(finding.confidence), limit,
                     finding.gain_method);
}

void writeProposals(const Finding& finding, Emitter& emitter) {
  emitter.beginList("proposals");
  for (const auto& proposal : finding.proposals) {
    emitter.beginObject("");
    emitter.field("name", "", jsonOnly(proposal.name));
    emitter.field("current", "", jsonOnly(proposal.current));
    emitter.field("proposed", "", jsonOnly(proposal.proposed));
    emitter.field("reason", "", jsonOnly(proposal.reason));
    emitter.field("user_set", "", jsonOnly(proposal.user_set));
    const std::string setting = fmt::format("{}={}", proposal.name, proposal.proposed);
    if (proposal.user_set) {
      emitter.field("", "Try",
                    textOnly(fmt::format("{} (you set {}={}; not overridden)", setting, proposal.name,
                                         proposal.current)));
    } else {
      emitter.field("", "Set", textOnly(fmt::format("export {} (now {})", setting, proposal.current)));
    }
    emitter.field("", " ", textOnly(proposal.reason));
    emitter.endObject();
  }
  emitter.endList();
}

void writeEvidence(const Finding& finding, std::size_t rank, Emitter& emitter) {
  emitter.beginObject("evidence");
  Table table;
  for (const auto& column : finding.evidence.columns) {
    std::string title = column;
    for (const char* unit : {"_ns", "_bytes"}) {
      if (title.size() > std::string(unit).size() && title.ends_with(unit)) title.erase(title.rfind('_'));
    }
    std::replace(title.begin(), title.end(), '_', ' ');
    const bool number = column.ends_with("_ns") || column.ends_with("share") || column == "count" ||
                        column.ends_with("_bytes") || column.ends_with("per_second");
    table.columns.push_back({column, title, number ? Align::right : Align::left});
  }
  for (const auto& row : finding.evidence.rows) {
    auto& cells = table.rows.emplace_back();
    for (const auto& value : row) cells.push_back(text(value));
    table.row_names.push_back(placeName(rank, table.rows.size() - 1));
  }
  emitter.table("rows", "Evidence", table);
  const auto shown = static_cast<std::int64_t>(finding.evidence.rows.size());
  const auto more = finding.evidence.total_rows - shown;
  emitter.field("total_rows", more > 0 ? " " : "",
                {finding.evidence.total_rows, more > 0 ? fmt::format("and {} more", more) : ""});
  emitter.endObject();
}

// In double quotes of a shell.
std::string inDoubleQuotes(const std::string& sql) {
  std::string quoted = "\"";
  for (const char c : sql) {
    if (std::string_view("\\\"$`").find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

void writeSql(const Finding& finding, const std::string& trace_path, bool show, Emitter& emitter) {
  emitter.beginObject("sql");
  emitter.field("measure", "", jsonOnly(finding.sql.measure));
  emitter.field("evidence", "", jsonOnly(finding.sql.evidence));
  emitter.endObject();
  if (!show) return;
  const auto command = [&](const std::string& sql) {
    return fmt::format("pitwall query {} {}", inDoubleQuotes(trace_path), inDoubleQuotes(sql));
  };
  emitter.code("Found by", command(finding.sql.measure));
  if (!finding.sql.evidence.empty()) emitter.code("Evidence by", command(finding.sql.evidence));
}

void writeFinding(const Report& report, const Finding& finding, bool show_sql, Emitter& emitter) {
  const auto rank = 1 + (&finding - report.findings.data());
  const std::string severity = pitwall::toString(finding.severity);
  emitter.beginObject("", fmt::format("{}. {}: {} [{}]", rank, upper(severity), finding.title, finding.id),
                      styleOf(finding.severity));
  emitter.field("id", "", jsonOnly(finding.id));
  emitter.field("title", "", jsonOnly(finding.title));
  emitter.field("severity", "", jsonOnly(severity));
  emitter.field("verdict", "", jsonOnly(finding.verdict));
  emitter.paragraph(finding.verdict);
  emitter.field("action", "Do", text(finding.action));
  writeEvidence(finding, static_cast<std::size_t>(rank) - 1, emitter);
  writeProposals(finding, emitter);
  emitter.beginObject("gain");
  emitter.field("low", "", jsonOnly(finding.gain_low));
  emitter.field("high", "", jsonOnly(finding.gain_high));
  emitter.field("method", "Gain", {finding.gain_method, gainText(finding)});
  emitter.field("limit", "", jsonOnly(finding.gain_limit));
  emitter.field("confidence", "", jsonOnly(pitwall::toString(finding.confidence)));
  emitter.field("estimate", "", jsonOnly(estimatedGain(finding.gain_low, finding.gain_high)));
  emitter.field("expected", "", jsonOnly(finding.expected_gain));
  emitter.endObject();
  emitter.beginObject("cost");
  emitter.field("share", "", jsonOnly(finding.cost_share ? Json(*finding.cost_share) : Json()));
  emitter.field("text", "Cost", text(finding.cost));
  emitter.endObject();
  emitter.field("guard", "Wrong if", text(finding.guard));
  emitter.field("status", "Status", text(pitwall::toString(finding.status)));
  writeSql(finding, report.trace_path, show_sql, emitter);
  emitter.endObject();
}

void writeFindings(const Report& report, bool show_sql, Emitter& emitter) {
  const auto count = report.findings.size();
  emitter.beginList("findings", count == 0 ? "FINDINGS: none" : "FINDINGS, most important first");
  for (const auto& finding : report.findings) writeFinding(report, finding, show_sql, emitter);
  emitter.endList();
}

bool isWhole(const Breakdown& b) {
  return b.iteration_source == "whole trace" || (b.devices > 0 && b.iterations < 3);
}

// What the breakdown refers to.
std::string howMeasured(const Breakdown& b, const std::string& timeline_kind) {
  const std::string devices =
      b.devices > 1 ? fmt::format(" Times are sums over {} devices.", b.devices) : std::string();
  if (timeline_kind == "sums only")
    return "Shares of the sum of all rows: the file does not say when anything began.";
  if (timeline_kind == "serialised kernels")
    return "Kernels ran one after the other, to be counted in hardware: these are not the program's times.";
  if (b.iteration_source == "whole trace")
    return "The whole trace: nothing in it repeats, or marks where an iteration begins." + devices;
  const std::string count = plural(b.iterations, "iteration", "iterations");
  const std::string median = showDuration(static_cast<double>(b.median_iteration_ns));
  if (isWhole(b)) {
    return fmt::format(
        "The whole trace: {} ({} median, found by {}) {} too few to leave out the first and last.{}", count,
        median, b.iteration_source, b.iterations == 1 ? "is" : "are", devices);
  }
  const double wall = static_cast<double>(b.wall_ns) / std::max(1, b.devices);
  const auto steady = static_cast<double>(std::max<std::int64_t>(1, b.iterations));
  const std::string left = b.skipped_iterations == 0 ? "none" : showCount(b.skipped_iterations);
  std::string text =
      fmt::format("{}, {} median, {} mean; {} left out (warm-up, last, outliers); found by {}.", count,
                  median, showDuration(wall / steady), left, b.iteration_source);
  if (b.recorded_ns > 0)
    text += fmt::format(" Together {} of the {} recorded.", showDuration(wall),
                        showDuration(static_cast<double>(b.recorded_ns)));
  return text + devices;
}

void writeBreakdown(const Breakdown& b, const std::string& timeline_kind, Emitter& emitter) {
  emitter.beginObject("breakdown", "WHERE THE TIME GOES", Style::heading);
  emitter.paragraph(howMeasured(b, timeline_kind));
  emitter.field("iterations", "", jsonOnly(b.iterations));
  emitter.field("skipped_iterations", "", jsonOnly(b.skipped_iterations));
  emitter.field("iteration_source", "", jsonOnly(b.iteration_source));
  emitter.field("wall_ns", "", jsonOnly(b.wall_ns));
  emitter.field("recorded_ns", "", jsonOnly(b.recorded_ns));
  emitter.field("median_iteration_ns", "", jsonOnly(b.median_iteration_ns));
  emitter.field("items_per_second", "", jsonOnly(b.items_per_second));

  Table table{{{"category", "category"},
               {"total_ns", "total", Align::right},
               {"", isWhole(b) ? "" : "per iteration", Align::right},
               {"share", "share", Align::right},
               {"", " ", Align::left, true, true}}};
  const auto per_iteration = [&](TimeNs ns) {
    return showDuration(static_cast<double>(ns) /
                        static_cast<double>(std::max<std::int64_t>(1, b.iterations)));
  };
  TimeNs sum = 0;
  for (const auto& s : b.shares) {
    sum += s.total_ns;
    table.rows.push_back({text(s.category), duration(s.total_ns), textOnly(per_iteration(s.total_ns)),
                          share(s.share), bar(s.share)});
  }
  const double total_share = b.wall_ns > 0 ? static_cast<double>(sum) / static_cast<double>(b.wall_ns) : 0;
  table.footer = {"total", showDuration(static_cast<double>(sum)), per_iteration(sum), showShare(total_share),
                  ""};
  if (isWhole(b)) table.footer.erase(table.footer.begin() + 2);
  if (b.share("unattributed") > kUnknown) table.text_rows = 0;
  emitter.table("shares", "", table);
  if (table.text_rows == 0)
    emitter.paragraph("Unknown: the recording contains no operators and no work of devices.");
  emitter.endObject();
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// A line for each reason that several rules have, with their number; one for all others together. Verbose:
// each reason with its rules.
void showAbstentions(const std::vector<Abstention>& abstentions, bool verbose, Emitter& emitter) {
  struct Group {
    std::string reason;
    std::vector<std::string> ids;
  };
  std::vector<Group> groups;
  for (const auto& abstention : abstentions) {
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const Group& group) { return group.reason == abstention.reason; });
    if (same == groups.end()) same = groups.insert(groups.end(), {abstention.reason, {}});
    same->ids.push_back(abstention.id);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.ids.size() > b.ids.size(); });
  std::int64_t others = 0;
  for (const auto& [reason, ids] : groups) {
    const auto count = static_cast<std::int64_t>(ids.size());
    if (verbose) {
      emitter.paragraph(fmt::format("{}: {}", joined(ids), reason));
    } else if (count >= kGroup) {
      emitter.paragraph(fmt::format("{}: {}", plural(count, "rule", "rules"), reason));
    } else {
      others += count;
    }
  }
  if (others > 0)
    emitter.paragraph(fmt::format("{} something else each: --verbose lists it.",
                                  others == 1 ? "1 rule needs" : fmt::format("{} rules need", others)));
}

void writeRest(const Report& report, bool verbose, Emitter& emitter) {
  emitter.beginList("notes", report.notes.empty() ? "" : "ABOUT THIS TRACE");
  for (const auto& note : report.notes) emitter.field("", "-", text(note));
  emitter.endList();
  emitter.beginList("abstentions", report.abstentions.empty() ? "" : "NEEDS MORE DATA");
  for (const auto& abstention : report.abstentions) {
    emitter.beginObject("");
    emitter.field("id", "", jsonOnly(abstention.id));
    emitter.field("title", "", jsonOnly(abstention.title));
    emitter.field("reason", "", jsonOnly(abstention.reason));
    emitter.endObject();
  }
  emitter.endList();
  showAbstentions(report.abstentions, verbose, emitter);
  // A number is more useful than eighty names.
  emitter.beginList("silent", report.silent.empty() ? "" : "NO FINDING");
  for (const auto& id : report.silent) emitter.field("", "", jsonOnly(id));
  emitter.endList();
  if (report.silent.empty()) return;
  const auto count = plural(static_cast<std::int64_t>(report.silent.size()), "rule", "rules");
  emitter.paragraph(verbose ? fmt::format("{} found nothing: {}. 'pitwall rules show NAME' explains a "
                                          "rule.",
                                          count, joined(report.silent))
                            : fmt::format("{} found nothing; --verbose lists them.", count));
}

}  // namespace

void writeReport(const Report& report, ReportDetail detail, Emitter& emitter) {
  emitter.beginObject("");
  writeHead(report, emitter);
  writeOverview(report, emitter);
  writeFindings(report, detail.sql, emitter);
  writeBreakdown(report.breakdown, report.timeline_kind, emitter);
  writeOperatorSection(report, emitter);
  writeKernelSection(report.kernels, emitter);
  writeCriticalPathSection(report.critical_path, emitter);
  writeCodeSection(report.code, emitter);
  writeContext(report, emitter);
  writeRest(report, detail.verbose, emitter);
  emitter.endObject();
}

}  // namespace pitwall::emit
