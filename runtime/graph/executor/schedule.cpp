#include "runtime/graph/executor/schedule.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/reorder.h"

namespace pitwall::graph {

namespace {

class Scheduler {
 public:
  Scheduler(Program& program, const std::vector<bool>& is_input, Backend& backend)
      : program_(program), is_input_(is_input), backend_(backend) {
    for (const Tensor& tensor : program_.tensors)
      schedule_.specs.push_back({tensor.shape, tensor.dtype, nullptr});
  }

  Result<Schedule> run() {
    for (Operation& operation : program_.operations) {
      for (int& input : operation.inputs) input = PITWALL_TRY(readable(input));
      PITWALL_TRY(add(operation));
    }
    for (int output : program_.outputs) {
      output = PITWALL_TRY(readable(output));
      schedule_.outputs.push_back(PITWALL_TRY(inLayout(output, nullptr)));
    }
    return std::move(schedule_);
  }

 private:
  // A view in another shape needs row-major contents.
  Result<int> readable(int tensor) {
    Tensor& view = program_.tensors[position(tensor)];
    if (view.view_of < 0) return tensor;
    const int base = PITWALL_TRY(readable(view.view_of));
    const bool same_shape =
        program_.tensors[position(base)].shape == program_.tensors[position(tensor)].shape;
    const int contents = same_shape ? base : PITWALL_TRY(inLayout(base, nullptr));
    program_.tensors[position(tensor)].view_of = contents;
    schedule_.specs[position(tensor)].layout = schedule_.specs[position(contents)].layout;
    return tensor;
  }

  Status add(const Operation& operation) {
    std::vector<TensorSpec> specs;
    for (const int input : operation.inputs) specs.push_back(schedule_.specs[position(input)]);
    Step step;
    step.layer = operation.layer;
    step.name = operation.name;
    step.desc = operation.desc;
    step.kernel = PITWALL_TRY(prepared(operation.layer, operation.desc, Pass::inference, specs));
    step.outputs = operation.outputs;
    step.flop = operation.flop;
    for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
      const LayoutPtr& wanted = step.kernel->inputs()[i].layout;
      step.inputs.push_back(PITWALL_TRY(inLayout(operation.inputs[i], wanted)));
    }
    // A kernel may write less or more than the graph asks for.
    while (step.outputs.size() < step.kernel->outputs().size())
      step.outputs.push_back(addTensor(operation.layer, step.kernel->outputs()[step.outputs.size()]));
    for (std::size_t i = 0; i < step.outputs.size(); ++i)
      schedule_.specs[position(step.outputs[i])] = step.kernel->outputs()[i];
    schedule_.steps.push_back(std::move(step));
    return {};
  }

  Result<KernelPtr> prepared(const std::string& layer, const OperatorKindDesc& desc, Pass pass,
                             const std::vector<TensorSpec>& specs) {
    auto kernel = backend_.prepare(desc, pass, specs);
    if (!kernel.has_value())
      return fail(kernel.error().code, fmt::format("{}: {}", layer, kernel.error().message));
    return kernel;
  }

  // The tensor itself where it has the layout.
  Result<int> inLayout(int tensor, const LayoutPtr& layout) {
    if (sameLayout(schedule_.specs[position(tensor)].layout, layout)) return tensor;
    for (const auto& [from, to] : reordered_)
      if (from == tensor && sameLayout(schedule_.specs[position(to)].layout, layout)) return to;
    const OperatorKindDesc desc = ReorderDesc{layout};
    const std::string layer = program_.tensors[position(tensor)].name;
    const KernelPtr kernel =
        PITWALL_TRY(prepared(layer, desc, Pass::forward, {schedule_.specs[position(tensor)]}));
    const int to = addTensor(layer, kernel->outputs()[0]);
    reordered_.emplace_back(tensor, to);
    if (isConstant(tensor)) {
      schedule_.constants.push_back({tensor, to, kernel});
    } else {
      schedule_.steps.push_back({.layer = layer,
                                 .name = "Reorder",
                                 .desc = desc,
                                 .kernel = kernel,
                                 .inputs = {tensor},
                                 .outputs = {to}});
    }
    return to;
  }

  bool isConstant(int tensor) const {
    const int base = baseOf(program_, tensor);
    const Tensor& contents = program_.tensors[position(base)];
    return contents.is_folded || (contents.variable >= 0 && !is_input_[position(base)]);
  }

  int addTensor(const std::string& name, const TensorSpec& spec) {
    program_.tensors.push_back({.name = name, .shape = spec.shape, .dtype = spec.dtype});
    schedule_.specs.push_back(spec);
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  Program& program_;
  const std::vector<bool>& is_input_;
  Backend& backend_;
  Schedule schedule_;
  std::vector<std::pair<int, int>> reordered_;
};

}  // namespace

std::vector<bool> readBySteps(const Program& program, const Schedule& schedule) {
  std::vector<bool> read(program.tensors.size(), false);
  for (const Step& step : schedule.steps)
    for (const int input : step.inputs) read[position(baseOf(program, input))] = true;
  return read;
}

Result<Schedule> schedule(Program& program, const std::vector<bool>& is_input, Backend& backend) {
  return Scheduler(program, is_input, backend).run();
}

}  // namespace pitwall::graph
