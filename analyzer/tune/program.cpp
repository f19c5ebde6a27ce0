#include "analyzer/tune/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/tune/leftover.h"
#include "db/import.h"
#include "db/try.h"
#include "db/unfinished.h"

namespace pitwall::tuning {
namespace {

namespace fs = std::filesystem;

void replaceAll(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

// One trace of the traces of all ranks.
Status mergeRanks(const std::string& ranks, const std::string& trace) {
  PITWALL_TRY(importToFile(std::vector<std::string>{ranks}, trace, ImportOptions{}));
  std::error_code none;
  fs::remove_all(ranks, none);
  return {};
}

}  // namespace

std::vector<std::string> Program::commandWith(const Assignments& settings, const std::string& trial) const {
  std::vector<std::string> command = options_.command;
  for (std::string& word : command) {
    for (const Parameter& parameter : parameters_) {
      if (!parameter.in_command) continue;
      const auto chosen = settings.find(parameter.name);
      replaceAll(word, "{" + parameter.name + "}",
                 chosen == settings.end() ? parameter.values.front() : chosen->second);
    }
    replaceAll(word, "{TRIAL}", trial);
  }
  return command;
}

Assignments Program::environmentOf(const Assignments& settings) const {
  Assignments environment = settings;
  for (const Parameter& parameter : parameters_) {
    if (parameter.in_command) environment.erase(parameter.name);
  }
  return environment;
}

Result<TrialEnd> Program::run(const std::string& name, const Assignments& settings,
                              std::optional<Detail> recording, std::size_t pad) {
  TrialSetup setup;
  setup.command = options_.launcher;
  const std::string ranks = folder_ + "/" + name + ".ranks";
  std::error_code none;
  if (recording) {
    const bool launched = !options_.launcher.empty();
    if (launched) {
      fs::remove_all(ranks, none);
      fs::create_directories(ranks, none);
    }
    std::string output = launched ? ranks + "/rank%r.pitwall" : tracePath(name);
    if (!launched) replaceAll(output, "%", "%%");
    setup.command.insert(setup.command.end(), {options_.executable, "record", "-q", "-o", output});
    if (*recording == Detail::marks)
      setup.command.insert(setup.command.end(), {"--sample", "0", "--stacks", "off"});
    setup.command.emplace_back("--");
  }
  const auto program = commandWith(settings, name);
  setup.command.insert(setup.command.end(), program.begin(), program.end());
  setup.environment = environmentOf(settings);
  // Its length makes the environments of a round equally long: their size moves the stack, which alone can change times.
  setup.environment[kTrialVariable] = std::string(pad, '0');
  setup.group_file = folder_ + "/running";
  setup.folder = options_.work_folder;
  replaceAll(setup.folder, "{TRIAL}", name);
  setup.log = logPath(name);
  setup.most_seconds = most_seconds_;
  TrialEnd end = PITWALL_TRY(runTrial(setup, signals_));
  if (recording && !options_.launcher.empty() && end.cause.empty())
    PITWALL_TRY(mergeRanks(ranks, tracePath(name)));
  return end;
}

Result<TrialEnd> Program::record(const std::string& name, const Assignments& settings) {
  return run(name, settings, Detail::full, 0);
}

Status Program::chooseMetric(const TrialEnd& first) {
  const std::string& wanted = options_.metric;
  if (!wanted.empty() && wanted != "wall" && wanted != "iterations") {
    metric_ = {MetricKind::output, wanted, options_.lower_is_better, fmt::format("'{}'", wanted)};
    if (matchesOf(first.output, wanted).typical) return {};
    return fail(
        ErrorCode::notFound,
        fmt::format("{}: the unchanged program printed nothing that --metric '{}' matches; correct the "
                    "expression",
                    logPath("first"), wanted));
  }
  if (wanted == "wall") return {};
  const auto rate = iterationRate(tracePath("first"));
  if (rate.has_value()) {
    metric_ = {MetricKind::iterations, "", false, rate->of_items ? "items/s" : "iterations/s"};
    return {};
  }
  if (wanted == "iterations" || rate.error().code != ErrorCode::notFound) return fail(rate.error());
  return {};
}

void Program::takeMetric(const TrialEnd& end, const std::string& name, RunResult& result) const {
  double value = end.seconds;
  if (metric_.kind == MetricKind::output) {
    const auto matches = matchesOf(end.output, metric_.expression);
    if (!matches.typical) {
      result.cause = "printed nothing that --metric matches";
      return;
    }
    value = *matches.typical;
  }
  if (metric_.kind == MetricKind::iterations) {
    const auto rate = iterationRate(tracePath(name));
    if (!rate.has_value()) {
      result.cause = rate.error().message;
      return;
    }
    value = rate->per_second;
  }
  if (!options_.keep.empty()) {
    result.keep = matchesOf(end.output, options_.keep).last;
    if (!result.keep) {
      result.cause = "printed nothing that --keep matches";
      return;
    }
  }
  if (!(value > 0)) {
    result.cause = fmt::format("the metric is {:g}, which is not above 0", value);
    return;
  }
  result.rate = metric_.rateOf(value);
}

Result<std::optional<RunResult>> Program::measure(int number, const Assignments& settings, std::size_t pad) {
  const std::string name = fmt::format("{:04}", number);
  const bool recorded = metric_.kind == MetricKind::iterations;
  const TrialEnd end =
      PITWALL_TRY(run(name, settings, recorded ? std::optional(Detail::marks) : std::nullopt, pad));
  if (end.interrupted) return std::optional<RunResult>();
  RunResult result;
  result.seconds = end.seconds;
  result.disturbed = end.disturbed;
  result.cause = end.cause;
  if (end.cause.empty()) takeMetric(end, name, result);
  if (recorded) removeWithSideFiles(tracePath(name));
  std::error_code none;
  if (result.rate > 0) fs::remove(logPath(name), none);  // those of failed trials stay
  return std::optional(result);
}

}  // namespace pitwall::tuning
