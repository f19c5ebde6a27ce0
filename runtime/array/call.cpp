#include "runtime/array/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "db/try.h"
#include "runtime/array/device_bytes.h"
#include "runtime/array/facts.h"
#include "runtime/array/kernel_run.h"
#include "runtime/operators/reorder.h"

namespace pitwall {
namespace {

// Data that a pushed operator needs to run its kernel.
struct Run {
  PreparedPtr prepared;
  std::vector<Chunk*> chunks;  // inputs, then outputs
  std::uint64_t seed = 0;
  float rate = 0;
  float rescale = 1;
};

Status runKernel(const Run& run) {
  const Kernel& kernel = *run.prepared->kernel;
  const std::size_t input_count = kernel.inputs().size();
  const std::size_t output_count = kernel.outputs().size();
  static thread_local std::vector<const void*> inputs;
  static thread_local std::vector<void*> outputs;
  inputs.clear();
  outputs.clear();
  for (std::size_t i = 0; i < output_count; ++i) {
    Chunk& chunk = *run.chunks[input_count + i];
    PITWALL_TRY(ensureBlock(chunk, kernel.outputs()[i].sizeBytes()));
    outputs.push_back(chunk.block.data());
  }
  for (std::size_t i = 0; i < input_count; ++i) inputs.push_back(run.chunks[i]->block.data());
  const Chunk& first = *run.chunks[0];
  return runKernelOn(*first.session, first.device, run.prepared->kernel,
                     {.inputs = inputs,
                      .outputs = outputs,
                      .rate = run.rate,
                      .rescale = run.rescale,
                      .context = {.seed = run.seed}});
}

void push(Session& session, PreparedPtr prepared, std::vector<Chunk*> chunks, const Call& call) {
  std::array<Variable, 16> few;
  std::vector<Variable> many;
  std::span<Variable> variables(few.data(), std::min(few.size(), chunks.size()));
  if (chunks.size() > few.size()) {
    many.resize(chunks.size());
    variables = many;
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) variables[i] = chunks[i]->variable;
  const std::size_t input_count = prepared->kernel->inputs().size();
  const OperatorId facts = prepared->facts;
  const Device device = chunks[0]->device;
  auto run =
      std::make_unique<Run>(Run{std::move(prepared), std::move(chunks), call.seed, call.rate, call.rescale});
  session.engine().push({.run = [run = std::move(run)](const RunContext&) { return runKernel(*run); },
                         .reads = variables.first(input_count),
                         .writes = variables.subspan(input_count),
                         .facts = facts,
                         .device = device});
  BulkRegion::countPush();
}

// "conv1: Convolution: <what>"
std::string placed(const SitePtr& site, const Call& call, const std::string& what) {
  const std::string layer = site != nullptr ? site->layer : std::string();
  return fmt::format("{}{}{}: {}", layer, layer.empty() ? "" : ": ", call.name, what);
}

Status requireOneDevice(const SitePtr& site, const Call& call) {
  const Device device = call.inputs[0]->device();
  const auto check = [&](const Value& value) -> Status {
    if (!value || value.device() == device) return {};
    return fail(ErrorCode::invalidInput,
                placed(site, call,
                       fmt::format("its arrays are on {} and {}; copy one to the other's device first "
                                   "(NDArray::copyTo)",
                                   toString(device), toString(value.device()))));
  };
  for (const Value* input : call.inputs) PITWALL_TRY(check(*input));
  for (const Value& output : call.outputs) PITWALL_TRY(check(output));
  return {};
}

bool matches(const Prepared& prepared, const Call& call) {
  if (prepared.name != call.name || prepared.pass != call.pass || prepared.phase != call.phase) return false;
  if (prepared.at_hand.size() != call.inputs.size()) return false;
  if (prepared.device_kind != call.inputs[0]->device().kind) return false;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorSpec& spec = prepared.at_hand[i];
    const Value& value = *call.inputs[i];
    if (spec.layout != value.chunk->layout || spec.dtype != value.chunk->dtype || spec.shape != value.shape)
      return false;
  }
  if (call.like != nullptr && prepared.like_layout != call.like->chunk->layout) return false;
  return prepared.desc == call.desc;
}

Result<PreparedPtr> prepare(Session& session, const SitePtr& site, const Call& call) {
  if (site != nullptr)
    for (const PreparedPtr& prepared : site->prepared)
      if (matches(*prepared, call)) return prepared;

  const std::string layer = site != nullptr ? site->layer : std::string();
  const Device device = call.inputs[0]->device();
  const Result<Backend*> backend = session.backend(device);
  if (!backend.has_value()) return fail(backend.error().code, placed(site, call, backend.error().message));
  auto made = std::make_shared<Prepared>();
  made->device_kind = device.kind;
  made->name = call.name;
  made->pass = call.pass;
  made->phase = call.phase;
  made->desc = call.desc;
  for (const Value* input : call.inputs) made->at_hand.push_back(input->spec());
  const TensorSpec like = call.like != nullptr ? call.like->spec() : TensorSpec{};
  made->like_layout = like.layout;
  Result<KernelPtr> kernel =
      (*backend)->prepare(call.desc, call.pass, made->at_hand, call.like != nullptr ? &like : nullptr);
  if (!kernel.has_value())
    return fail(kernel.error().code,
                fmt::format("{}{}{}", layer, layer.empty() ? "" : ": ", kernel.error().message));
  made->kernel = std::move(kernel).value();
  recordMeasured(session.profiler(), *made->kernel);
  const Flop flop = call.flop != nullptr ? call.flop(*made) : 0;
  made->facts =
      session.profiler().operatorFacts(describe(*made, layer, std::string((*backend)->name()), flop));
  if (site != nullptr) {
    auto& kept = site->prepared;
    if (kept.size() >= CallSiteState::kMaxPrepared) kept.erase(kept.begin());
    kept.push_back(made);
  }
  return PreparedPtr(std::move(made));
}

// The call itself, with inputs in the layouts that the kernel requires. `inputs` keeps reordered ones alive
// until they are pushed.
Status pushCall(const PreparedPtr& prepared, std::span<const Value> inputs, const Call& call) {
  const Kernel& kernel = *prepared->kernel;
  Session& session = call.inputs[0]->session();
  PITWALL_CHECK(kernel.outputs().size() == call.outputs.size(), "%s: %zu outputs, %zu arrays", call.name,
                kernel.outputs().size(), call.outputs.size());
  std::vector<Chunk*> chunks;
  chunks.reserve(inputs.size() + call.outputs.size());
  for (const Value& input : inputs) chunks.push_back(input.chunk.get());
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const TensorSpec& spec = kernel.outputs()[i];
    Value& output = call.outputs[i];
    if (!output) output = {makeChunk(session, call.inputs[0]->device(), call.tag, spec.dtype), spec.shape};
    PITWALL_CHECK(output.shape == spec.shape, "%s: output %zu is %s, kernel writes %s", call.name, i,
                  output.shape.toString().c_str(), spec.shape.toString().c_str());
    output.chunk->layout = spec.layout;
    chunks.push_back(output.chunk.get());
  }
  push(session, prepared, std::move(chunks), call);
  return {};
}

