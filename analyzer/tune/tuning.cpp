#include "analyzer/tune/tuning.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "analyzer/analysis.h"
#include "analyzer/emit.h"
#include "analyzer/tune/leftover.h"
#include "db/escaped.h"
#include "db/export.h"
#include "db/ledger.h"
#include "db/machine.h"
#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall::tuning {
namespace {

namespace fs = std::filesystem;

// Waiting for other programs takes at most this share of the time of all runs so far, and these seconds.
constexpr double kMostWaitOfRuns = 0.25;
constexpr double kFreeWait = 2;

Status checkOptions(const TuneOptions& options) {
  const auto wrong = [](const char* text) { return fail(ErrorCode::invalidInput, text); };
  if (options.command.empty() || options.command.front().empty())
    return wrong("name the program after --: pitwall tune -- PROGRAM ARGUMENTS");
  if (!(options.budget_s > 0)) return wrong("--budget: a time, more than 0");
  if (options.most_runs < 1) return wrong("--runs: at least 1");
  if (!(options.within >= 0 && options.within < 1))
    return wrong("--within: a share, from 0 to less than 100 %");
  if (!(options.min_gain >= 0 && options.min_gain < 1))
    return wrong("--min-gain: percent, from 0 to less than 100");
  if (!(options.wait_s >= 0)) return wrong("--wait: seconds, from 0 (do not wait)");
  if (options.timeout_s < 0) return wrong("--timeout: seconds, more than 0");
  const std::string& metric = options.metric;
  if (!metric.empty() && metric != "wall" && metric != "iterations")
    PITWALL_TRY(checkExpression(metric, "--metric"));
  if (!options.keep.empty()) PITWALL_TRY(checkExpression(options.keep, "--keep"));
  return {};
}

// All that the runs so far depend on, in a line.
std::string identityOf(const TuneOptions& options) {
  std::string text = options.version;
  const auto add = [&](const std::string& part) { text += " | " + part; };
  for (const std::string& word : options.launcher) add(word);
  for (const std::string& word : options.command) add(word);
  for (const std::string& parameter : options.parameters) add(parameter);
  add(options.work_folder);
  add(fmt::format("{} {}", options.metric, options.lower_is_better));
  add(fmt::format("{} {} {}", options.keep, options.keep_lower, options.within));
  add(fmt::format("{} {}", options.min_gain, options.seed));
  return text;
}

// "1 round", "2 rounds".
std::string countText(std::size_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string currentOf(const Parameter& parameter) {
  if (parameter.in_command) return parameter.values.front();
  const char* value = std::getenv(parameter.name.c_str());
  return value == nullptr ? "" : value;
}

}  // namespace

void Tuning::note(const std::string& text) const {
  if (progress_.note) progress_.note(text);
}

Status Tuning::prepare() {
  PITWALL_TRY(checkOptions(options_));
  for (const std::string& text : options_.parameters)
    parameters_.push_back(PITWALL_TRY(parameterFrom(text, options_.command)));
  std::error_code error;
  std::string name = options_.folder;
  if (name.empty()) name = fs::path(options_.command.front()).filename().string() + ".tune";
  folder_ = fs::absolute(name, error).string();
  fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_, error)) {
    return fail(
        ErrorCode::io,
        fmt::format("{}: the folder for the results cannot be made; choose another one with -o", name));
  }
  outcome_.folder = name;
  lock_.emplace(PITWALL_TRY(FolderLock::take(folder_)));
  history_.emplace(PITWALL_TRY(History::open(folder_ + "/runs.tsv", identityOf(options_), options_.restart)));
  endLeftover(folder_ + "/running");
  program_ = std::make_unique<Program>(options_, parameters_, folder_, signals_);
  program_->setTimeout(options_.timeout_s);
  return {};
}

Status Tuning::runFirst() {
  const std::string trace = program_->tracePath("first");
  std::error_code error;
  TrialEnd first;
  if (history_->firstSeconds() > 0 && fs::exists(trace, error)) {
    note(fmt::format("continues the search in {}, after {} runs", outcome_.folder,
                     history_->entries().size()));
    first.seconds = history_->firstSeconds();
    first.output = outputOf(program_->logPath("first"));
  } else {
    note("records the unchanged program");
    first = PITWALL_TRY(program_->record("first", {}));
    if (first.interrupted) {
      outcome_.interrupted = true;
      return {};
    }
    if (!first.cause.empty()) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("the unchanged program is no measurement: {}; what it printed is in {}",
                              first.cause, program_->logPath("first")));
    }
    PITWALL_TRY(history_->setFirst(first.seconds));
  }
  PITWALL_TRY(program_->chooseMetric(first));
  program_->setTimeout(options_.timeout_s > 0 ? options_.timeout_s : 10 * first.seconds + 30);
  outcome_.first_trace = trace;
  outcome_.metric = program_->metric().name;
  outcome_.lower_is_better = program_->metric().lower_is_better;
  return {};
}

