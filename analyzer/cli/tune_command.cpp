#include "analyzer/cli/tune_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/interrupt.h"
#include "analyzer/cli/names_a_file.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/tune.h"
#include "db/escaped.h"
#include "db/ledger.h"
#include "db/try.h"

namespace pitwall::cli {
namespace {

const CLI::Validator kAboveZero = CLI::Validator(CLI::PositiveNumber).description("");

// A number and what follows it; nullopt where there is no number.
std::optional<std::pair<double, std::string_view>> splitNumber(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return std::pair(number, text.substr(static_cast<std::size_t>(stop - text.data())));
}

Result<double> secondsFrom(const std::string& text) {
  if (const auto split = splitNumber(text); split && split->first > 0) {
    const auto& [number, unit] = *split;
    if (unit.empty() || unit == "s") return number;
    if (unit == "m") return number * 60;
    if (unit == "h") return number * 3600;
  }
  return fail(ErrorCode::invalidInput, fmt::format("--budget {}: write a time such as 90s, 30m or 2h", text));
}

Result<double> shareFrom(const std::string& text) {
  if (const auto split = splitNumber(text); split && split->first >= 0) {
    if (split->second == "%") return split->first / 100;
    if (split->second.empty() && split->first < 1) return split->first;
  }
  return fail(ErrorCode::invalidInput, fmt::format("--within {}: write a share such as 0.5%", text));
}

Result<TuneOptions> tuneOptions(const TuneArguments& arguments) {
  TuneOptions options;
  options.command = arguments.command;
  std::istringstream words(arguments.launcher);
  for (std::string word; words >> word;) options.launcher.push_back(word);
  options.folder = arguments.output;
  options.work_folder = arguments.work_folder;
  options.parameters = arguments.parameters;
  options.metric = arguments.metric;
  options.lower_is_better = arguments.lower;
  options.keep = arguments.keep;
  options.keep_lower = arguments.keep_lower;
  options.within = PITWALL_TRY(shareFrom(arguments.within));
  options.budget_s = PITWALL_TRY(secondsFrom(arguments.budget));
  options.most_runs = arguments.runs;
  options.timeout_s = arguments.timeout_s;
  options.wait_s = arguments.wait_s;
  options.min_gain = arguments.min_gain_percent / 100;
  options.seed = arguments.seed;
  options.restart = arguments.restart;
  options.ledger = !arguments.no_ledger;
  std::error_code none;
  options.executable = std::filesystem::read_symlink("/proc/self/exe", none).string();
  options.version = PITWALL_VERSION;
  return options;
}

// One line on a terminal, rewritten; elsewhere a line per change of what is known would be a log of every run, so nothing.
class Status {
 public:
  ~Status() { clear(); }
  void show(const std::string& text) {
    if (::isatty(STDERR_FILENO) != 1) return;
    clear();
    std::string line = escaped(text);
    const std::size_t width = terminalWidth();
    if (line.size() >= width) line.resize(width - 1);
    printNote("{}", line);
    std::fflush(stderr);
    width_ = line.size();
  }
  void clear() {
    if (width_ > 0) printNote("\r{:{}}\r", "", width_);
    width_ = 0;
  }

