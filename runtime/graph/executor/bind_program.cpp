#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/try.h"
#include "runtime/array/facts.h"
#include "runtime/array/host_workspace.h"
#include "runtime/graph/executor/bound_program.h"
#include "runtime/graph/infer_shapes.h"

namespace pitwall::graph {

namespace {

class Binding {
 public:
  Binding(Session& session, std::map<std::string, NDArray> arrays, Executor::Options options)
      : session_(session), given_(std::move(arrays)), options_(std::move(options)) {}

  Status bind(const Symbol& symbol, BoundProgram& state);

 private:
  Status takeArrays(BoundProgram& state);
  MemoryPlan smallestPlan(const BoundProgram& state) const;
  Status allocate(BoundProgram& state);
  Status makeOutputs(BoundProgram& state);
  void addStep(const Step& step, std::string_view backend, BoundProgram& state);
  static Place placeOf(const BoundProgram& state, int tensor);
  bool isInput(const std::string& name) const {
    return std::find(options_.inputs.begin(), options_.inputs.end(), name) != options_.inputs.end();
  }

  Session& session_;
  std::map<std::string, NDArray> given_;
  const Executor::Options options_;
};

// Of the tensors that some operation reads.
std::vector<bool> usedTensors(const Program& program) {
  std::vector<bool> used(program.tensors.size(), false);
  const auto use = [&](int tensor) { used[position(baseOf(program, tensor))] = true; };
  for (const Operation& operation : program.operations)
    for (const int input : operation.inputs) use(input);
  for (const Folding& f : program.foldings)
    for (const int tensor : {f.weight, f.bias, f.gamma, f.beta, f.mean, f.variance})
      if (tensor >= 0) use(tensor);
  for (const int output : program.outputs) use(output);
  return used;
}

Status Binding::takeArrays(BoundProgram& state) {
  const std::vector<bool> used = usedTensors(state.program);
  state.arrays.resize(state.program.tensors.size());
  for (std::size_t i = 0; i < state.program.tensors.size(); ++i) {
    const Tensor& tensor = state.program.tensors[i];
    if (tensor.variable < 0 || !used[i]) continue;
    const auto found = given_.find(tensor.name);
    if (found == given_.end() || !found->second)
      return fail(ErrorCode::notFound, fmt::format("no array for '{}' ({}); give one to Executor::bind()",
                                                   tensor.name, tensor.shape.toString()));
    const NDArray& array = found->second;
    if (array.device() != options_.device)
      return fail(ErrorCode::invalidInput,
                  fmt::format("'{}' is on {}, the executor on {}; copy it there first (NDArray::copyTo)",
                              tensor.name, toString(array.device()), toString(options_.device)));
    if (array.dtype() != DType::float32)
      return fail(ErrorCode::unsupported,
                  fmt::format("'{}' has values of {}; the executor computes with float32", tensor.name,
                              toString(array.dtype())));
    state.arrays[i] = array;
  }
  return {};
}

Status Binding::allocate(BoundProgram& state) {
  Storage* const storage = PITWALL_TRY(session_.storage(options_.device));
  for (const Bytes bytes : state.plan.blocks)
    state.blocks.push_back(PITWALL_TRY(storage->allocate(bytes, MemoryTag::activations)));
  return {};
}

Status Binding::makeOutputs(BoundProgram& state) {
  state.own_outputs.resize(state.program.tensors.size());
  for (const int output : state.schedule.outputs) {
    const int base = baseOf(state.program, output);
    const Shape& shape = state.program.tensors[position(output)].shape;
    if (state.arrays[position(base)]) {
      state.outputs.push_back(PITWALL_TRY(state.arrays[position(base)].reshape(shape)));
      continue;
    }
    ChunkPtr& chunk = state.own_outputs[position(base)];
    if (chunk == nullptr)
      chunk = makeChunk(session_, options_.device, MemoryTag::activations, DType::float32);
    chunk->viewed = true;  // the kernels write it row-major
    state.outputs.push_back(makeArray({chunk, shape}));
  }
  return {};
}

Place Binding::placeOf(const BoundProgram& state, int tensor) {
  const int base = baseOf(state.program, tensor);
  Place place;
  if (state.arrays[position(base)]) {
    place.chunk = valueOf(state.arrays[position(base)]).chunk.get();
  } else if (state.own_outputs[position(base)] != nullptr) {
    place.chunk = state.own_outputs[position(base)].get();
  } else if (state.weights->dataOf(base) != nullptr) {
    place.weight = base;
  } else {
    place.planned = state.blocks[position(state.plan.block_of[position(base)])].data();
  }
  return place;
}

void Binding::addStep(const Step& step, std::string_view backend, BoundProgram& state) {
  BoundStep bound;
  auto prepared = std::make_shared<Prepared>();
  prepared->device_kind = options_.device.kind;
  prepared->name = step.name;
  prepared->pass = Pass::inference;
  prepared->phase = Phase::forward;
  prepared->desc = step.desc;
  prepared->at_hand = step.kernel->inputs();
  prepared->kernel = step.kernel;
  prepared->facts =
      session_.profiler().operatorFacts(describe(*prepared, step.layer, std::string(backend), step.flop));
  bound.prepared = std::move(prepared);
  for (const int tensor : step.inputs) bound.inputs.push_back(placeOf(state, tensor));
  for (const int tensor : step.outputs) bound.outputs.push_back(placeOf(state, tensor));
  for (const Place& place : bound.inputs)
    if (place.chunk != nullptr) bound.reads.push_back(place.chunk->variable);
  bound.writes.push_back(state.sequence);
  for (const Place& place : bound.outputs)
    if (place.chunk != nullptr) bound.writes.push_back(place.chunk->variable);
  state.steps.push_back(std::move(bound));
}

// With NNVM_AUTO_SEARCH_MATCH_RANGE the best of several ranges up to the one that is set.
MemoryPlan Binding::smallestPlan(const BoundProgram& state) const {
  const Settings& settings = session_.settings();
  MemoryPlanOptions options{.in_place = settings.boolean("MXNET_EXEC_ENABLE_INPLACE"),
                            .match_range = settings.integer("NNVM_EXEC_MATCH_RANGE")};
  MemoryPlan best = planMemory(state.program, state.schedule, options);
  if (!settings.boolean("NNVM_AUTO_SEARCH_MATCH_RANGE")) return best;
  const std::int64_t most = std::min<std::int64_t>(options.match_range, 1 << 20);  // beyond, none differs
  for (options.match_range = 1; options.match_range < most; options.match_range *= 2) {
    MemoryPlan plan = planMemory(state.program, state.schedule, options);
    if (plan.total() < best.total()) best = std::move(plan);
  }
  return best;
}

Status Binding::bind(const Symbol& symbol, BoundProgram& state) {
  const IndexedGraph indexed(symbol.outputs());
  std::map<std::string, Shape> known;
  for (const auto& [name, array] : given_)
    if (array) known.emplace(name, array.shape());
  const auto entries = PITWALL_TRY(inferEntries(indexed, known));
  state.program = PITWALL_TRY(lowerForInference(indexed, entries));
  const Settings& settings = session_.settings();
  const std::string_view fusions = settings.text("MXNET_SUBGRAPH_BACKEND");
  if (fusions != "NONE" && fusions != "MKLDNN")
    return fail(
        ErrorCode::invalidInput,
        fmt::format("MXNET_SUBGRAPH_BACKEND={}: the executor has the fusions of MKLDNN, or NONE", fusions));
  if (fusions == "MKLDNN") graph::fuse(state.program);
  PITWALL_TRY(takeArrays(state));
  std::vector<bool> is_input;
  for (const Tensor& tensor : state.program.tensors)
    is_input.push_back(tensor.variable >= 0 && isInput(tensor.name));
  Backend* const backend = PITWALL_TRY(session_.backend(options_.device));
  state.schedule = PITWALL_TRY(graph::schedule(state.program, is_input, *backend));
  state.arrays.resize(state.program.tensors.size());
  state.plan = smallestPlan(state);
  state.weights =
      std::make_unique<Weights>(session_, options_.device, state.program, state.schedule, state.arrays);
  PITWALL_TRY(state.weights->compute());
  PITWALL_TRY(allocate(state));
  PITWALL_TRY(makeOutputs(state));
  state.sequence = session_.engine().newVariable();
  for (const Step& step : state.schedule.steps) addStep(step, backend->name(), state);
  const std::vector<bool> is_read = readBySteps(state.program, state.schedule);
  for (std::size_t i = 0; i < is_read.size(); ++i)
    if (is_read[i] && state.arrays[i]) state.read_arrays.push_back(state.arrays[i]);
  return {};
}

}  // namespace

Status bindProgram(const Symbol& symbol, std::map<std::string, NDArray> arrays, Executor::Options options,
                   BoundProgram& bound) {
  return Binding(bound.session, std::move(arrays), std::move(options)).bind(symbol, bound);
}

Status BoundProgram::run(const BoundStep& step) const {
  static thread_local std::vector<const void*> from;
  static thread_local std::vector<void*> to;
  const Kernel& kernel = *step.prepared->kernel;
  from.clear();
  to.clear();
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const Place& place = step.outputs[i];
    if (place.chunk != nullptr) PITWALL_TRY(ensureBlock(*place.chunk, kernel.outputs()[i].sizeBytes()));
    to.push_back(place.chunk != nullptr ? place.chunk->block.data() : place.planned);
  }
  for (const Place& place : step.inputs) {
    from.push_back(place.chunk != nullptr ? place.chunk->block.data()
                   : place.weight >= 0    ? weights->dataOf(place.weight)
                                          : place.planned);
  }
  const Bytes bytes = kernel.workspaceBytes();
  const KernelContext context{
      .device = device, .workspace = hostWorkspace(bytes), .threads = session.operatorThreads()};
  if (bytes != 0 && context.workspace == nullptr)
    return fail(ErrorCode::io,
                fmt::format("no memory for {} bytes of workspace of {}; a smaller batch needs less", bytes,
                            kernel.implementation()));
  return kernel.run({.inputs = from, .outputs = to, .context = context});
}

}  // namespace pitwall::graph