Result<PreparedPtr> prepareReorder(const SitePtr& site, const Value& value, const LayoutPtr& layout,
                                   Phase phase) {
  const Value* inputs[] = {&value};
  const OperatorKindDesc desc = ReorderDesc{layout};
  return prepare(value.session(), site, {.name = "Reorder", .desc = desc, .phase = phase, .inputs = inputs});
}

}  // namespace

Result<Value> withLayout(const SitePtr& site, const Value& value, const LayoutPtr& layout, Phase phase) {
  if (sameLayout(value.chunk->layout, layout)) return value;
  PreparedPtr prepared = PITWALL_TRY(prepareReorder(site, value, layout, phase));
  Value output{makeChunk(value.session(), value.device(), MemoryTag::workspace, value.chunk->dtype),
               value.shape};
  output.chunk->layout = layout;
  const OperatorKindDesc desc = ReorderDesc{layout};
  push(value.session(), prepared, {value.chunk.get(), output.chunk.get()}, {.name = "Reorder", .desc = desc});
  return output;
}

Status convertLayout(const SitePtr& site, const Value& value, const LayoutPtr& layout, Phase phase) {
  if (sameLayout(value.chunk->layout, layout)) return {};
  PreparedPtr prepared = PITWALL_TRY(prepareReorder(site, value, layout, phase));
  Chunk* chunk = value.chunk.get();
  const OperatorId facts = prepared->facts;
  auto run = [chunk, kept = prepared](const RunContext&) -> Status {
    const Bytes bytes = kept->kernel->outputs()[0].sizeBytes();
    Block block = PITWALL_TRY(allocateFor(*chunk, bytes));
    const void* input = chunk->block.data();
    void* output = block.data();
    PITWALL_TRY(runKernelOn(*chunk->session, chunk->device, kept->kernel,
                            {.inputs = {&input, 1}, .outputs = {&output, 1}}));
    if (chunk->device.kind == DeviceKind::gpu)
      PITWALL_TRY(freeAfterWork(*chunk->session, chunk->device, std::move(chunk->block)));
    chunk->block = std::move(block);
    return {};
  };
  const Variable writes[] = {chunk->variable};
  value.session().engine().push(
      {.run = std::move(run), .writes = writes, .facts = facts, .device = chunk->device});
  BulkRegion::countPush();
  chunk->layout = layout;
  return {};
}

