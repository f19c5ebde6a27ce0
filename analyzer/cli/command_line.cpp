#include "analyzer/cli/command_line.h"

#include "analyzer/cli/manual_texts.h"
#include "analyzer/cli/names_a_file.h"
#include "db/escaped.h"

namespace pitwall::cli {
namespace {

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
  return "pitwall: " + escaped(what) + "\nRun '" + command + " --help' for usage.\n";
}

void addRuleFolders(CLI::App& command, std::vector<std::string>& folders) {
  command
      .add_option("--rules", folders, "Folder of rule files, instead of the built-in rules; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
}

void addAnalyze(CLI::App& app, AnalyzeArguments& arguments) {
  auto* command = app.add_subcommand(
      "analyze", "Report where a recorded program's time goes and which settings to change");
  command
      ->add_option("trace", arguments.trace,
                   "Trace file, one of another tool, or a folder of a job's traces; - for standard input")
      ->required()
      ->type_name("TRACE");
  command
      ->add_option("--format", arguments.format, "text, json, markdown, html (one page with charts) or sarif")
      ->check(CLI::IsMember({"text", "json", "markdown", "html", "sarif"}))
      ->capture_default_str();
  command
      ->add_option("-o,--output", arguments.output, "File for the report (default: standard output, also -)")
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

CommandLine::CommandLine() {
  app_.set_version_flag("--version", std::string("pitwall ") + PITWALL_VERSION);
  app_.require_subcommand(1);
  app_.failure_message(errorTextOf);
  addAnalyze(app_, analyze_);
  import_command_ = addImport(app_, import_);
  record_command_ = addRecord(app_, record_);
  compare_command_ = addCompare(app_, compare_);
  export_command_ = addExport(app_, export_);
  query_command_ = addQuery(app_, query_);
  simulate_command_ = addSimulate(app_, simulate_);
  tune_command_ = addTune(app_, tune_);
  addEnv();
  addRules();
  app_.footer(helpFooter(manualTextOf("pitwall")));
  for (CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; }))
    command->footer(helpFooter(manualTextOf("pitwall " + command->get_name())));
}

void CommandLine::addEnv() {
  env_command_ =
      app_.add_subcommand("env", "List every known setting with the value in effect, or explain one");
  auto* explained = env_command_->add_option("name", setting_, "Setting to explain")->type_name("NAME");
  env_command_
      ->add_flag("--calibrate", calibrating_,
                 "Measure this machine's peak rates (takes a second), and store them for recordings")
      ->excludes(explained);
}

void CommandLine::addRules() {
  auto* rules = app_.add_subcommand("rules", "List, show or check rules");
  rules->require_subcommand(1);
  list_command_ = rules->add_subcommand("list", "List the rules");
  show_command_ = rules->add_subcommand("show", "Show what a rule detects, its thresholds and advice");
  check_command_ = rules->add_subcommand("check", "Check rule files: TOML, SQL, templates");
  show_command_->add_option("id", rule_, "Rule, as listed by 'pitwall rules list'")
      ->required()
      ->type_name("ID");
  check_command_->add_option("file", rule_files_, "Rule file")->required()->type_name("FILE");
  addRuleFolders(*list_command_, rule_folders_);
  addRuleFolders(*show_command_, rule_folders_);
}

int CommandLine::run(int argc, char** argv) {
  markSides(argc, argv);
  try {
    const int left = cutProgram(argc, argv, "record", record_.command);
    app_.parse(cutProgram(left, argv, "tune", tune_.command), argv);
  } catch (const CLI::ParseError& error) {
    return app_.exit(error) == 0 ? flushOutput() : kUsage;
  }
  int code = kUsage;
  if (app_.got_subcommand("analyze")) code = analyze(analyze_);
  if (import_command_->parsed()) code = importTraces(import_);
  if (record_command_->parsed()) code = runRecord(record_);
  if (compare_command_->parsed()) code = compareTraces(compare_);
  if (export_command_->parsed()) code = exportTraceFile(export_);
  if (query_command_->parsed()) code = queryTrace(query_);
  if (simulate_command_->parsed()) code = simulateTrace(simulate_);
  if (tune_command_->parsed()) code = tune(tune_);
  if (env_command_->parsed()) code = calibrating_ ? calibrate() : env(setting_);
  if (list_command_->parsed()) code = rulesList(rule_folders_);
  if (show_command_->parsed()) code = rulesShow(rule_, rule_folders_);
  if (check_command_->parsed()) code = rulesCheck(rule_files_);
  return code == kDone ? flushOutput() : code;
}

}  // namespace pitwall::cli
