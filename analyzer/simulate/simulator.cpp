#include <utility>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/time_chunk_pass.h"
#include "analyzer/analysis/time_chunks.h"
#include "analyzer/analysis/timeline.h"
#include "analyzer/simulate.h"
#include "analyzer/simulate/edit.h"
#include "analyzer/simulate/predictor.h"
#include "analyzer/simulate/read_program.h"
#include "db/try.h"

namespace pitwall {

struct Simulator::State {
  simulate::Predictor predictor;
};

Simulator::Simulator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;
Simulator::~Simulator() = default;

const ReplayCheck& Simulator::check() const { return state_->predictor.check; }

Result<Prediction> Simulator::predict(std::span<const std::string> changes) const {
  return state_->predictor.predict(changes);
}

Result<Simulator> Simulator::open(Trace& trace, const SimulateOptions& options) {
  const analysis::Reading reading{0, options.cancel};
  const auto activity = PITWALL_TRY(analysis::gatherActivity(trace, reading));
  const auto timeline = analysis::timelineOf(trace, activity);
  analysis::TimeChunkReader chunks(trace, activity, timeline.process, reading);
  const auto iterations = PITWALL_TRY(analysis::iterationsOf(trace, timeline, chunks));
  auto state = std::make_unique<State>();
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
