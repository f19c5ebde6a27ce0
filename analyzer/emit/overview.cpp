// The first screen of a report, understandable without the rest.
#include <fmt/core.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "analyzer/emit.h"
#include "analyzer/emit/cells.h"
#include "analyzer/emit/code_section.h"
#include "analyzer/emit/utf8.h"

namespace pitwall {
namespace {

constexpr double kShownShare = 0.01;
constexpr double kLongStartUp = 0.5;  // of the run
constexpr std::size_t kShownParts = 5;
constexpr std::size_t kLine = 66;  // the text beside a label on a line of 80
constexpr std::size_t kTwoLines = 2 * kLine - 8, kSampledColumns = 3 * kLine - 16;
constexpr std::size_t kShownSettings = 2;
constexpr std::size_t kFunctionsInOverview = 2;
constexpr double kLeastFunction = 0.1;
constexpr double kFewCpus = 0.5, kLongWait = 0.5;  // of a CPU; of the time
constexpr std::size_t kNameColumns = 40;
constexpr double kBeyondSpeed = 0.99;  // a larger gain is meaningless as a factor

std::string shortenedAtWord(const std::string& text, std::size_t columns) {
  if (emit::columnsOf(text) <= columns) return text;
  const std::string cut = emit::shortened(text, columns - 2);
  const auto blank = cut.rfind(' ');
  return blank == std::string::npos ? emit::shortened(text, columns) : cut.substr(0, blank) + " ...";
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// The name of a category of the breakdown for readers who do not know the documentation. Those of one text
// are added up.
std::string plainName(std::string_view category, const Report& report) {
  const bool device = report.breakdown.devices > 0;
  struct Name {
    std::string_view category, on_cpu, on_device;
  };
  constexpr std::string_view kComputation = "computation";
  constexpr Name kNames[] = {
      {"forward", kComputation, kComputation},
      {"backward", kComputation, kComputation},
      {"update", kComputation, kComputation},
      {"other operators", kComputation, kComputation},
      {"computation", kComputation, kComputation},
      {"communication", "communication", "communication"},
      {"copies", "copies", "copies"},
      {"data wait", "waiting for data", "waiting for data"},
      {"engine overhead", "overhead of the engine", "overhead of the engine"},
      {"synchronisation", "idle while the program waits for it", "idle while the program waits for it"},
      {"host wait", "idle until the host starts work", "idle until the host launches work"},
      {"kernel wait", "short gaps between kernels", "short gaps between kernels"},
      {"idle", "the program's own code", "idle for other reasons"},
      {"unattributed", "not recorded", "not recorded"},
  };
  if (!device && report.coverage == "library calls" && category != "unattributed")
    return "calls of " + report.logged_library;
  for (const Name& name : kNames) {
    if (name.category == category) return std::string(device ? name.on_device : name.on_cpu);
  }
  return std::string(category);
}

// "the first thread waited 92 % of the time, most in load (train.py:7): lock or event"; empty for a program that computes.
std::string longWait(const Report& report) {
  const SampledUse& use = *report.sampled;
  const CodeWait& wait = report.code.longest_wait;
  const double share =
      static_cast<double>(report.code.waiting_ns) / static_cast<double>(std::max<TimeNs>(1, use.span_ns));
  if (use.all_cpus >= kFewCpus || share < kLongWait) return {};
  constexpr std::string_view kWaiting = "waiting: ";
  const bool is_named = wait.state.starts_with(kWaiting);
  return fmt::format("the first thread waited {} of the time, most in {} ({}){}",
                     percent(std::min(1.0, share)), emit::shortened(wait.function, kNameColumns),
                     emit::shortened(emit::sourcePlace(wait.file, wait.line), kNameColumns),
                     is_named                   ? ": " + wait.state.substr(kWaiting.size())
                     : wait.state == "sleeping" ? ", sleeping"
                                                : "");
}

// "44 % of the sampled CPU time in main (train.py:19)", the greatest first.
std::vector<std::string> topFunctions(const CodeReport& code) {
  std::vector<const CodeRow*> rows;
  for (const CodeRow& row : code.rows) {
    if (static_cast<double>(row.busyNs()) >= kLeastFunction * static_cast<double>(code.busy_ns) &&
        row.busyNs() > 0)
      rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &CodeRow::busyNs);
  const bool locks = std::ranges::any_of(code.rows, [](const CodeRow& row) { return row.lock_ns > 0; });
  std::vector<std::string> texts;
  for (const CodeRow* row : rows) {
    const double share = static_cast<double>(row->busyNs()) / static_cast<double>(code.busy_ns);
    texts.push_back(fmt::format("{}{} in {} ({})", percent(share),
                                !texts.empty() ? ""
                                : locks        ? " of the sampled CPU and GIL time"
                                               : " of the sampled CPU time",
                                emit::shortened(row->function, kNameColumns),
                                emit::shortened(emit::sourcePlace(row->file, row->line), kNameColumns)));
    if (texts.size() == kFunctionsInOverview) break;
  }
  return texts;
}

// Functions follow as far as there is room for the whole of them.
std::string sampledTime(const Report& report) {
  if (!report.sampled) return "not recorded";
  const SampledUse& use = *report.sampled;
  const bool several = use.processes > 1;
  const double cpus = several ? use.all_cpus : use.cpus;
  const std::string program = emit::shortened(use.program, kNameColumns);
  std::string text = fmt::format(
      "{} kept {:.2f} {} busy on average over {}; {} operators were not recorded",
      several ? fmt::format("{} processes, {} the busiest,", use.processes, program) : program, cpus,
      use.usable_cpus > 1 ? fmt::format("of {} CPUs", use.usable_cpus)
      : cpus > 1          ? "CPUs"
                          : "CPU",
      showDuration(static_cast<double>(use.span_ns)), several ? "their" : "its");
  if (const std::string wait = longWait(report); !wait.empty()) text += "; " + wait;
  const char* separator = "; ";
  for (const std::string& function : topFunctions(report.code)) {
    if (emit::columnsOf(text) + emit::columnsOf(function) + 2 > kSampledColumns) break;
    text += separator + function;
    separator = ", ";
  }
  return text;
}

std::string whereTimeGoes(const Report& report) {
  const Breakdown& b = report.breakdown;
  std::map<std::string, double> by_name;
  for (const auto& part : b.shares) by_name[plainName(part.category, report)] += part.share;
  if (b.wall_ns == 0 || by_name["not recorded"] > 1 - kShownShare) return sampledTime(report);
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [name, share] : by_name) {
    if (share >= kShownShare) parts.emplace_back(share, name);
  }
  std::sort(parts.begin(), parts.end(), [](const auto& left, const auto& right) {
    return left.first != right.first ? left.first > right.first : left.second < right.second;
  });
  std::string text = b.devices == 1 ? "device: " : b.devices > 1 ? "devices: " : "";
  double rest = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i >= kShownParts) {
      rest += parts[i].first;
    } else {
      text += fmt::format("{}{} {}", i == 0 ? "" : ", ", percent(parts[i].first), parts[i].second);
    }
  }
  if (rest >= kShownShare) text += fmt::format(", {} other", percent(rest));
  return shortenedAtWord(text, kTwoLines);
}

