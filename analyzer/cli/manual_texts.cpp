#include "analyzer/cli/manual_texts.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analyzer/simulate.h"
#include "db/import.h"
#include "db/settings.h"

namespace pitwall::cli {
namespace {

using manual::Entry;
using manual::Text;

// A setting with the meaning that the catalogue gives it.
Entry setting(const char* name) {
  const SettingInfo* info = findSetting(name);
  return {name, info == nullptr ? std::string() : std::string(info->meaning)};
}

const Entry kDoneCode{"0", "done"};
const Entry kUsageCode{"2",
                       "usage: wrong arguments, a bad rule or setting, an output that cannot be written"};
const Entry kTraceCode{"3",
                       "the trace cannot be read: missing, not a trace, damaged, or from a newer version"};
const Entry kInternalCode{"4", "internal error"};
const Entry kInterruptedCode{"130", "interrupted by ctrl-C or SIGTERM; no partial file is left"};
const Entry kFindingsCode{"1", "findings at or above the level of --fail-on"};
const Entry kRegressionCode{"5", "compare: slower than --fail-on-regression allows"};
const Entry kUndecidedCode{
    "6", "compare: --fail-on-regression with traces that cannot be compared, or too few runs to decide"};

const Entry kNotPredictableCode{"7", "simulate: the trace is not predictable; the text says why"};

const Entry kNoColor{"NO_COLOR", "If it is set, text on a terminal has no colours."};
const Entry kColumns{"COLUMNS", "The width of the terminal."};
const Entry kTemporary{
    "TMPDIR", "The folder for temporary files: copies of traces of other tools, and what is decompressed."};
const Entry kCache{
    "XDG_CACHE_HOME",
    "The folder whose subfolder pitwall stores what 'pitwall env --calibrate' measured (default: ~/.cache)."};
const Entry kRuleFiles{"PREFIX/share/pitwall/rules",
                       "The built-in rules, where PREFIX/bin holds the command."};

Text whole() {
  Text text;
  text.exit_codes = {kDoneCode,       kFindingsCode,  kUsageCode,          kTraceCode,      kInternalCode,
                     kRegressionCode, kUndecidedCode, kNotPredictableCode, kInterruptedCode};
  text.environment = {
      setting("PITWALL_TRACE"), setting("PITWALL_TUNE_*"), kNoColor, kColumns, kTemporary, kCache};
  text.files = {{"NAME.pitwall", "A trace: one SQLite file."},
                {"NAME.pitwall.rings",
                 "What a program that was killed had recorded; the next opening of the trace completes it."},
                kRuleFiles};
  text.examples = {
      {"pitwall record -o run.pitwall -- python3 train.py", "Record a program that is not changed for it."},
      {"PITWALL_TRACE=run.pitwall ./program", "Record a program that uses Pitwall's runtime or recorder."},
      {"pitwall analyze run.pitwall",
       "Report where its time goes, and write the recommended settings to run.env."}};
  return text;
}

Text ofAnalyze() {
  Text text;
  text.exit_codes = {kDoneCode, kFindingsCode, kUsageCode, kTraceCode, kInternalCode, kInterruptedCode};
  text.environment = {kNoColor, kColumns, kTemporary};
  text.files = {{"TRACE with .env", "The recommended settings, unless --env or --no-env is given."},
                kRuleFiles};
  text.examples = {{"pitwall analyze run.pitwall", "Report on standard output, settings in run.env."},
                   {"pitwall analyze trace.json.gz --format html -o report.html",
                    "A page with charts, of another tool's trace."},
                   {"pitwall analyze run.pitwall --fail-on high --no-env",
                    "In continuous integration: fail on findings that are severe."}};
  return text;
}

Text ofImport() {
  Text text;
  manual::List formats{"Reads", {}};
  for (const ImportFormat& format : importFormats()) formats.entries.push_back({format.name, format.files});
  text.lists = {formats};
  text.exit_codes = {kDoneCode, kUsageCode, kTraceCode, kInternalCode, kInterruptedCode};
  text.environment = {kTemporary};
  text.examples = {{"pitwall import profile.json -o run.pitwall", "Import a profile of MXNet."},
                   {"pitwall import rank*.pitwall -o job.pitwall", "Make one trace of the ranks of a job."},
                   {"pitwall import runs/tensorboard -o job.pitwall",
                    "Make one trace of a folder that PyTorch's tensorboard_trace_handler wrote."}};
  return text;
}

Text ofRecord() {
  Text text;
  text.usage = {"pitwall record [OPTIONS] -- PROGRAM [ARGUMENTS]", "pitwall record [OPTIONS] --pid PID"};
  text.notes = {
      "Ends with the program's exit code, or by the same signal. Ctrl-C goes to the program; a second one "
      "ends the recording. With --pid ctrl-C ends the recording and the process continues; the exit code is "
      "0."};
  text.exit_codes = {{"2", "wrong arguments, or a trace that cannot be written; the program was not started"},
                     {"126", "the program cannot be executed; with --pid: the process is another user's"},
                     {"127", "there is no such program, or no such process"}};
  text.environment = {
      setting("PITWALL_TRACE"),
      kTemporary,
      kCache,
      {"ONEDNN_VERBOSE", "If it is set, --onednn leaves the program's verbose lines in its output."}};
  text.files = {
      {"OUT.pitwall.parts",
       "Traces of the program's processes while it runs; removed after they are merged, unless --keep-parts "
       "is given."},
      {"OUT.pitwall.rings",
       "What is not yet in the trace; the next opening completes the trace of a recording that was killed."}};
  text.examples = {
      {"pitwall record -o run.pitwall -- python3 train.py", "Record a program that is not changed for it."},
      {"pitwall record --pid 4711 --duration 30 -o now.pitwall",
       "Record a running program for half a minute."},
      {"mpirun -n 4 pitwall record -o rank%r.pitwall -- ./train", "Record four ranks, each into its trace."}};
  return text;
}

Text ofCompare() {
  Text text;
  text.exit_codes = {kDoneCode,       kUsageCode,     kTraceCode,      kInternalCode,
                     kRegressionCode, kUndecidedCode, kInterruptedCode};
  text.environment = {kNoColor, kColumns, kTemporary};
  text.examples = {
      {"pitwall compare before.pitwall after.pitwall", "One run of each: large changes only."},
      {"pitwall compare a?.pitwall -- b?.pitwall", "Several runs of each, which show smaller changes."},
      {"pitwall compare --fail-on-regression 5 a?.pitwall -- b?.pitwall", "In continuous integration."}};
  return text;
}

Text ofExport() {
  Text text;
  text.exit_codes = {kDoneCode, kUsageCode, kTraceCode, kInternalCode, kInterruptedCode};
  text.environment = {kTemporary};
  text.examples = {
      {"pitwall export run.pitwall", "Write run.json for ui.perfetto.dev."},
      {"pitwall export run.pitwall --range 1.5s..2s --format pitwall -o part.pitwall",
       "Half a second as a trace."},
      {"pitwall export run.pitwall --format csv --table operator -o -", "One table on standard output."}};
  return text;
}

Text ofQuery() {
  Text text;
  text.exit_codes = {kDoneCode, kUsageCode, kTraceCode, kInternalCode, kInterruptedCode};
  text.environment = {kNoColor, kColumns, kTemporary};
  text.examples = {
      {"pitwall query run.pitwall \"SELECT name, count, total_ns FROM event_stats ORDER BY total_ns DESC "
       "LIMIT 5\"",
       "The names that take most time."},
      {"pitwall query run.pitwall \"SELECT * FROM analysis_iteration\"", "Results of the analyses."},
      {"pitwall query run.pitwall --schema", "All tables and columns."}};
  return text;
}

Text ofSimulate() {
  Text text;
  manual::List changes{"Changes", {}};
  for (const auto& [form, meaning] : simulatedChanges()) changes.entries.push_back({form, meaning});
  text.lists = {changes};
  text.exit_codes = {kDoneCode, kUsageCode, kTraceCode, kInternalCode, kNotPredictableCode, kInterruptedCode};
  text.environment = {kNoColor, kColumns, kTemporary};
  text.examples = {
      {"pitwall simulate run.pitwall", "Whether the trace can be simulated, and its critical path."},
      {"pitwall simulate run.pitwall --what workers=4", "An iteration when four workers make the batches."},
      {"pitwall simulate run.pitwall --what 'op:conv=0.5' --what data_wait=0",
       "Convolutions twice as fast, and no wait for batches."}};
  return text;
}

Text ofTune() {
  Text text;
  text.usage = {"pitwall tune [OPTIONS] -- PROGRAM [ARGUMENTS]"};
  text.notes = {
      "Records the program once, takes the settings that the findings propose, with half and double of "
      "numbers, and the values of "
      "--param, and runs the program with and without them, in random order. What is kept is measured to be "
      "a gain: an interval "
      "of the median ratio of pairs of runs excludes that it is none, for all candidates together with 95 %.",
      "Ctrl-C ends the search with the best so far; the same command continues it."};
  text.exit_codes = {kDoneCode,
                     kUsageCode,
                     kTraceCode,
                     kInternalCode,
                     {"130", "interrupted by ctrl-C or SIGTERM; the result so far is printed and written"}};
  text.environment = {kTemporary};
  text.files = {
      {"DIR/best.env", "The best settings, for 'source'."},
      {"DIR/first.pitwall, DIR/best.pitwall", "Traces of the program unchanged, and with the best settings."},
      {"DIR/runs.tsv", "All runs; an interrupted search continues from it."},
      {"DIR/NUMBER.log", "What a run printed that was no measurement."}};
  text.examples = {
      {"pitwall tune -- ./train --epochs 2",
       "Try what the findings propose; the metric is found in the recording."},
      {"pitwall tune --metric 'Speed: ([0-9.]+)' --param OMP_NUM_THREADS=1..8 -- python3 train.py",
       "Also try numbers of threads, and read the metric from the output."},
      {"pitwall tune --param BATCH=16,32,64 --keep 'accuracy ([0-9.]+)' --within 0.5% -- ./train --batch "
       "'{BATCH}'",
       "A parameter of the command line, and a result that must not get worse."}};
  return text;
}

Text ofEnv() {
  Text text;
  text.exit_codes = {kDoneCode, kUsageCode};
  text.environment = {kNoColor, kColumns, kCache};
  text.files = {
      {"~/.cache/pitwall",
       "What --calibrate measured, by model of the processor, and kernels.txt, the times of kernels that "
       "executors measured."}};
  text.examples = {{"pitwall env", "All settings."},
                   {"pitwall env OMP_NUM_THREADS", "What one setting does."}};
  return text;
}

Text ofRules() {
  Text text;
  text.exit_codes = {kDoneCode, kUsageCode};
  text.environment = {kNoColor, kColumns};
  text.files = {kRuleFiles};
  text.examples = {
      {"pitwall rules show input/bound", "What a rule detects, and when it is silent."},
      {"pitwall rules check my_rules/*.toml", "Check rules before they are used with --rules my_rules."}};
  return text;
}

void addEntries(std::string& out, std::string_view title, const std::vector<Entry>& entries) {
  if (entries.empty()) return;
  std::size_t widest = 0;
  for (const Entry& entry : entries) widest = std::max(widest, entry.name.size());
  out += fmt::format("\n{}:\n", title);
  for (const Entry& entry : entries) out += fmt::format("  {:{}}  {}\n", entry.name, widest, entry.meaning);
}

}  // namespace

const Text& manualTextOf(std::string_view command) {
  static const std::map<std::string, Text, std::less<>> texts{{"pitwall", whole()},
                                                              {"pitwall analyze", ofAnalyze()},
                                                              {"pitwall import", ofImport()},
                                                              {"pitwall record", ofRecord()},
                                                              {"pitwall compare", ofCompare()},
                                                              {"pitwall export", ofExport()},
                                                              {"pitwall query", ofQuery()},
                                                              {"pitwall env", ofEnv()},
                                                              {"pitwall rules", ofRules()},
                                                              {"pitwall simulate", ofSimulate()},
                                                              {"pitwall tune", ofTune()}};
  static const Text none;
  const auto found = texts.find(command);
  return found == texts.end() ? none : found->second;
}

std::string helpFooter(const Text& text) {
  std::string out;
  for (const std::string& usage : text.usage) out += usage + "\n";
  for (const std::string& note : text.notes) out += (out.empty() ? "" : "\n") + note + "\n";
  for (const manual::List& list : text.lists) addEntries(out, list.title, list.entries);
  addEntries(out, "Exit codes", text.exit_codes);
  if (!text.examples.empty()) out += "\nExamples:\n";
  for (const Entry& example : text.examples)
    out += fmt::format("  {}\n      {}\n", example.name, example.meaning);
  if (out.starts_with('\n')) out.erase(0, 1);
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace pitwall::cli