Status invoke(const SitePtr& site, const Call& call) {
  PITWALL_TRY(requireOneDevice(site, call));
  Session& session = call.inputs[0]->session();
  const PreparedPtr prepared = PITWALL_TRY(prepare(session, site, call));
  const Kernel& kernel = *prepared->kernel;
  PITWALL_CHECK(kernel.inputs().size() == call.inputs.size(), "%s: %zu inputs, %zu arrays", call.name,
                kernel.inputs().size(), call.inputs.size());

  // Outputs that are also read must have the layout that the kernel expects.
  for (std::size_t i = call.updates_from; i < call.outputs.size(); ++i) {
    PITWALL_TRY(convertLayout(site, call.outputs[i], kernel.outputs()[i].layout, call.phase));
  }
  std::array<Value, 8> few;
  std::vector<Value> many;
  std::span<Value> inputs(few.data(), std::min(few.size(), call.inputs.size()));
  if (call.inputs.size() > few.size()) {
    many.resize(call.inputs.size());
    inputs = many;
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Value& value = *call.inputs[i];
    const LayoutPtr& wanted = kernel.inputs()[i].layout;
    inputs[i] = value;
    if (sameLayout(value.chunk->layout, wanted)) continue;
    if ((call.keeps >> i & 1U) != 0 && !value.chunk->viewed) {
      PITWALL_TRY(convertLayout(site, value, wanted, call.phase));
    } else {
      inputs[i] = PITWALL_TRY(withLayout(site, value, wanted, call.phase));
    }
  }
  return pushCall(prepared, inputs, call);
}

CallSite::CallSite(std::string layer) : state_(std::make_shared<CallSiteState>()) {
  state_->layer = std::move(layer);
}

Status requireArrays(const CallSite& site, const char* name, std::initializer_list<NamedArray> arrays) {
  for (const NamedArray& named : arrays) {
    if (named.array) continue;
    const std::string layer = site.state() != nullptr ? site.state()->layer : std::string();
    return fail(
        ErrorCode::invalidInput,
        fmt::format("{}{}{}: {} is an empty handle; make the array first (NDArray::empty, fromValues)", layer,
                    layer.empty() ? "" : ": ", name, named.name));
  }
  return {};
}

}  // namespace pitwall
