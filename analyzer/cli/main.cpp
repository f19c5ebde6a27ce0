// `pitwall`: arguments and exit codes.
#include <CLI/CLI.hpp>

#include "analyzer/cli/calibrate_command.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/compare_command.h"
#include "analyzer/cli/export_command.h"
#include "analyzer/cli/import_command.h"
#include "analyzer/cli/query_command.h"
#include "analyzer/cli/record_command.h"

namespace {

constexpr char kExitCodes[] =
    "Exit codes:\n"
    "  0  done\n"
    "  1  findings at or above the level of --fail-on\n"
    "  2  usage: wrong arguments, a bad rule or setting, an output that cannot be written\n"
    "  3  the trace cannot be read: missing, not a trace, damaged, or from a newer version\n"
    "  4  internal error\n"
    "  5  compare: slower than --fail-on-regression allows\n"
    "  6  compare: --fail-on-regression with traces that cannot be compared, or too few runs to decide\n"
    "130  interrupted; no partial file is left";

// "pitwall: ERROR", and how to get help.
std::string errorTextOf(const CLI::App* app, const CLI::Error& error) {
  std::string what = error.what();
  std::string command = "pitwall";
  const auto* at = app;
  for (; !at->get_subcommands().empty(); command += " " + at->get_name()) at = at->get_subcommands().front();
  if (at->get_require_subcommand_min() > 0) {
    const auto left = app->remaining(true);
    what = left.empty() ? "a command is missing"
                        : "'" + left.front() + "' is not a command of '" + command + "'";
  }
  return "pitwall: " + what + "\nRun '" + command + " --help' for usage.\n";
}

const CLI::Validator kNamesAFile(
    [](const std::string& name) {
      return name.empty() ? std::string("an empty name; is a variable of the shell unset?") : std::string();
    },
    "");

void addRuleFolders(CLI::App& command, std::vector<std::string>& folders) {
  command
      .add_option("--rules", folders, "Folder of rule files, instead of the built-in rules; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
}

void addAnalyze(CLI::App& app, pitwall::cli::AnalyzeArguments& arguments) {
  auto* command = app.add_subcommand(
      "analyze", "Report where a recorded program's time goes and which settings to change");
  command->add_option("trace", arguments.trace, "Trace file, recorded with PITWALL_TRACE=FILE")
      ->required()
      ->type_name("TRACE");
  command
      ->add_option("--format", arguments.format, "text, json, markdown, html (one page with charts) or sarif")
      ->check(CLI::IsMember({"text", "json", "markdown", "html", "sarif"}))
      ->capture_default_str();
  command->add_option("-o,--output", arguments.output, "File for the report (default: standard output)")
      ->type_name("FILE")
      ->check(kNamesAFile);
  auto* file = command->add_option("--env", arguments.env_file,
                                   "Write the recommended settings here, for 'source FILE' (default: TRACE "
                                   "with .env)");
  file->type_name("FILE")->check(kNamesAFile);
  auto* format = command->add_option(
      "--env-format", arguments.env_format,
      "Format of the settings file: bash, fish, powershell, dockerfile, systemd or kubernetes");
  format->check(CLI::IsMember({"bash", "fish", "powershell", "dockerfile", "systemd", "kubernetes"}))
      ->capture_default_str();
  command->add_flag("!--no-env", arguments.write_env, "Write no settings file")
      ->excludes(file)
      ->excludes(format);
  command->add_option("--fail-on", arguments.fail_on, "Exit with 1 when a finding is at least this severe")
      ->check(CLI::IsMember({"info", "low", "medium", "high"}));
  addRuleFolders(*command, arguments.rule_folders);
  command
      ->add_option("--set", arguments.thresholds, "Change a threshold: RULE.THRESHOLD=VALUE; may be repeated")
      ->type_name("SETTING")
      ->allow_extra_args(false);
  command->add_option("--disable", arguments.disabled, "Do not run this rule; may be repeated")
      ->type_name("RULE")
      ->allow_extra_args(false);
  command
      ->add_option("--rule-config", arguments.rule_config, "TOML file with thresholds and switches by rule")
      ->type_name("FILE");
  command
      ->add_option("--trial", arguments.trials,
                   "Trace of the same program with another number of OpenMP threads; may be repeated")
      ->type_name("TRACE")
      ->allow_extra_args(false);
  command->add_flag("--sql", arguments.sql, "Print with each finding its SQL, for 'pitwall query'");
  command->add_flag("--verbose", arguments.verbose,
                    "Name each rule that needs more data or found nothing, with its reason");
  command->add_flag("--timing", arguments.timing, "Print how long each analysis and rule took, to stderr");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Finds out why a deep-learning program is slow and which settings make it faster.", "pitwall");
  app.set_version_flag("--version", std::string("pitwall ") + PITWALL_VERSION);
  app.require_subcommand(1);
  app.failure_message(errorTextOf);
  app.footer(std::string(kExitCodes) +
             "\n\nStart with: PITWALL_TRACE=run.pitwall ./program; pitwall analyze run.pitwall");

  pitwall::cli::AnalyzeArguments analyze_arguments;
  addAnalyze(app, analyze_arguments);

  pitwall::cli::ImportArguments import_arguments;
  auto* import_traces = pitwall::cli::addImport(app, import_arguments);

  pitwall::cli::RecordArguments record_arguments;
  auto* record = pitwall::cli::addRecord(app, record_arguments);

  pitwall::cli::CompareArguments compare_arguments;
  auto* compare = pitwall::cli::addCompare(app, compare_arguments);
  pitwall::cli::ExportArguments export_arguments;
  auto* export_trace = pitwall::cli::addExport(app, export_arguments);
  pitwall::cli::QueryArguments query_arguments;
  auto* query = pitwall::cli::addQuery(app, query_arguments);

  std::string setting;
  auto* env = app.add_subcommand("env", "List every known setting with the value in effect, or explain one");
  auto* explained = env->add_option("name", setting, "Setting to explain")->type_name("NAME");
  bool calibrating = false;
  env->add_flag("--calibrate", calibrating,
                "Measure this machine's peak rates (takes a second), and store them for recordings")
      ->excludes(explained);

  std::vector<std::string> folders, files;
  std::string id;
  auto* rules = app.add_subcommand("rules", "List, show or check rules");
  rules->require_subcommand(1);
  auto* list = rules->add_subcommand("list", "List the rules");
  auto* show = rules->add_subcommand("show", "Show what a rule detects, its thresholds and advice");
  auto* check = rules->add_subcommand("check", "Check rule files: TOML, SQL, templates");
  show->add_option("id", id, "Rule, as listed by 'pitwall rules list'")->required()->type_name("ID");
  check->add_option("file", files, "Rule file")->required()->type_name("FILE");
  addRuleFolders(*list, folders);
  addRuleFolders(*show, folders);

  pitwall::cli::markSides(argc, argv);
  try {
    app.parse(pitwall::cli::cutCommand(argc, argv, record_arguments), argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? pitwall::cli::kDone : pitwall::cli::kUsage;
  }
  int code = pitwall::cli::kUsage;
  if (app.got_subcommand("analyze")) code = pitwall::cli::analyze(analyze_arguments);
  if (import_traces->parsed()) code = pitwall::cli::importTraces(import_arguments);
  if (record->parsed()) code = pitwall::cli::runRecord(record_arguments);
  if (compare->parsed()) code = pitwall::cli::compareTraces(compare_arguments);
  if (export_trace->parsed()) code = pitwall::cli::exportTraceFile(export_arguments);
  if (query->parsed()) code = pitwall::cli::queryTrace(query_arguments);
  if (env->parsed()) code = calibrating ? pitwall::cli::calibrate() : pitwall::cli::env(setting);
  if (list->parsed()) code = pitwall::cli::rulesList(folders);
  if (show->parsed()) code = pitwall::cli::rulesShow(id, folders);
  if (check->parsed()) code = pitwall::cli::rulesCheck(files);
  return code == pitwall::cli::kDone ? pitwall::cli::flushOutput() : code;
}
