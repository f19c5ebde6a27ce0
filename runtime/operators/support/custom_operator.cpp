#include "runtime/custom_operator.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/array/facts.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"

namespace pitwall {
namespace {

using OperatorPtr = std::shared_ptr<const CustomOperator>;

std::string placed(const CallSite& site, const CustomOperator& op, std::string_view what) {
  const std::string layer = site.state() != nullptr ? site.state()->layer : std::string();
  return fmt::format("{}{}{}: {}", layer, layer.empty() ? "" : ": ", op.name, what);
}

std::vector<Shape> shapesOf(std::span<const Value> values) {
  std::vector<Shape> shapes;
  for (const Value& value : values) shapes.push_back(value.shape);
  return shapes;
}

std::span<const float> valuesOf(const Chunk& chunk, const Shape& shape) {
  return {reinterpret_cast<const float*>(chunk.block.data()), static_cast<std::size_t>(shape.elements())};
}

// Memory for the output; its former contents may be lost.
Result<std::span<float>> writable(Chunk& chunk, const Shape& shape) {
  PITWALL_TRY(ensureBlock(chunk, shape.elements() * sizeOf(DType::float32)));
  return std::span(reinterpret_cast<float*>(chunk.block.data()), static_cast<std::size_t>(shape.elements()));
}

// An array as a pushed operator keeps it: the engine deletes the chunk after the operator.
struct Kept {
  Chunk* chunk = nullptr;  // nullptr: no gradient is needed
  Shape shape;
};

Kept kept(const Value& value) { return {value.chunk.get(), value.shape}; }

Result<std::vector<CustomInput>> inputsOf(const CustomOperator& op, std::span<const Kept> arrays) {
  std::vector<CustomInput> inputs;
  for (const Kept& array : arrays) {
    if (array.chunk->block.size() < array.shape.elements() * sizeOf(DType::float32))
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: input {} was never written", op.name, inputs.size()));
    inputs.push_back({array.shape, valuesOf(*array.chunk, array.shape)});
  }
  return inputs;
}

struct Forward {
  OperatorPtr op;
  std::vector<Kept> inputs;
  Kept output;

  Status operator()(const RunContext&) const {
    CustomForward call;
    call.inputs = PITWALL_TRY(inputsOf(*op, inputs));
    call.shape = output.shape;
    call.output = PITWALL_TRY(writable(*output.chunk, output.shape));
    return op->forward(call);
  }
};

struct Backward {
  OperatorPtr op;
  std::vector<Kept> inputs;
  Kept output, head;
  std::vector<Kept> gradients;

  Status operator()(const RunContext&) const {
    CustomBackward call;
    call.inputs = PITWALL_TRY(inputsOf(*op, inputs));
    call.output = {output.shape, valuesOf(*output.chunk, output.shape)};
    call.head = valuesOf(*head.chunk, head.shape);
    for (const Kept& gradient : gradients) {
      std::span<float> values;
      if (gradient.chunk != nullptr) values = PITWALL_TRY(writable(*gradient.chunk, gradient.shape));
      call.gradients.push_back(values);
    }
    return op->backward(call);
  }
};

// What the trace says of a call.
OperatorFacts factsOf(const std::string& name, const CallSite& site, std::span<const Value> reads,
                      std::span<const Value> writes, Phase phase, Flop flop) {
  OperatorFacts facts;
  facts.name = name;
  facts.layer = site.state() != nullptr ? site.state()->layer : std::string();
  facts.dtype = toString(DType::float32);
  facts.backend = "program";
  facts.phase = phase;
  facts.flop = flop;
  const auto add = [&facts](std::span<const Value> values, Bytes& bytes) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      facts.shapes += (i == 0 ? "" : ",") + values[i].shape.toString();
      bytes += values[i].spec().sizeBytes();
    }
  };
  add(reads, facts.bytes_read);
  facts.shapes += "->";
  add(writes, facts.bytes_written);
  return facts;
}

template <class Run>
void pushRun(Run run, std::span<const Value> reads, std::span<const Value> writes,
             const OperatorFacts& facts) {
  Session& session = reads.front().session();
  std::vector<Variable> read, written;
  for (const Value& value : reads) read.push_back(value.chunk->variable);
  for (const Value& value : writes) written.push_back(value.chunk->variable);
  session.engine().push({.run = [run = std::make_unique<Run>(std::move(run))](
                                    const RunContext& context) { return (*run)(context); },
                         .reads = read,
                         .writes = written,
                         .facts = session.profiler().operatorFacts(facts),
                         .device = reads.front().device()});
  BulkRegion::countPush();
}