// "1.44 s of 1.70 s, before the first iteration: 97 % at train.py:6 (imports)"; empty where most of the run is iterations.
std::string longStartUp(const Report& report) {
  const CodeReport& code = report.code;
  const TimeNs run_ns = report.end.ran_ns;
  if (code.startup_ns <= 0 || run_ns <= 0 || code.first_iteration_ns >= run_ns ||
      static_cast<double>(code.first_iteration_ns) < kLongStartUp * static_cast<double>(run_ns))
    return {};
  std::string text = fmt::format("{} of {}, before the first iteration",
                                 showDuration(static_cast<double>(code.first_iteration_ns)),
                                 showDuration(static_cast<double>(run_ns)));
  const char* separator = ": ";
  for (const StartupRow& row : code.startup) {
    const double share = static_cast<double>(row.total_ns) / static_cast<double>(code.startup_ns);
    const std::string place = emit::shortened(emit::sourcePlace(row.file, row.line), kNameColumns);
    const std::string part =
        fmt::format("{} at {}{}", percent(share), place, row.imports ? " (imports)" : "");
    if (share < kShownShare || emit::columnsOf(text) + emit::columnsOf(part) + 2 > kTwoLines) break;
    text += separator + part;
    separator = ", ";
  }
  return text;
}

// Of a run that is mostly start-up: the finding that its iterations are too few to advise on; else null.
const Finding* tooFewIterations(const Report& report) {
  if (longStartUp(report).empty() || report.breakdown.iteration_source == "whole trace") return nullptr;
  const auto found = std::ranges::find(report.findings, "quality/too-few-steps", &Finding::id);
  return found == report.findings.end() ? nullptr : &*found;
}

