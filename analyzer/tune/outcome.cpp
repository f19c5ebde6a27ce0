// What a search has found, as rows, text and a settings file.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/emit.h"
#include "analyzer/tune/tuning.h"
#include "db/escaped.h"

namespace pitwall {
namespace {

std::string times(double ratio) { return fmt::format("{:.3g}x", ratio); }

std::string predictedText(const TuneRow& row) {
  if (row.predicted_high <= 0) return "-";
  return fmt::format("{} to {}", times(row.predicted_low), times(row.predicted_high));
}

std::string measuredText(const TuneRow& row) {
  if (row.screened_runs > 0)
    return fmt::format("{}, {} run{}", times(row.ratio), row.screened_runs,
                       row.screened_runs == 1 ? "" : "s");
  if (row.pairs == 0) return "-";
  const std::string low = times(row.low), high = times(row.high);
  return fmt::format("{}{}, {} pair{}", times(row.ratio),
                     !row.has_interval || low == high ? "" : fmt::format(" ({} to {})", low, high), row.pairs,
                     row.pairs == 1 ? "" : "s");
}

void addRow(std::string& text, const std::string& settings, const std::string& predicted,
            const std::string& measured, const std::string& kept, std::size_t width) {
  text += fmt::format("{:{}}  {:16}  {:34}  {}\n", settings, width, predicted, measured, kept);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool is_plain =
        !word.empty() && word.find_first_of(" \t\n'\"\\$*?&|;<>(){}[]`") == std::string::npos;
    std::string quoted = word;
    for (std::size_t at = 0; (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    text += (text.empty() ? "" : " ") + (is_plain ? word : "'" + quoted + "'");
  }
  return text;
}

// What the best settings are, in a sentence.
std::string bestText(const TuneOutcome& outcome) {
  if (outcome.best < 0) {
    if (outcome.interrupted && outcome.rows.empty())
      return "Interrupted before the first run had ended: nothing is known yet.";
    return outcome.rows.empty()
               ? "Nothing to try: no finding proposes a setting. Give values with --param NAME=VALUES."
               : "Keep the program as it is: no candidate was measured to be a gain.";
  }
  const TuneRow& best = outcome.rows[static_cast<std::size_t>(outcome.best)];
  std::string text =
      fmt::format("Best: {}, {} times as fast", escaped(best.settings), fmt::format("{:.3g}", best.ratio));
  if (best.has_interval) text += fmt::format(" ({:.3g} to {:.3g})", best.low, best.high);
  return text + fmt::format(" in {} pairs; {} {:.4g} before, {:.4g} after.", best.pairs,
                            escaped(outcome.metric), best.before, best.after);
}

}  // namespace

std::string tuneAsText(const TuneOutcome& outcome) {
  std::string text;
  if (!outcome.rows.empty()) {
    std::size_t width = 7;
    for (const TuneRow& row : outcome.rows) width = std::max(width, escaped(row.settings).size());
    addRow(text, "setting", "predicted", "measured", "kept", width);
    for (const TuneRow& row : outcome.rows) {
      addRow(text, escaped(row.settings), predictedText(row), measuredText(row), row.is_kept ? "yes" : "no",
             width);
      const std::string rule = row.rule.empty() ? "" : fmt::format(" [{}]", row.rule);
      text += fmt::format("    {}{}{}\n", row.why.empty() ? row.conclusion : escaped(row.why), rule,
                          row.is_combination ? " [combination]" : "");
    }
    text += "\n";
  }
  text += bestText(outcome) + "\n";
  text += fmt::format("{} runs in {:.0f} s{}\n", outcome.runs, outcome.seconds,
                      outcome.ended.empty() ? "." : "; ended early: " + escaped(outcome.ended) + ".");
  for (const std::string& note : outcome.notes) text += fmt::format("Note: {}.\n", escaped(note));
  if (!outcome.best_env.empty() && outcome.best >= 0)
    text += fmt::format("Settings: {} (apply with: source {})\n", escaped(outcome.best_env),
                        escaped(outcome.best_env));
  if (outcome.best >= 0) text += fmt::format("Command: {}\n", escaped(joined(outcome.best_command)));
  if (!outcome.best_trace.empty())
    text += fmt::format("Traces: pitwall compare {} {}\n", escaped(outcome.first_trace),
                        escaped(outcome.best_trace));
  if (!outcome.rows.empty())
    text +=
        "Measured: the median ratio of pairs of runs in random order. Each end of an interval holds with 95 "
        "%; all "
        "gains hold with 95 % together. Before and after are of the middle pair.\n";
  return text;
}

}  // namespace pitwall

namespace pitwall::tuning {

TuneRow rowOf(const Search& search, std::size_t candidate, const Metric& metric) {
  const Candidate& about = search.candidates()[candidate];
  const Verdict verdict = search.verdict(candidate);
  TuneRow row;
  row.settings = textOf(about.settings);
  row.rule = about.rule;
  row.method = about.gain_method;
  if (about.gain_high > 0) {
    const auto ratio = [](double gain) { return 1 / (1 - std::min(gain, 0.99)); };
    row.predicted_low = ratio(about.gain_low);
    row.predicted_high = ratio(about.gain_high);
  }
  if (verdict.beside != 0) row.beside = textOf(search.candidates()[verdict.beside].settings);
  row.pairs = verdict.measured.pairs;
  row.ratio = verdict.measured.middle;
  row.has_interval = verdict.measured.has_interval;
  row.low = verdict.measured.low;
  row.high = verdict.measured.high;
  row.screened_runs = verdict.screened_runs;
  if (row.pairs + row.screened_runs > 0) {
    row.before = metric.valueOf(verdict.measured.before);
    row.after = metric.valueOf(verdict.measured.after);
  }
  row.conclusion = toString(verdict.conclusion);
  row.why = verdict.conclusion == Conclusion::failed ? "failed: " + verdict.why : verdict.why;
  row.is_combination = !about.parts.empty();
  const std::vector<std::size_t>& kept = search.candidates()[search.best()].parts;
  row.is_kept = candidate == search.best() || std::ranges::find(kept, candidate) != kept.end();
  return row;
}

std::string knownSoFar(const Search& search) {
  std::size_t best = search.best();
  double ratio = best == 0 ? 1 : search.verdict(best).measured.middle;
  for (std::size_t i = 1; best == 0 && i < search.candidates().size(); ++i) {
    const Verdict verdict = search.verdict(i);
    if (verdict.beside == 0 && verdict.measured.middle > ratio) {
      best = i;
      ratio = verdict.measured.middle;
    }
  }
  if (best == 0) return "";
  const Ratio measured = search.verdict(best).measured;
  std::string text =
      fmt::format("best so far {} {:.3g}x", textOf(search.candidates()[best].settings), measured.middle);
  if (measured.has_interval) text += fmt::format(" ({:.3g}x to {:.3g}x)", measured.low, measured.high);
  return text;
}

std::string bestEnvironment(const TuneOutcome& outcome, const Assignments& environment,
                            const Assignments& in_command) {
  std::string text =
      "# Settings recommended by Pitwall, as 'pitwall tune' measured them. Apply: source THIS_FILE, then run "
      "the "
      "program again.\n";
  if (outcome.best >= 0) {
    const TuneRow& best = outcome.rows[static_cast<std::size_t>(outcome.best)];
    text += fmt::format("# {} times as fast{} in {} pairs of runs.\n", fmt::format("{:.3g}", best.ratio),
                        best.has_interval ? fmt::format(" ({:.3g} to {:.3g})", best.low, best.high) : "",
                        best.pairs);
  } else {
    text += "# Nothing to set: no candidate was measured to be a gain.\n";
  }
  for (const auto& [name, value] : environment)
    text += environmentAssignment(name, value, EnvironmentFormat::bash) + "\n";
  for (const auto& [name, value] : in_command)
    text += fmt::format("# In the command line: {}={}\n", escaped(name), escaped(value));
  return text;
}

}  // namespace pitwall::tuning
