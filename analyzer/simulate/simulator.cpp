#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/time_chunk_pass.h"
#include "analyzer/analysis/time_chunks.h"
#include "analyzer/analysis/timeline.h"
#include "analyzer/simulate.h"
#include "analyzer/simulate/edit.h"
#include "analyzer/simulate/predictor.h"
#include "analyzer/simulate/read_program.h"
#include "db/export.h"
#include "db/try.h"

namespace pitwall {

struct Simulator::State {
  simulate::Predictor predictor;
  double between_runs = 0;
};

Simulator::Simulator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;
Simulator::~Simulator() = default;

const ReplayCheck& Simulator::check() const { return state_->predictor.check; }

Result<Prediction> Simulator::predict(std::span<const std::string> changes) const {
  auto prediction = PITWALL_TRY(state_->predictor.predict(changes));
  if (changes.empty()) return prediction;
  const auto widened = [&](TimeNs ns, double by) {
    return static_cast<TimeNs>(std::llround(static_cast<double>(ns) * by));
  };
  prediction.low_ns = widened(prediction.low_ns, 1 - state_->between_runs);
  prediction.high_ns = widened(prediction.high_ns, 1 + state_->between_runs);
  return prediction;
}

Result<SimulatedTrace> Simulator::write(Trace& trace, std::span<const std::string> changes,
                                        const std::string& output, const std::atomic<bool>* cancel) const {
  const auto times = PITWALL_TRY(state_->predictor.timesAfter(trace, changes));
  const auto& window = state_->predictor.program.tasks.window;
  ExportOptions options;
  options.format = ExportFormat::pitwall;
  options.range = ExportRange{window.start_ns, window.end_ns};
  options.times = &times;
  options.simulated_changes = changes.empty() ? "none" : fmt::format("{}", fmt::join(changes, " "));
  options.cancel = cancel;
  const auto summary = PITWALL_TRY(exportTrace(trace, output, options));
  return SimulatedTrace{output, summary.events};
}

Result<Simulator> Simulator::open(Trace& trace, const SimulateOptions& options) {
  const analysis::Reading reading{0, options.cancel};
  const auto activity = PITWALL_TRY(analysis::gatherActivity(trace, reading));
  const auto timeline = analysis::timelineOf(trace, activity);
  analysis::TimeChunkReader chunks(trace, activity, timeline.process, reading);
  const auto iterations = PITWALL_TRY(analysis::iterationsOf(trace, timeline, chunks));
  auto state = std::make_unique<State>();
  state->between_runs = options.between_runs;
  auto& predictor = state->predictor;
  const simulate::Recorded recorded{trace, activity, timeline, iterations, chunks, options.most_events};
  PITWALL_TRY(simulate::readProgram(recorded, predictor.program, predictor.check));
  predictor.prepare();
  return Simulator(std::move(state));
}

std::vector<std::pair<std::string, std::string>> simulatedChanges() {
  std::vector<std::pair<std::string, std::string>> changes;
  for (const auto& help : simulate::editHelp()) changes.emplace_back(help.form, help.meaning);
  return changes;
}

}  // namespace pitwall
