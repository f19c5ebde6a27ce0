#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "db/try.h"
#include "runtime/array/bulk.h"
#include "runtime/array/facts.h"
#include "runtime/backend/support/openmp_visit.h"
#include "runtime/graph/executor/bound_program.h"
#include "runtime/graph/executor/common_expressions.h"
#include "runtime/graph/executor/describe.h"
#include "runtime/graph/executor/gradient.h"
#include "runtime/graph/infer_shapes.h"
#include "runtime/graph/infer_types.h"
#include "runtime/short_float.h"

namespace pitwall::graph {

namespace {

class Binding {
 public:
  Binding(const BindRequest& request, BoundProgram& state)
      : session_(state.session), request_(request), options_(request.options), state_(state) {}

  Status bind();

 private:
  bool isTraining() const { return request_.mode == Executor::Mode::training; }
  Status lower();
  BackwardOptions backwardOptions(const IndexedGraph& graph) const;
  Status fuseOperations();
  Status takeArrays();
  Status check(const Tensor& tensor, const NDArray& array) const;
  Result<NDArray> arrayOf(const Tensor& tensor);
  std::vector<ArrayLayout> arrayLayouts() const;
  MemoryPlan smallestPlan() const;
  Status makeOutputs();
  void addStep(const Step& step, std::string_view backend);
  Place placeOf(int tensor) const;
  void listArrays();
  bool isInput(const std::string& name) const {
    return std::find(options_.inputs.begin(), options_.inputs.end(), name) != options_.inputs.end();
  }

