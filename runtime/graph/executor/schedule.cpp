#include "runtime/graph/executor/schedule.h"

#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/operators/convolution.h"
#include "runtime/operators/normalized_convolution.h"
#include "runtime/operators/reorder.h"

namespace pitwall::graph {

namespace {

class Scheduler {
 public:
  Scheduler(Program& program, const std::vector<ArrayLayout>& layouts, Backend& backend)
      : program_(program), layouts_(layouts), backend_(backend), is_settled_(program.tensors.size()) {
    for (const Tensor& tensor : program_.tensors)
      schedule_.specs.push_back({tensor.shape, tensor.dtype, nullptr});
  }

  Result<Schedule> run() {
    bool is_forward = true;
    for (const Operation& operation : program_.operations) {
      if (is_forward && operation.phase == Phase::backward) {
        PITWALL_TRY(endForward());
        is_forward = false;
      }
      PITWALL_TRY(add(operation));
    }
    if (is_forward) PITWALL_TRY(endForward());
    return std::move(schedule_);
  }

 private:
  Status endForward() {
    for (const int output : program_.outputs) {
      const int contents = PITWALL_TRY(readable(output));
      schedule_.outputs.push_back(PITWALL_TRY(inLayout(contents, nullptr)));
    }
    schedule_.forward_steps = schedule_.steps.size();
    return {};
  }

  // A view in another shape needs row-major contents.
  Result<int> readable(int tensor) {
    Tensor& view = program_.tensors[position(tensor)];
    if (view.view_of < 0) return tensor;
    const int base = PITWALL_TRY(readable(view.view_of));
    settle(base, nullptr);  // the view has its layout
    const bool same_shape =
        program_.tensors[position(base)].shape == program_.tensors[position(tensor)].shape;
    const int contents = same_shape ? base : PITWALL_TRY(inLayout(base, nullptr));
    program_.tensors[position(tensor)].view_of = contents;
    schedule_.specs[position(tensor)].layout = schedule_.specs[position(contents)].layout;
    return tensor;
  }

  Status add(const Operation& operation) {
    if (isUpdate(operation)) {
      PITWALL_TRY(readable(operation.inputs[1]));
      settle(operation.inputs[0], schedule_.specs[position(operation.inputs[1])].layout);
    }
    std::vector<TensorSpec> specs;
    for (const int input : operation.inputs) {
      PITWALL_TRY(readable(input));
      specs.push_back(schedule_.specs[position(input)]);
    }
    Step step{.layer = operation.layer,
              .name = operation.name,
              .desc = operation.desc,
              .outputs = operation.outputs,
              .flop = operation.flop,
              .pass = operation.pass,
              .phase = operation.phase};
    const TensorSpec* const like = operation.like >= 0 ? &schedule_.specs[position(operation.like)] : nullptr;
    step.kernel = PITWALL_TRY(prepared(operation.layer, operation.desc, operation.pass, specs, like));
    if (isUpdate(operation) &&
        !(step.kernel->outputs()[0] == specs[0] && step.kernel->inputs()[0] == specs[0]))
      return fail(ErrorCode::internal, fmt::format("{}: {} does not keep the layout of the array",
                                                   operation.layer, operation.name));
    for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
      const LayoutPtr& wanted = step.kernel->inputs()[i].layout;
      step.inputs.push_back(
          operation.reads(i) ? PITWALL_TRY(inLayout(operation.inputs[i], wanted, operation.phase)) : -1);
    }
    // A kernel may write less or more than the graph asks for.
    while (step.outputs.size() < step.kernel->outputs().size())
      step.outputs.push_back(addTensor(operation.layer, step.kernel->outputs()[step.outputs.size()]));
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      schedule_.specs[position(step.outputs[i])] = step.kernel->outputs()[i];
      is_settled_[position(step.outputs[i])] = true;
    }
    schedule_.steps.push_back(std::move(step));
    return {};
  }

  // Adds to an array that has contents.
  bool isUpdate(const Operation& operation) const {
    return operation.outputs.size() == 1 && !operation.inputs.empty() &&
           operation.inputs[0] == operation.outputs[0];
  }

