#include "runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/try.h"
#include "runtime/array/bulk.h"
#include "runtime/backend/support/openmp_visit.h"
#include "runtime/graph/executor/bound_program.h"
#include "runtime/graph/executor/describe.h"
#include "runtime/operators/reorder.h"

namespace pitwall {

using graph::BoundProgram;
using graph::position;

struct Executor::State {
  State(Session& in, Symbol of, std::map<std::string, NDArray> its_arrays, Options its_options)
      : session(in), symbol(std::move(of)), arrays(std::move(its_arrays)), options(std::move(its_options)) {}

  // The program of the mode, made when it is needed first. Errors: as bind().
  Result<BoundProgram*> programOf(Mode mode);
  Status makeGradients();

  Session& session;
  const Symbol symbol;
  std::map<std::string, NDArray> arrays;
  Options options;
  std::shared_ptr<graph::MemoryPool> pool;
  std::unique_ptr<BoundProgram> inference, training;
  BoundProgram* first = nullptr;  // what bind() made
  BoundProgram* last = nullptr;   // of the last forward()
  std::uint64_t passes = 0;
};

Result<BoundProgram*> Executor::State::programOf(Mode mode) {
  auto& program = mode == Mode::training ? training : inference;
  if (program != nullptr) return program.get();
  auto made = std::make_unique<BoundProgram>(session, options.device, pool);
  PITWALL_TRY(graph::bindProgram({symbol, arrays, options, mode}, *made));
  program = std::move(made);
  return program.get();
}

namespace {

// Into an array that the program reads.
Status copyHead(const NDArray& from, const NDArray& to, const std::string& output) {
  const auto described = [](const NDArray& array) {
    return fmt::format("{} of {} on {}", array.shape().toString(), toString(array.dtype()),
                       toString(array.device()));
  };
  if (from.shape() != to.shape() || from.device() != to.device() || from.dtype() != to.dtype())
    return fail(ErrorCode::invalidInput,
                fmt::format("backward: the gradient of the output {} is {}, must be {}", output,
                            described(from), described(to)));
  const OperatorKindDesc desc = ReorderDesc{nullptr};
  const Value* inputs[] = {&valueOf(from)};
  Value target = valueOf(to);
  return invoke(
      nullptr,
      {.name = "_copyto", .desc = desc, .phase = Phase::backward, .inputs = inputs, .outputs = {&target, 1}});
}

}  // namespace

// Each gradient that is asked for belongs to an argument and has an array.
Status Executor::State::makeGradients() {
  const auto arguments = symbol.arguments();
  for (auto& [name, gradient] : options.gradients) {
    if (gradient.request == GradientRequest::none) continue;
    if (std::find(arguments.begin(), arguments.end(), name) == arguments.end())
      return fail(ErrorCode::notFound,
                  fmt::format("a gradient is asked for of '{}', which is no argument", name));
    const auto array = arrays.find(name);
    if (gradient.array || array == arrays.end() || !array->second) continue;
    gradient.array = NDArray::zeros(session, array->second.shape(), MemoryTag::gradients, options.device,
                                    array->second.dtype());
  }
  return {};
}

Executor::Executor(std::unique_ptr<State> state) : state_(std::move(state)) {}

Executor::~Executor() {
  if (state_->pool != nullptr) (void)state_->session.engine().waitForVariable(state_->pool->sequence);
}

Result<std::unique_ptr<Executor>> Executor::bind(Session& session, const Symbol& symbol,
                                                 std::map<std::string, NDArray> arrays, Options options) {
  const Executor* const shared = std::exchange(options.share_with, nullptr);
  if (shared != nullptr &&
      (&shared->state_->session != &session || shared->state_->options.device != options.device))
    return fail(ErrorCode::invalidInput,
                "share_with: the other executor is of another session or device; give one of the same");
  std::unique_ptr<Executor> executor(
      new Executor(std::make_unique<State>(session, symbol, std::move(arrays), std::move(options))));
  State& state = *executor->state_;
  PITWALL_TRY(state.makeGradients());
  state.pool = shared != nullptr ? shared->state_->pool
                                 : std::make_shared<graph::MemoryPool>(session, state.options.device);
  state.first = state.last =
      PITWALL_TRY(state.programOf(state.options.gradients.empty() ? Mode::inference : Mode::training));
  return executor;
}

Result<std::unique_ptr<Executor>> Executor::rebind(const std::map<std::string, NDArray>& changed) const {
  auto arrays = state_->arrays;
  Options options = state_->options;
  for (const auto& [name, array] : changed) {
    if (array && arrays[name] && arrays[name].shape() != array.shape() && options.gradients.contains(name))
      options.gradients[name].array = NDArray();
    arrays[name] = array;
  }
  options.share_with = this;
  return bind(state_->session, state_->symbol, std::move(arrays), std::move(options));
}

Status Executor::replaceInput(const std::string& argument, const NDArray& array) {
  const auto& inputs = state_->options.inputs;
  const auto found = state_->arrays.find(argument);
  if (found == state_->arrays.end() || std::find(inputs.begin(), inputs.end(), argument) == inputs.end())
    return fail(ErrorCode::notFound, fmt::format("replaceInput: '{}' is no input of the executor; name it in "
                                                 "Executor::Options::inputs, and give bind() an array",
                                                 argument));
  NDArray& present = found->second;
  if (!array || array.shape() != present.shape() || array.dtype() != present.dtype() ||
      array.device() != present.device())
    return fail(
        ErrorCode::invalidInput,
        fmt::format(
            "replaceInput: '{}' must be {} of {} on {}; bind an executor to arrays like the new one (rebind)",
            argument, present.shape().toString(), toString(present.dtype()), toString(present.device())));
  for (BoundProgram* const program : {state_->inference.get(), state_->training.get()})
    if (program != nullptr) PITWALL_TRY(program->replaceArgument(argument, array));
  present = array;
  return {};
}

Status Executor::forward(Mode mode) {
  State& state = *state_;
  BoundProgram& program = *PITWALL_TRY(state.programOf(mode));
  Engine& engine = state.session.engine();
  if (PITWALL_TRY(program.weights->areStale())) {
    PITWALL_TRY(engine.waitForVariable(state.pool->sequence));
    const OpenMpVisit visit;
    PITWALL_TRY(program.weights->compute());
  }
  if (!state.options.overwrite_outputs) PITWALL_TRY(program.renewHeldOutputs());
  PITWALL_TRY(program.arrange(program.forward_arrays));
  state.last = &program;
  state.pool->last_user = &program;
  program.pushForward(mode == Mode::training ? BulkKind::forward : BulkKind::inference,
                      state.options.seed + ++state.passes);
  return {};
}

Status Executor::backward(std::span<const NDArray> heads) {
  State& state = *state_;
  BoundProgram* const program = state.training.get();
  if (program == nullptr || state.last != program || state.pool->last_user != program)
    return fail(
        ErrorCode::invalidInput,
        "backward: the last pass was none of training, or another executor has used the memory since; "
        "call forward(Executor::Mode::training) first");
  for (std::size_t i = 0; i < program->heads.size(); ++i) {
    const NDArray& wanted = program->heads[i];
    if (!wanted) continue;
    const std::string name = state.symbol.outputNames()[i];
    if (i >= heads.size() || !heads[i])
      return fail(ErrorCode::invalidInput,
                  fmt::format("backward: the gradient of the output {} is missing; give one of shape {}",
                              name, wanted.shape().toString()));
    PITWALL_TRY(copyHead(heads[i], wanted, name));
  }
  for (const NDArray& gradient : program->zero_gradients)
    fillConstant(valueOf(gradient), 0, "_zeros", Phase::backward);
  PITWALL_TRY(program->arrange(program->backward_arrays));
  for (const auto& [array, layout] : program->written_gradients) valueOf(array).chunk->layout = layout;
  program->pushBackward(state.options.seed + state.passes);
  for (const auto& [array, layout] : program->written_gradients)
    if (valueOf(array).chunk->viewed)
      PITWALL_TRY(convertLayout(nullptr, valueOf(array), nullptr, Phase::backward));
  return {};
}

const std::vector<NDArray>& Executor::outputs() const { return state_->last->outputs; }

NDArray Executor::gradient(const std::string& argument) const {
  const auto found = state_->options.gradients.find(argument);
  return found != state_->options.gradients.end() ? found->second.array : NDArray();
}

Executor::Memory Executor::memory() const {
  const BoundProgram& program = *state_->first;
  return {program.plan.total(), program.plan.unshared, program.weights->bytes(), state_->pool->bytes()};
}

std::string Executor::describePlan() const { return graph::describeSteps(*state_->first); }

}  // namespace pitwall