Status Tuning::readFindings() {
  auto trace = PITWALL_TRY(Trace::open(program_->tracePath("first")));
  report_ = PITWALL_TRY(analyzeTrace(*trace));
  report_.trace_path = program_->tracePath("first");
  const auto tunables = PITWALL_TRY(trace->query("SELECT name, minimum, maximum FROM tunable"));
  for (const auto& row : tunables.rows)
    limits_["PITWALL_TUNE_" + pitwall::textOf(row[0])] = {realOf(row[1]), realOf(row[2])};
  return {};
}

// Proposals come first: where settings repeat, the first one counts, and proposals have a prediction.
std::vector<Candidate> Tuning::allCandidates() {
  std::vector<Candidate> all(1);
  for (Candidate& candidate : candidatesOf(report_, limits_, outcome_.notes)) {
    // What a rule proposes for a parameter is one more of its values. Neighbours are not: the user has given the values.
    const auto parameter =
        std::ranges::find(parameters_, candidate.settings.begin()->first, &Parameter::name);
    if (candidate.settings.size() == 1 && parameter != parameters_.end()) {
      if (candidate.rule.empty()) continue;
      candidate = withGroupOf(*parameter, std::move(candidate));
    }
    all.push_back(std::move(candidate));
  }
  for (const Parameter& parameter : parameters_) {
    for (Candidate& candidate : candidatesOf(parameter, currentOf(parameter)))
      all.push_back(std::move(candidate));
  }
  return all;
}

// The runs of a search that was interrupted.
Status Tuning::replay() {
  for (const History::Entry& entry : history_->entries()) {
    search_->setBudget(entry.budget_s, entry.most_runs);
    const auto run = search_->next();
    const bool fits = run && run->stage == entry.run.stage && run->round == entry.run.round &&
                      run->candidate == entry.run.candidate &&
                      escaped(textOf(search_->candidates()[run->candidate].settings)) == entry.settings;
    if (!fits) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}/runs.tsv: does not fit the findings any more; begin anew with "
                              "--restart",
                              outcome_.folder));
    }
    search_->add(entry.result);
  }
  search_->setBudget(options_.budget_s, options_.most_runs);
  return {};
}

void Tuning::say(const Run& run) const {
  if (!progress_.status) return;
  const std::string known = knownSoFar(*search_);
  progress_.status(fmt::format("{}, round {}, run {}, {:.0f} s: {}{}{}", toString(run.stage), run.round,
                               search_->runs() + 1, search_->spentSeconds(),
                               textOf(search_->candidates()[run.candidate].settings),
                               known.empty() ? "" : "; ", known));
}

void Tuning::awaitQuietMachine() {
  const double most =
      std::min(options_.wait_s, kMostWaitOfRuns * search_->spentSeconds() + kFreeWait - waited_s_);
  if (most > 0) waited_s_ += awaitQuiet(most, signals_, outcome_.interrupted);
}

// False: interrupted.
Result<bool> Tuning::runOne(const Run& run, int number) {
  if (run.round != waited_round_) awaitQuietMachine();
  waited_round_ = run.round;
  if (outcome_.interrupted) return false;
  say(run);
  const Assignments settings = search_->candidates()[run.candidate].settings;
  // The total length changes from round to round, and is the same within one.
  constexpr std::size_t kLongest = 1024, kStep = 97, kCycle = 512;
  const std::size_t length = textOf(settings).size();
  const std::size_t total = kLongest + (static_cast<std::size_t>(run.round) * kStep) % kCycle;
  const auto result = PITWALL_TRY(program_->measure(number, settings, total > length ? total - length : 1));
  if (!result) {
    outcome_.interrupted = true;
    return false;
  }
  PITWALL_TRY(
      history_->add({run, escaped(textOf(settings)), *result, options_.budget_s, options_.most_runs}));
  search_->add(*result);
  return true;
}

Status Tuning::search() {
  SearchOptions search;
  search.seed = options_.seed;
  search.budget_s = options_.budget_s;
  search.most_runs = options_.most_runs;
  search.spent_s = history_->firstSeconds();
  search.min_gain = options_.min_gain;
  search.within = options_.within;
  search.keep_lower = options_.keep_lower;
  search.parameters = parameters_;
  search_ = std::make_unique<Search>(allCandidates(), search);
  const std::size_t count = search_->candidates().size() - 1;
  note(fmt::format("metric: {}; {}; the first run took {:.3g} s; seed {}", program_->metric().name,
                   countText(count, "candidate"), history_->firstSeconds(), options_.seed));
  PITWALL_TRY(replay());
  while (const auto run = search_->next()) {
    if (!PITWALL_TRY(runOne(*run, search_->runs() + 1))) break;
  }
  if (outcome_.interrupted) search_->end("it was interrupted");
  return {};
}