// Other programs took CPU time; else null. With a high severity it is so much that the times say little.
const Finding* otherPrograms(const Report& report) {
  const auto found = std::ranges::find(report.findings, "host/other-programs", &Finding::id);
  return found == report.findings.end() ? nullptr : &*found;
}

std::size_t rankOf(const Finding& finding, const Report& report) {
  return static_cast<std::size_t>(&finding - report.findings.data()) + 1;
}

std::string howItEnded(const ProgramEnd& end) {
  const std::string after =
      end.ran_ns > 0 ? " after " + showDuration(static_cast<double>(end.ran_ns)) : std::string();
  if (end.exit_signal) {
    const char* name = sigabbrev_np(static_cast<int>(*end.exit_signal));
    const std::string in_brackets = name == nullptr ? "" : fmt::format(" (SIG{})", name);
    return end.out_of_memory ? fmt::format("The system killed the program for lack of memory{}.", after)
                             : fmt::format("The program was killed by signal {}{}{}.", *end.exit_signal,
                                           in_brackets, after);
  }
  if (end.exit_code.value_or(0) != 0)
    return fmt::format("The program failed with exit code {}{}.", *end.exit_code, after);
  if (end.too_short) return fmt::format("The program ended{}: too early to advise on its speed.", after);
  return {};
}

// The trace's quality, or the run as a whole, which the overview separates from what makes the program slow.
bool isAboutTheTrace(const Finding& finding) {
  return finding.first > 0 || finding.id.rfind("quality/", 0) == 0;
}

// The first that is worth applying; null = none.
const Finding* firstOf(const Report& report) {
  for (const auto& finding : report.findings) {
    if (finding.severity >= Severity::low && !isAboutTheTrace(finding)) return &finding;
  }
  return nullptr;
}

std::string whatToDo(const Report& report, const Finding* first) {
  if (first == nullptr) {
    const bool failed = report.end.exit_signal || report.end.exit_code.value_or(0) != 0;
    if (report.end.too_short)
      return failed ? "fix the failure, and record it again" : "record a run of several seconds";
    // All findings are about the trace.
    const auto& findings = report.findings;
    if (!findings.empty() && findings.front().severity >= Severity::medium)
      return "read finding 1: it is about this recording, not about the program";
    const bool sees_work = report.coverage.find("operators") == 0 || report.coverage.find("devices") == 0 ||
                           report.coverage == "library calls";
    return sees_work ? "no setting was found that would make it faster"
                     : "no finding; see below what this recording cannot show";
  }
  std::string settings;
  std::size_t count = 0;
  for (const auto& proposal : first->proposals) {
    if (proposal.user_set || ++count > kShownSettings) continue;
    settings += settings.empty() ? "" : " and ";
    settings += proposal.proposed.empty() ? "unset " + proposal.name
                                          : fmt::format("set {}={}", proposal.name, proposal.proposed);
  }
  const auto rank = rankOf(*first, report);
  if (settings.empty())
    return fmt::format("{} (finding {})", first->action.empty() ? first->title : first->action, rank);
  return fmt::format("{} (finding {}: {})", settings, rank, first->title);
}

