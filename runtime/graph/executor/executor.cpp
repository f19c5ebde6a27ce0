#include "runtime/executor.h"

#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/array/bulk.h"
#include "runtime/graph/executor/bound_program.h"

namespace pitwall {

using graph::position;

struct Executor::State : graph::BoundProgram {
  using BoundProgram::BoundProgram;
};

Executor::Executor(std::unique_ptr<State> state) : state_(std::move(state)) {}

Executor::~Executor() {
  Engine& engine = state_->session.engine();
  if (state_->sequence.state == nullptr) return;
  (void)engine.waitForVariable(state_->sequence);  // an error is that of the outputs too
  engine.deleteVariable(state_->sequence);
}

Result<std::unique_ptr<Executor>> Executor::bind(Session& session, const Symbol& symbol,
                                                 std::map<std::string, NDArray> arrays, Options options) {
  std::unique_ptr<Executor> executor(new Executor(std::make_unique<State>(session, options.device)));
  PITWALL_TRY(graph::bindProgram(symbol, std::move(arrays), std::move(options), *executor->state_));
  return executor;
}

Status Executor::forward() {
  State& state = *state_;
  Engine& engine = state.session.engine();
  if (PITWALL_TRY(state.weights->areStale())) {
    PITWALL_TRY(engine.waitForVariable(state.sequence));
    PITWALL_TRY(state.weights->compute());
  }
  for (const NDArray& array : state.read_arrays)
    PITWALL_TRY(convertLayout(nullptr, valueOf(array), nullptr, Phase::forward));
  const BulkScope bulk(engine, bulkSize(state.session, BulkKind::inference));
  for (const graph::BoundStep& step : state.steps) {
    engine.push({.run = [&state, &step](const RunContext&) { return state.run(step); },
                 .reads = step.reads,
                 .writes = step.writes,
                 .facts = step.prepared->facts,
                 .device = state.device});
  }
  return {};
}

const std::vector<NDArray>& Executor::outputs() const { return state_->outputs; }

Executor::Memory Executor::memory() const {
  return {state_->plan.total(), state_->plan.unshared, state_->weights->bytes()};
}

std::string Executor::describePlan() const {
  std::string text;
  for (std::size_t i = 0; i < state_->schedule.steps.size(); ++i) {
    const graph::Step& step = state_->schedule.steps[i];
    const TensorSpec& out = step.kernel->outputs()[0];
    const int block = state_->plan.block_of[position(graph::baseOf(state_->program, step.outputs[0]))];
    text += fmt::format("{:4} {} {}: {} -> {} {} {} {}\n", i, step.name, step.layer,
                        step.kernel->inputs()[0].shape.toString(), out.shape.toString(),
                        out.layout ? out.layout->toString() : "row-major", step.kernel->implementation(),
                        block >= 0 ? fmt::format("block {}", block) : "own memory");
  }
  return text;
}

}  // namespace pitwall