struct CustomNode final : autograd::Node {
  // Where the gradient of an input goes; empty when none is needed. An array that is given twice gets two, which are added.
  Value gradientOf(autograd::Gradients& gradients, std::size_t i) const {
    if (!gradients.wanted(i)) return {};
    const bool again = std::any_of(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const NDArray& other) { return other.impl() == inputs[i].impl(); });
    Value value = again ? Value() : gradients.target(i);
    if (!value)
      value = {makeChunk(out.session(), out.device(), MemoryTag::gradients, DType::float32), saved[i].shape};
    value.chunk->layout = nullptr;
    return value;
  }

  Status backward(autograd::Gradients& gradients) override {
    Backward run{op, {}, kept(out), {}, {}};
    const Value out_gradient = PITWALL_TRY(withLayout(site, gradients.head(), nullptr, Phase::backward));
    run.head = kept(out_gradient);
    std::vector<Value> reads = saved, writes;
    for (const Value& input : saved) run.inputs.push_back(kept(input));
    reads.push_back(out);
    reads.push_back(out_gradient);
    std::vector<Value> made(saved.size());
    for (std::size_t i = 0; i < saved.size(); ++i) {
      made[i] = gradientOf(gradients, i);
      if (made[i]) writes.push_back(made[i]);
      run.gradients.push_back(made[i] ? kept(made[i]) : Kept{});
    }
    if (writes.empty()) return {};
    pushRun(std::move(run), reads, writes,
            factsOf("_backward_" + op->name, call_site, reads, writes, Phase::backward, 0));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (made[i]) PITWALL_TRY(gradients.give(i, made[i]));
    }
    return {};
  }

  OperatorPtr op;
  CallSite call_site;
  std::vector<Value> saved;  // inputs, row-major
  Value out;
};

Status check(const CustomOperator& op, std::span<const NDArray> inputs, const CallSite& site) {
  const auto wrong = [&](const std::string& what) {
    return fail(ErrorCode::invalidInput, placed(site, op, what));
  };
  if (!op.shape || !op.forward) return wrong("its functions shape and forward must be given");
  if (inputs.empty()) return wrong("it has no inputs; give at least one array");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i])
      return wrong(
          fmt::format("input {} is an empty handle; make the array first (NDArray::empty, fromValues)", i));
    if (inputs[i].dtype() != DType::float32)
      return wrong(fmt::format("input {} has values of {}; only float32 is supported", i,
                               toString(inputs[i].dtype())));
    if (inputs[i].device() != inputs[0].device())
      return wrong(
          fmt::format("its arrays are on {} and {}; copy one to the other's device first (NDArray::copyTo)",
                      toString(inputs[0].device()), toString(inputs[i].device())));
  }
  if (inputs[0].device().kind != DeviceKind::cpu)
    return fail(
        ErrorCode::unsupported,
        placed(
            site, op,
            fmt::format("its functions run on a CPU, its arrays are on {}; copy them first (NDArray::copyTo)",
                        toString(inputs[0].device()))));
  return {};
}

bool needsGradient(std::span<const NDArray> inputs) {
  return autograd::isRecording() && std::any_of(inputs.begin(), inputs.end(), autograd::isTracked);
}

}  // namespace

Result<NDArray> op::custom(const CustomOperator& custom, std::span<const NDArray> inputs,
                           const CallSite& site) {
  PITWALL_TRY(check(custom, inputs, site));
  const bool differentiated = needsGradient(inputs);
  if (differentiated && !custom.backward)
    return fail(ErrorCode::unsupported, placed(site, custom,
                                               "it has no gradient, which an input needs; give it backward, "
                                               "or call it in an autograd::PauseScope"));
  std::vector<Value> reads;
  for (const NDArray& input : inputs)
    reads.push_back(PITWALL_TRY(withLayout(site.state(), valueOf(input), nullptr, Phase::forward)));
  const std::vector<Shape> shapes = shapesOf(reads);
  const Result<Shape> shape = custom.shape(shapes);
  if (!shape.has_value()) return fail(shape.error().code, placed(site, custom, shape.error().message));

  const auto shared = std::make_shared<const CustomOperator>(custom);
  const Value output{makeChunk(reads[0].session(), reads[0].device(), MemoryTag::activations, DType::float32),
                     *shape};
  Forward run{shared, {}, kept(output)};
  for (const Value& read : reads) run.inputs.push_back(kept(read));
  const Flop flop = custom.flop ? custom.flop(shapes) : 0;
  pushRun(std::move(run), reads, {&output, 1},
          factsOf(custom.name, site, reads, {&output, 1}, Phase::forward, flop));
  NDArray result = makeArray(output);
  if (differentiated) {
    auto node = std::make_shared<CustomNode>();
    node->inputs.assign(inputs.begin(), inputs.end());
    node->site = site.state();
    node->call_site = site;
    node->op = shared;
    node->saved = std::move(reads);
    node->out = output;
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