std::string whatItBrings(const Finding* first) {
  if (first == nullptr) return {};
  if (first->gain_high < 0.0005)
    return first->cost.empty() ? "not predicted" : "not predicted; it costs " + first->cost;
  const bool has_low = first->gain_low >= 0.005;
  const std::string range = has_low ? percent(first->gain_low) + " to " : "up to ";
  const std::string about =
      has_low ? fmt::format("about {} less time: ", percent(estimatedGain(first->gain_low, first->gain_high)))
              : "";
  std::string speeds;
  if (first->gain_high < kBeyondSpeed)
    speeds = fmt::format(" ({}{} the speed)", has_low ? emit::speedUp(first->gain_low) + " to " : "up to ",
                         emit::speedUp(first->gain_high));
  return fmt::format("{}{}{}{}{}, {} confidence; predicted, not measured", about, range,
                     percent(first->gain_high), has_low ? "" : " less time", speeds,
                     toString(first->confidence));
}

std::string whatElse(const Report& report, const Finding* first) {
  std::size_t more = 0;
  std::string next;
  for (const auto& finding : report.findings) {
    if (&finding == first || isAboutTheTrace(finding) || finding.severity == Severity::info) continue;
    if (more++ == 0) next = finding.title;
  }
  if (more == 0) return {};
  return shortenedAtWord(fmt::format("{}{}", next, more > 1 ? fmt::format(", and {} more", more - 1) : ""),
                         kLine);
}

// What was not recorded, the worst first. `named` is the finding that the overview begins with.
std::string limitsOf(const Report& report, const std::string& named) {
  std::string text;
  const auto add = [&text](const std::string& sentence) { text += (text.empty() ? "" : " ") + sentence; };
  if (const Finding* others = otherPrograms(report); others != nullptr && others->id != named)
    add("Other programs took CPU time meanwhile; record again on a quiet machine.");
  if (!report.trace_complete) add("The recording did not finish.");
  if (!report.losses.empty()) add("Events are missing.");
  const auto& coverage = report.coverage;
  if (coverage == "library calls")
    add(fmt::format("Only calls of {} were recorded; record with the framework's profiler to see the rest.",
                    report.logged_library));
  if (coverage == "samples")
    add(fmt::format("Only CPU use{} were sampled; record with the framework's profiler to see operators.",
                    report.code.rows.empty() ? " and memory" : ", memory and stacks"));
  if (coverage == "ranges")
    add("Only ranges that the program names were recorded; the framework's profiler shows operators.");
  if (coverage == "none") add("Neither operators nor CPU use were recorded.");
  if (coverage == "devices") add("Only work of devices was recorded, not the program's operators.");
  const bool sees = coverage.rfind("operators", 0) == 0;
  if (sees && report.breakdown.iteration_source == "whole trace")
    add("No iterations were found, so the start and end of the program are included.");
  if (!report.abstentions.empty())
    add(fmt::format("{} need more data.",
                    emit::plural(static_cast<std::int64_t>(report.abstentions.size()), "rule", "rules")));
  return shortenedAtWord(text, kTwoLines);
}

}  // namespace

Overview overviewOf(const Report& report) {
  const Finding* first = firstOf(report);
  const bool failed = report.end.exit_signal || report.end.exit_code.value_or(0) != 0;
  Overview overview;
  overview.ended = howItEnded(report.end);
  overview.startup = longStartUp(report);
  overview.time = (overview.startup.empty() ? "" : "of the iterations: ") + whereTimeGoes(report);
  if (const Finding* few = tooFewIterations(report); few != nullptr && !failed) {
    overview.first = fmt::format("record a run of at least 6 iterations, preferably 50 (finding {}: {})",
                                 rankOf(*few, report), few->title);
    overview.finding = few->id;
    overview.then = whatElse(report, few);
  } else if (const Finding* busy = otherPrograms(report);
             busy != nullptr && busy->severity == Severity::high && !failed) {
    overview.first =
        fmt::format("record again on a quiet machine (finding {}: {})", rankOf(*busy, report), busy->title);
    overview.finding = busy->id;
    if (first != nullptr)
      overview.then = shortenedAtWord("if it is always so busy: " + whatToDo(report, first), kTwoLines);
  } else {
    overview.first = shortenedAtWord(whatToDo(report, first), kTwoLines);
    if (first != nullptr) overview.finding = first->id;
    overview.gain = shortenedAtWord(whatItBrings(first), kTwoLines);
    overview.then = whatElse(report, first);
  }
  overview.limits = limitsOf(report, overview.finding);
  return overview;
}

}  // namespace pitwall