  // The array has this layout from now on, unless another has been decided.
  void settle(int tensor, const LayoutPtr& layout) {
    if (is_settled_[position(tensor)]) return;
    is_settled_[position(tensor)] = true;
    if (adopts(tensor)) schedule_.specs[position(tensor)].layout = layout;
  }

  bool adopts(int tensor) const {
    return position(tensor) < layouts_.size() && program_.tensors[position(tensor)].isArray() &&
           layouts_[position(tensor)] == ArrayLayout::adopted;
  }

  Result<KernelPtr> prepared(const std::string& layer, const OperatorKindDesc& desc, Pass pass,
                             const std::vector<TensorSpec>& specs, const TensorSpec* like = nullptr) {
    auto kernel = backend_.prepare(desc, pass, specs, like);
    if (!kernel.has_value())
      return fail(kernel.error().code, fmt::format("{}: {}", layer, kernel.error().message));
    return kernel;
  }

  // The tensor itself where it has the layout, or takes it.
  Result<int> inLayout(int tensor, const LayoutPtr& layout, Phase phase = Phase::forward) {
    if (program_.tensors[position(tensor)].isArray()) settle(tensor, layout);
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
                                 .outputs = {to},
                                 .pass = Pass::forward,
                                 .phase = phase});
    }
    return to;
  }

  bool isConstant(int tensor) const {
    const int base = baseOf(program_, tensor);
    const Tensor& contents = program_.tensors[position(base)];
    return contents.is_folded ||
           (contents.variable >= 0 && layouts_[position(base)] == ArrayLayout::constant);
  }

  int addTensor(const std::string& name, const TensorSpec& spec) {
    program_.tensors.push_back({.name = name, .shape = spec.shape, .dtype = spec.dtype});
    schedule_.specs.push_back(spec);
    is_settled_.push_back(true);
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  Program& program_;
  const std::vector<ArrayLayout>& layouts_;
  Backend& backend_;
  std::vector<bool> is_settled_;  // by tensor; of an array: its layout is decided
  Schedule schedule_;
  std::vector<std::pair<int, int>> reordered_;
};

}  // namespace

std::vector<bool> readBySteps(const Program& program, const Schedule& schedule) {
  std::vector<bool> read(program.tensors.size(), false);
  for (const Step& step : schedule.steps)
    for (const int input : step.inputs)
      if (input >= 0) read[position(baseOf(program, input))] = true;
  return read;
}

namespace {

using Implementation = ConvolutionDesc::Implementation;

// Kernels on blocked data are taken where they need at most this part of the time: less may be noise, in a network Winograd's algorithm
// loses more to cold caches than others, and the weights may take more memory.
constexpr double kClearlyFaster = 0.9;

void implementConvolutions(Program& program, Implementation implementation) {
  for (Operation& operation : program.operations) {
    if (operation.desc.is<ConvolutionDesc>()) {
      ConvolutionDesc desc = operation.desc.as<ConvolutionDesc>();
      desc.implementation = implementation;
      operation.desc = desc;
    } else if (operation.desc.is<NormalizedConvolutionDesc>()) {
      NormalizedConvolutionDesc desc = operation.desc.as<NormalizedConvolutionDesc>();
      desc.convolution.implementation = implementation;
      operation.desc = desc;
    }
  }
}

double measuredSeconds(const Schedule& schedule) {
  double sum = 0;
  for (const Step& step : schedule.steps) sum += step.kernel->measuredSeconds();
  return sum;
}

}  // namespace

Result<Schedule> fastestSchedule(Program& program, const std::vector<ArrayLayout>& layouts,
                                 Backend& backend) {
  Program on_blocked = program;
  implementConvolutions(program, Implementation::measured);
  Schedule first = PITWALL_TRY(schedule(program, layouts, backend));
  const double seconds = measuredSeconds(first);
  if (seconds == 0) return first;
  implementConvolutions(on_blocked, Implementation::blocked);
  Schedule other = PITWALL_TRY(schedule(on_blocked, layouts, backend));
  if (measuredSeconds(other) > kClearlyFaster * seconds) return first;
  program = std::move(on_blocked);
  return other;
}

Result<Schedule> schedule(Program& program, const std::vector<ArrayLayout>& layouts, Backend& backend) {
  return Scheduler(program, layouts, backend).run();
}

}  // namespace pitwall::graph
