#include "analyzer/cli/simulate_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/open_trace.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/emit.h"
#include "analyzer/simulate.h"

namespace pitwall::cli {

CLI::App* addSimulate(CLI::App& app, SimulateArguments& arguments) {
  auto* command =
      app.add_subcommand("simulate", "Predict how long an iteration takes after a change, from a trace");
  command
      ->add_option("trace", arguments.trace,
                   "Trace file, one of another tool, or a folder of a job's traces; - for standard input")
      ->required()
      ->type_name("TRACE");
  command
      ->add_option("--what", arguments.changes,
                   "A change, such as workers=4; may be repeated: all of them together (default: only replay "
                   "the trace)")
      ->type_name("CHANGE")
      ->allow_extra_args(false);
  command
      ->add_option(
          "-o,--output", arguments.output,
          "Write the replayed part with its simulated times as a trace, to be opened beside the recording "
          "(pitwall-gui TRACE FILE)")
      ->type_name("FILE");
  command->add_flag("--json", arguments.json, "Print JSON");
  return command;
}

namespace {

int checkOutput(const SimulateArguments& arguments) {
  std::error_code error;
  if (arguments.output == "-")
    return reportError("--output takes a file: the prediction is on standard output", kUsage);
  if (!arguments.output.empty() && std::filesystem::equivalent(arguments.output, arguments.trace, error)) {
    return reportError(
        fmt::format("cannot write '{}': it is the trace that is read; choose another path with -o",
                    arguments.output),
        kUsage);
  }
  return kDone;
}

}  // namespace

int simulateTrace(const SimulateArguments& arguments) {
  if (const int code = checkOutput(arguments); code != kDone) return code;
  auto opened = openTrace(arguments.trace);
  if (!opened.has_value()) return reportTraceError(opened.error());
  const auto simulator = Simulator::open(*opened->trace);
  if (!simulator.has_value()) return reportTraceError(simulator.error());
  Simulation simulation{arguments.trace, arguments.changes, simulator->check(), {}, {}};
  if (simulation.check.predictable && !arguments.changes.empty()) {
    auto prediction = simulator->predict(arguments.changes);
    if (!prediction.has_value()) return reportError(prediction.error().message, kUsage);
    simulation.prediction = std::move(prediction).value();
  }
  if (simulation.check.predictable && !arguments.output.empty()) {
    auto timeline = simulator->write(*opened->trace, arguments.changes, arguments.output);
    if (!timeline.has_value()) return reportError(timeline.error().message, exitCodeOf(timeline.error()));
    simulation.timeline = std::move(timeline).value();
  }
  const auto width = static_cast<int>(std::clamp<std::size_t>(terminalWidth(), 40, 140));
  const std::string text = arguments.json
                               ? simulationAsJson(simulation)
                               : simulationAsText(simulation, {.width = width, .color = colorWanted()});
  if (const int code = printOrWrite(text, {}, {}); code != kDone) return code;
  return simulation.check.predictable ? kDone : kNotPredictable;
}

}  // namespace pitwall::cli