Status Tuning::recordBest() {
  const std::size_t best = search_->best();
  if (best == 0 || outcome_.interrupted) return {};
  note("records the program with the best settings");
  const TrialEnd end = PITWALL_TRY(program_->record("best", search_->candidates()[best].settings));
  outcome_.interrupted = end.interrupted;
  if (end.interrupted) return {};
  if (end.cause.empty()) {
    outcome_.best_trace = program_->tracePath("best");
  } else {
    outcome_.notes.push_back(fmt::format("the best settings were not recorded: {}", end.cause));
  }
  return {};
}

void Tuning::fillRows() {
  for (std::size_t i = 1; i < search_->candidates().size(); ++i) {
    const bool is_step = !search_->candidates()[i].parts.empty() && i != search_->best();
    if (is_step) continue;
    if (i == search_->best()) outcome_.best = static_cast<int>(outcome_.rows.size());
    outcome_.rows.push_back(rowOf(*search_, i, program_->metric()));
  }
  outcome_.runs = search_->runs();
  outcome_.seconds = search_->spentSeconds();
  outcome_.ended = search_->ended();
  outcome_.best_command = program_->commandWith(search_->candidates()[search_->best()].settings, "0");
}

void Tuning::noteMachine() {
  if (search_->repeatedRounds() > 0)
    outcome_.notes.push_back(fmt::format(
        "{} rounds were repeated, since other programs used the CPUs meanwhile", search_->repeatedRounds()));
  if (search_->disturbedRounds() > 0)
    outcome_.notes.push_back(
        fmt::format("other programs used the CPUs during {}; these count, so intervals are wider",
                    countText(static_cast<std::size_t>(search_->disturbedRounds()), "round")));
}

// Findings that were measured against the unchanged program are marked in the first trace.
void Tuning::saveStatuses() {
  for (Finding& finding : report_.findings) {
    for (const TuneRow& row : outcome_.rows) {
      if (row.rule != finding.id || !row.has_interval || !row.beside.empty()) continue;
      if (row.low > 1) finding.status = FindingStatus::confirmed;
      if (row.conclusion == toString(Conclusion::noGain)) finding.status = FindingStatus::refuted;
    }
  }
  if (const auto saved = saveReport(report_); !saved.has_value())
    outcome_.notes.push_back("the findings are not saved in the first trace: " + saved.error().message);
}

// Predictions whose settings were measured against the unchanged program. Also those that were wrong: else the ledger would hold winners only.
void Tuning::addToUsersLedger() {
  const std::string path = ledgerPath();
  if (!options_.ledger || path.empty()) return;
  std::vector<LedgerRow> rows;
  for (const TuneRow& row : outcome_.rows) {
    if (row.rule.empty() || row.predicted_high <= 0 || !row.has_interval || !row.beside.empty()) continue;
    rows.push_back({std::time(nullptr), cpuModel(), fs::path(options_.command.front()).filename().string(),
                    row.rule, row.method, row.settings, row.predicted_low, row.predicted_high, row.ratio,
                    row.low, row.high, row.pairs, row.conclusion});
  }
  if (rows.empty()) return;
  if (const auto added = addToLedger(path, rows); !added.has_value())
    outcome_.notes.push_back("the predictions are not in the ledger: " + added.error().message);
}

Status Tuning::writeResults() {
  fillRows();
  noteMachine();
  saveStatuses();
  if (!outcome_.interrupted) addToUsersLedger();
  const Assignments settings = search_->candidates()[search_->best()].settings;
  const Assignments environment = program_->environmentOf(settings);
  Assignments in_command;
  for (const auto& [name, value] : settings) {
    if (!environment.contains(name)) in_command[name] = value;
  }
  outcome_.best_env = folder_ + "/best.env";
  PITWALL_TRY(replaceFile(outcome_.best_env, bestEnvironment(outcome_, environment, in_command)));
  PITWALL_TRY(replaceFile(folder_ + "/result.json", tuneAsJson(outcome_)));
  std::error_code none;
  fs::remove(folder_ + "/running", none);
  if (!outcome_.interrupted) PITWALL_TRY(history_->finish());
  return {};
}

Result<TuneOutcome> Tuning::run() {
  PITWALL_TRY(prepare());
  PITWALL_TRY(runFirst());
  if (outcome_.interrupted) return std::move(outcome_);
  PITWALL_TRY(readFindings());
  PITWALL_TRY(search());
  PITWALL_TRY(recordBest());
  PITWALL_TRY(writeResults());
  return std::move(outcome_);
}

}  // namespace pitwall::tuning

namespace pitwall {

Result<TuneOutcome> tuneProgram(const TuneOptions& options, const TuneProgress& progress) {
  return tuning::Tuning(options, progress).run();
}

}  // namespace pitwall