  Session& session_;
  const BindRequest& request_;
  const Executor::Options& options_;
  BoundProgram& state_;
  std::vector<int> zero_;  // variables
};

// Of the tensors whose memory some operation reads or writes.
std::vector<bool> usedTensors(const Program& program) {
  std::vector<bool> used(program.tensors.size(), false);
  const auto use = [&](int tensor) { used[position(baseOf(program, tensor))] = true; };
  for (const Operation& operation : program.operations) {
    for (std::size_t i = 0; i < operation.inputs.size(); ++i)
      if (operation.reads(i)) use(operation.inputs[i]);
    for (const int output : operation.outputs) use(output);
  }
  for (const int tensor : constantSources(program)) use(tensor);
  for (const int output : program.outputs) use(output);
  return used;
}

Status Binding::check(const Tensor& tensor, const NDArray& array) const {
  const std::string name =
      fmt::format("{}'{}'", tensor.gradient_of >= 0 ? "the gradient of " : "", tensor.name);
  if (array.device() != options_.device)
    return fail(ErrorCode::invalidInput,
                fmt::format("{} is on {}, the executor on {}; copy it there first (NDArray::copyTo)", name,
                            toString(array.device()), toString(options_.device)));
  if (!isReal(array.dtype()))
    return fail(ErrorCode::unsupported,
                fmt::format("{} has values of {}; the executor computes with float32, float16 and bfloat16",
                            name, toString(array.dtype())));
  if (array.dtype() != tensor.dtype)
    return fail(ErrorCode::invalidInput, fmt::format("{} has values of {}, must be {}", name,
                                                     toString(array.dtype()), toString(tensor.dtype)));
  if (array.shape() != tensor.shape)
    return fail(ErrorCode::invalidInput, fmt::format("{} has shape {}, must be {}", name,
                                                     array.shape().toString(), tensor.shape.toString()));
  return {};
}

Result<NDArray> Binding::arrayOf(const Tensor& tensor) {
  if (tensor.is_zeros)
    return NDArray::zeros(session_, tensor.shape, MemoryTag::gradients, options_.device, tensor.dtype);
  if (tensor.head >= 0) {
    state_.heads[position(tensor.head)] =
        NDArray::empty(session_, tensor.shape, MemoryTag::gradients, tensor.dtype, options_.device);
    return state_.heads[position(tensor.head)];
  }
  NDArray array;
  if (tensor.gradient_of >= 0) {
    array = options_.gradients.at(tensor.name).array;
  } else {
    const auto found = request_.arrays.find(tensor.name);
    if (found == request_.arrays.end() || !found->second)
      return fail(ErrorCode::notFound, fmt::format("no array for '{}' ({}); give one to Executor::bind()",
                                                   tensor.name, tensor.shape.toString()));
    array = found->second;
  }
  PITWALL_TRY(check(tensor, array));
  return array;
}

Status Binding::takeArrays() {
  const std::vector<bool> used = usedTensors(state_.program);
  state_.arrays.resize(state_.program.tensors.size());
  for (std::size_t i = 0; i < state_.program.tensors.size(); ++i)
    if (state_.program.tensors[i].isArray() && used[i])
      state_.arrays[i] = PITWALL_TRY(arrayOf(state_.program.tensors[i]));
  return {};
}

// In training the contents of weights change in each step: the arrays take the layout of the kernels, if they can. One that is
// given for several arguments cannot: each might want another.
std::vector<ArrayLayout> Binding::arrayLayouts() const {
  std::map<const Chunk*, int> uses;
  for (const NDArray& array : state_.arrays)
    if (array) ++uses[valueOf(array).chunk.get()];
  std::vector<ArrayLayout> layouts;
  for (std::size_t i = 0; i < state_.program.tensors.size(); ++i) {
    const Tensor& tensor = state_.program.tensors[i];
    const bool changes = tensor.variable >= 0 && isInput(tensor.name);
    const bool is_array = (tensor.variable >= 0 || tensor.gradient_of >= 0) && state_.arrays[i];
    ArrayLayout layout = ArrayLayout::reordered;
    if (!isTraining()) {
      if (!changes) layout = ArrayLayout::constant;
    } else if (!changes && is_array) {
      const Chunk& chunk = *valueOf(state_.arrays[i]).chunk;
      if (!chunk.viewed && uses.at(&chunk) == 1) layout = ArrayLayout::adopted;
    }
    layouts.push_back(layout);
  }
  return layouts;
}

Status Binding::makeOutputs() {
  state_.own_outputs.resize(state_.program.tensors.size());
  for (const int output : state_.schedule.outputs) {
    const int base = baseOf(state_.program, output);
    const Shape& shape = state_.program.tensors[position(output)].shape;
    if (state_.arrays[position(base)]) {
      state_.outputs.push_back(PITWALL_TRY(state_.arrays[position(base)].reshape(shape)));
      continue;
    }
    const DType type = state_.schedule.specs[position(output)].dtype;
    if (!isReal(type))
      return fail(ErrorCode::unsupported,
                  fmt::format("the output '{}' has numbers of {}; add a _contrib_dequantize after it",
                              state_.program.tensors[position(output)].name, toString(type)));
    ChunkPtr& chunk = state_.own_outputs[position(base)];
    if (chunk == nullptr) chunk = makeChunk(session_, options_.device, MemoryTag::activations, type);
    chunk->viewed = true;  // the kernels write it row-major
    state_.outputs.push_back(makeArray({chunk, shape}));
  }
  return {};
}

Place Binding::placeOf(int tensor) const {
  Place place;
  if (tensor < 0) return place;
  const int base = baseOf(state_.program, tensor);
  if (state_.arrays[position(base)]) {
    place.chunk = valueOf(state_.arrays[position(base)]).chunk.get();
  } else if (state_.own_outputs[position(base)] != nullptr) {
    place.chunk = state_.own_outputs[position(base)].get();
  } else if (state_.weights->dataOf(base) != nullptr) {
    place.weight = base;
  } else {
    place.planned = state_.blocks[0];
    place.offset = state_.plan.blocks[position(state_.plan.block_of[position(base)])].offset;
  }
  return place;
}

void Binding::addStep(const Step& step, std::string_view backend) {
  BoundStep bound;
  auto prepared = std::make_shared<Prepared>();
  prepared->device_kind = options_.device.kind;
  prepared->name = step.name;
  prepared->pass = step.pass;
  prepared->phase = step.phase;
  prepared->desc = step.desc;
  prepared->at_hand = step.kernel->inputs();
  prepared->kernel = step.kernel;
  prepared->facts =
      session_.profiler().operatorFacts(describe(*prepared, step.layer, std::string(backend), step.flop));
  recordMeasured(session_.profiler(), *prepared->kernel);
  bound.prepared = std::move(prepared);
  for (const int tensor : step.inputs) bound.inputs.push_back(placeOf(tensor));
  for (const int tensor : step.outputs) bound.outputs.push_back(placeOf(tensor));
  if (const int block = state_.plan.workspace_of[state_.steps.size()]; block >= 0)
    bound.workspace = {.planned = state_.blocks[0], .offset = state_.plan.blocks[position(block)].offset};
  listVariables(bound, *state_.pool);
  bound.fills_memory = state_.steps.empty();
  bound.releases_memory = !options_.keep_memory && state_.steps.size() + 1 == state_.schedule.steps.size();
  state_.steps.push_back(std::make_shared<const BoundStep>(std::move(bound)));
}

// With NNVM_AUTO_SEARCH_MATCH_RANGE the best of several ranges up to the one that is set.
MemoryPlan Binding::smallestPlan() const {
  const Settings& settings = session_.settings();
  MemoryPlanOptions options{
      .in_place = settings.boolean("MXNET_EXEC_ENABLE_INPLACE"),
      .match_range = settings.integer("NNVM_EXEC_MATCH_RANGE"),
      .paths = settings.integer(settings.isSet("NNVM_EXEC_NUM_TEMP") ? "NNVM_EXEC_NUM_TEMP"
                                                                     : "MXNET_EXEC_NUM_TEMP"),
      .workspaces = options_.device.kind == DeviceKind::gpu};
  MemoryPlan best = planMemory(state_.program, state_.schedule, options);
  if (!settings.boolean("NNVM_AUTO_SEARCH_MATCH_RANGE")) return best;
  const std::int64_t most = std::min<std::int64_t>(options.match_range, 1 << 20);  // beyond, none differs
  for (options.match_range = 1; options.match_range < most; options.match_range *= 2) {
    MemoryPlan plan = planMemory(state_.program, state_.schedule, options);
    if (plan.total() < best.total()) best = std::move(plan);
  }
  return best;
}

bool isMirroring(const Settings& settings) {
  return settings.boolean("MXNET_BACKWARD_DO_MIRROR") || settings.integer("MXNET_MEMORY_OPT") != 0;
}

BackwardOptions Binding::backwardOptions(const IndexedGraph& graph) const {
  const Settings& settings = session_.settings();
  BackwardOptions options{.requests = std::vector<GradientRequest>(graph.nodes.size(), GradientRequest::none),
                          .sum_cap = settings.integer("MXNET_EXEC_INPLACE_GRAD_SUM_CAP")};
  for (const int id : graph.arguments) {
    const auto found = options_.gradients.find(graph.nodes[position(id)]->name);
    if (found != options_.gradients.end()) options.requests[position(id)] = found->second.request;
  }
  return options;
}

Fusions wantedFusions(const Settings& settings) {
  const auto isOn = [&](const char* name) { return !settings.boolean(name); };
  const bool convolution = isOn("MXNET_DISABLE_MKLDNN_CONV_OPT");
  return {.norm_into_convolution = convolution && isOn("MXNET_DISABLE_MKLDNN_FUSE_CONV_BN"),
          .activation_into_convolution = convolution && isOn("MXNET_DISABLE_MKLDNN_FUSE_CONV_RELU"),
          .sum_into_convolution = convolution && isOn("MXNET_DISABLE_MKLDNN_FUSE_CONV_SUM"),
          .activation_into_dense =
              isOn("MXNET_DISABLE_MKLDNN_FC_OPT") && isOn("MXNET_DISABLE_MKLDNN_FUSE_FC_ELTWISE")};
}

Quantizations wantedQuantizations(const Settings& settings) {
  const auto isOn = [&](const char* name) { return !settings.boolean(name); };
  const bool dense = isOn("MXNET_DISABLE_MKLDNN_QFC_FUSE_ALL");
  const bool product = isOn("MXNET_DISABLE_MKLDNN_QEM_FUSE_ALL");
  return {.requantize_into_dense = dense,
          .dequantize_into_dense = dense && isOn("MXNET_DISABLE_MKLDNN_QFC_FLOAT_OUTPUT"),
          .requantize_into_product = product,
          .dequantize_into_product = product && isOn("MXNET_DISABLE_MKLDNN_QEM_FLOAT_OUTPUT")};
}

Status Binding::fuseOperations() {
  const std::string_view fusions = session_.settings().text("MXNET_SUBGRAPH_BACKEND");
  if (fusions != "NONE" && fusions != "MKLDNN")
    return fail(
        ErrorCode::invalidInput,
        fmt::format("MXNET_SUBGRAPH_BACKEND={}: the executor has the fusions of MKLDNN, or NONE", fusions));
  const bool is_gpu = options_.device.kind == DeviceKind::gpu;
  if (fusions == "MKLDNN" && !isTraining()) {
    const Fusions wanted = wantedFusions(session_.settings());
    graph::fuse(state_.program, wanted);
    if (!is_gpu && wanted.norm_into_convolution) fuseNorms(state_.program);
    quantizeOperations(state_.program, wantedQuantizations(session_.settings()),
                       *PITWALL_TRY(session_.backend(options_.device)));
  }
  const bool mirrors = isTraining() && isMirroring(session_.settings());
  const bool joins = fusions == "MKLDNN" && isTraining();
  if (joins) fuseTraining(state_.program);
  if (joins) fuseShiftGradients(state_.program);
  // GPUs keep what they have memory for: a pass over it takes them as long as the kernels beside it.
  if (mirrors || (joins && !is_gpu)) recomputeResults(state_.program, mirrors);
  // Chains keep results of several operators at once; mirroring is for memory.
  if (session_.settings().boolean("MXNET_USE_FUSION") && !mirrors) fusePointwise(state_.program);
  return {};
}

Status Binding::lower() {
  const IndexedGraph graph(request_.symbol.outputs());
  std::map<std::string, Shape> known;
  std::map<std::string, DType> types;
  for (const auto& [name, array] : request_.arrays) {
    if (!array) continue;
    known.emplace(name, array.shape());
    types.emplace(name, array.dtype());
  }
  // Arrays whose shapes or types contradict each other are named with their node.
  GraphEntries entries;
  entries.shapes = PITWALL_TRY(inferEntries(graph, known));
  entries.types = PITWALL_TRY(inferEntryTypes(graph, types));
  std::vector<int> first_equal(graph.nodes.size());
  std::iota(first_equal.begin(), first_equal.end(), 0);
  if (session_.settings().boolean("MXNET_ELIMINATE_COMMON_EXPR")) first_equal = firstEqualNodes(graph);
  auto lowered =
      PITWALL_TRY(lowerGraph(graph, entries, first_equal, isTraining() ? Pass::forward : Pass::inference));
  if (isTraining()) {
    for (const int id : PITWALL_TRY(addBackwardPass(graph, lowered, backwardOptions(graph)))) {
      const Node& variable = *graph.nodes[position(id)];
      const NDArray& gradient = options_.gradients.at(variable.name).array;
      const std::size_t entry = position(graph.first_entry[position(id)]);
      PITWALL_TRY(check({.name = variable.name,
                         .shape = entries.shapes[entry],
                         .dtype = entries.types[entry],
                         .gradient_of = id},
                        gradient));
      state_.zero_gradients.push_back(gradient);
    }
  }
  state_.program = std::move(lowered.program);
  state_.heads.resize(graph.heads.size());
  const auto began = std::chrono::steady_clock::now();
  PITWALL_TRY(fuseOperations());
  state_.fusion_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return {};
}

// What arrange() and the backward pass must know about arrays.
void Binding::listArrays() {
  const auto& steps = state_.schedule.steps;
  std::vector<bool> is_listed;
  const auto list = [&](int tensor, std::vector<BoundArray>& to) {
    const int base = tensor < 0 ? -1 : baseOf(state_.program, tensor);
    if (base < 0 || !state_.arrays[position(base)] || is_listed[position(base)]) return;
    is_listed[position(base)] = true;
    to.push_back({state_.arrays[position(base)], state_.schedule.specs[position(base)].layout});
  };
  const auto listAll = [&](std::size_t from, std::size_t to, std::vector<BoundArray>& read) {
    is_listed.assign(state_.arrays.size(), false);
    for (std::size_t i = from; i < to; ++i)
      for (const int input : steps[i].inputs) list(input, read);
    // States are read too.
    for (std::size_t i = from; i < to; ++i)
      for (const int output : steps[i].outputs)
        list(output,
             state_.program.tensors[position(output)].variable >= 0 ? read : state_.written_gradients);
  };
  listAll(0, state_.schedule.forward_steps, state_.forward_arrays);
  listAll(state_.schedule.forward_steps, steps.size(), state_.backward_arrays);
}

Status Binding::bind() {
  const OpenMpVisit visit;  // measures kernels and converts weights
  PITWALL_TRY(lower());
  PITWALL_TRY(takeArrays());
  Backend* const backend = PITWALL_TRY(session_.backend(options_.device));
  const std::vector<ArrayLayout> layouts = arrayLayouts();
  const bool measures = !isTraining() && options_.measure_kernels;
  state_.schedule = PITWALL_TRY(measures ? graph::fastestSchedule(state_.program, layouts, *backend)
                                         : graph::schedule(state_.program, layouts, *backend));
  state_.arrays.resize(state_.program.tensors.size());
  state_.plan = smallestPlan();
  state_.weights =
      std::make_unique<Weights>(session_, options_.device, state_.program, state_.schedule, state_.arrays,
                                session_.settings().boolean("MXNET_MKLDNN_QFC_DYNAMIC_PARAMS"));
  PITWALL_TRY(state_.weights->compute());
  if (state_.plan.total() > 0) state_.blocks = PITWALL_TRY(state_.pool->take({state_.plan.total()}));
  PITWALL_TRY(makeOutputs());
  for (const Step& step : state_.schedule.steps) addStep(step, backend->name());
  listArrays();
  printAsSet(state_);
  return {};
}

}  // namespace

Status bindProgram(const BindRequest& request, BoundProgram& bound) { return Binding(request, bound).bind(); }

}  // namespace pitwall::graph