 private:
  std::size_t width_ = 0;
};

int printLedger() {
  const std::string path = ledgerPath();
  const auto rows = readLedger(path);
  if (!rows.has_value()) return reportError(rows.error().message, exitCodeOf(rows.error()));
  if (rows->empty()) {
    print("{}: no predictions yet; 'pitwall tune -- PROGRAM' measures them.\n", escaped(path));
    return flushOutput();
  }
  print("{:<34}  {:>11}  {:>12}  {:>12}  {:>8}\n", "rule", "predictions", "interval held", "median error",
        "measured");
  for (const LedgerSummary& summary : summarizeLedger(*rows)) {
    const double held = 100.0 * static_cast<double>(summary.held) / static_cast<double>(summary.predictions);
    print("{:<34}  {:>11}  {:>11.0f} %  {:>10.1f} %  {:>7.3g}x\n",
          summary.rule.empty() ? "all" : escaped(summary.rule), summary.predictions, held,
          summary.median_error * 100, summary.median_measured);
  }
  print(
      "\nHeld: the measured ratio is within the predicted interval. Error: of the middle of the prediction. "
      "Measured: times as "
      "fast, the median.\nRows: {}\n",
      escaped(path));
  return flushOutput();
}

void addMetricOptions(CLI::App& command, TuneArguments& arguments) {
  command
      .add_option(
          "--metric", arguments.metric,
          "What to improve: a regular expression whose group is a number in the program's output, as in "
          "'Speed: ([0-9.]+)'; iterations (per second, from marks or step ranges); wall (time of a run). "
          "Default: iterations where the program has any, else wall")
      ->type_name("METRIC");
  command.add_flag("--lower", arguments.lower, "Less of the regular expression's number is better");
  command
      .add_option(
          "--keep", arguments.keep,
          "A regular expression for a result that must not get worse, as in 'accuracy ([0-9.]+)'; the last "
          "match counts")
      ->type_name("REGEX");
  command.add_flag("--keep-lower", arguments.keep_lower, "Less of the number of --keep is better");
  command.add_option("--within", arguments.within, "How much worse the result of --keep may be")
      ->type_name("SHARE")
      ->capture_default_str();
  command.add_option("--min-gain", arguments.min_gain_percent, "Settings that gain less are not kept")
      ->type_name("PERCENT")
      ->capture_default_str();
}

}  // namespace

CLI::App* addTune(CLI::App& app, TuneArguments& arguments) {
  auto* command = app.add_subcommand(
      "tune", "Run a program with and without settings, in pairs, and keep those that make it faster");
  command
      ->add_option("--param", arguments.parameters,
                   "Values to try beside what the findings propose: NAME=1..8 or NAME=16,32,64, in the "
                   "environment, or "
                   "in the command line where that has {NAME}; may be repeated")
      ->type_name("NAME=VALUES")
      ->allow_extra_args(false);
  addMetricOptions(*command, arguments);
  command->add_option("--budget", arguments.budget, "Time of all runs together: 90s, 30m, 2h")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--runs", arguments.runs, "Runs at most")
      ->type_name("N")
      ->check(kAboveZero)
      ->default_str("no limit");
  command
      ->add_option("--timeout", arguments.timeout_s,
                   "End a run after this time (default: ten times the first run, and 30 s)")
      ->type_name("SECONDS")
      ->check(kAboveZero);
  command
      ->add_option(
          "--wait", arguments.wait_s,
          "Wait at most this long before a round of runs while other programs use the CPUs; 0 = do not wait")
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      ->add_option("--workdir", arguments.work_folder,
                   "Folder to run in; {TRIAL} in it, and in the command line, is the number of the run")
      ->type_name("DIR");
  command
      ->add_option("--launcher", arguments.launcher,
                   "What starts the processes of a run, put before the program: 'mpirun -n 4'")
      ->type_name("COMMAND");
  command
      ->add_option(
          "-o,--output", arguments.output,
          "Folder for best.env, the traces and the runs so far (default: PROGRAM.tune, here); a search that "
          "was interrupted continues from it")
      ->type_name("DIR")
      ->check(kNamesAFile);
  command->add_option("--format", arguments.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--restart", arguments.restart, "Begin anew instead of continuing an interrupted search");
  command->add_option("--seed", arguments.seed, "Of the random order of runs")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--no-ledger", arguments.no_ledger,
                    "Do not record the predictions and what was measured");
  command->add_flag("--ledger", arguments.ledger,
                    "Print how right the recorded predictions were, by rule; runs nothing");
  command->add_flag("-q,--quiet", arguments.quiet, "Print the result only");
  return command;
}

int tune(const TuneArguments& arguments) {
  if (arguments.ledger) return printLedger();
  const auto options = tuneOptions(arguments);
  if (!options.has_value()) return reportError(options.error().message, kUsage);
  Status status;
  TuneProgress progress;
  if (!arguments.quiet) {
    progress.note = [&](const std::string& text) {
      status.clear();
      printNote("pitwall: {}\n", escaped(text));
    };
    progress.status = [&](const std::string& text) { status.show(text); };
  }
  const auto outcome = tuneProgram(*options, progress);
  status.clear();
  if (!outcome.has_value()) return reportError(outcome.error().message, exitCodeOf(outcome.error()));
  const std::string text = arguments.format == "json" ? tuneAsJson(*outcome) : tuneAsText(*outcome);
  if (const int code = printOrWrite(text, {}, {}); code != kDone) return code;
  return outcome->interrupted ? kInterrupted : kDone;
}

}  // namespace pitwall::cli
