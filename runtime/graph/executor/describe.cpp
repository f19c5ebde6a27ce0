#include "runtime/graph/executor/describe.h"

#include <fmt/format.h>

#include <cstdio>

#include "runtime/operators/pointwise.h"

namespace pitwall::graph {

namespace {

// "conv1 802816 bytes (block 2)"; tensors of several layers have the name of the node that made them.
std::string describeTensor(const BoundProgram& p, int tensor) {
  const int base = baseOf(p.program, tensor);
  const int block = p.plan.block_of[position(base)];
  const Tensor& made = p.program.tensors[position(base)];
  std::string place = "array";
  if (block >= 0) {
    place = fmt::format("block {}", block);
  } else if (p.own_outputs[position(base)] != nullptr) {
    place = "output";
  } else if (p.weights->dataOf(base) != nullptr) {
    place = "converted weight";
  }
  return fmt::format("{} {} bytes ({})", made.name, p.schedule.specs[position(tensor)].sizeBytes(), place);
}

std::string describeTensors(const BoundProgram& p, const std::vector<int>& tensors) {
  std::string text;
  for (const int tensor : tensors) {
    if (tensor >= 0) text += (text.empty() ? "" : ", ") + describeTensor(p, tensor);
  }
  return text;
}

}  // namespace

std::string describeSteps(const BoundProgram& p) {
  std::string text;
  for (std::size_t i = 0; i < p.schedule.steps.size(); ++i) {
    const Step& step = p.schedule.steps[i];
    const TensorSpec& out = step.kernel->outputs()[0];
    const int block = p.plan.block_of[position(baseOf(p.program, step.outputs[0]))];
    text += fmt::format("{:4} {} {}: {} -> {} {} {} {}\n", i, step.name, step.layer,
                        step.kernel->inputs()[0].shape.toString(), out.shape.toString(),
                        out.layout ? out.layout->toString() : "row-major", step.kernel->implementation(),
                        block >= 0 ? fmt::format("block {}", block) : "own memory");
  }
  return text;
}

std::string describeMemory(const BoundProgram& p) {
  std::string text = fmt::format("{} blocks, {} bytes; {} bytes if none were shared\n", p.plan.blocks.size(),
                                 p.plan.total(), p.plan.unshared);
  for (std::size_t i = 0; i < p.plan.blocks.size(); ++i)
    text +=
        fmt::format("     block {}: {} bytes at {}\n", i, p.plan.blocks[i].bytes, p.plan.blocks[i].offset);
  for (std::size_t i = 0; i < p.schedule.steps.size(); ++i) {
    const Step& step = p.schedule.steps[i];
    const int workspace = p.plan.workspace_of[i];
    text += fmt::format("{:4} {} {}: reads {}; writes {}{}\n", i, step.name, step.layer,
                        describeTensors(p, step.inputs), describeTensors(p, step.outputs),
                        workspace < 0 ? ""
                                      : fmt::format("; workspace {} bytes (block {})",
                                                    step.kernel->workspaceBytes(), workspace));
  }
  return text;
}

std::string describeFusions(const BoundProgram& p) {
  std::string text;
  for (const Step& step : p.schedule.steps)
    if (step.layer.find('+') != std::string::npos)
      text += fmt::format("executor: fused {} into one {}\n", step.layer, step.name);
  return text.empty() ? "executor: nothing is fused\n" : text;
}

std::string describePointwise(const BoundProgram& p) {
  std::string text;
  for (const Step& step : p.schedule.steps)
    if (step.desc.is<PointwiseDesc>())
      text += fmt::format("executor: fused {}: {}\n", step.layer, step.desc.as<PointwiseDesc>().toString());
  return text;
}

void printAsSet(const BoundProgram& p) {
  const Settings& settings = p.session.settings();
  std::string text;
  if (settings.isSet("MXNET_SUBGRAPH_VERBOSE") && settings.boolean("MXNET_SUBGRAPH_VERBOSE"))
    text += describeFusions(p);
  if (settings.boolean("MXNET_FUSION_VERBOSE")) text += describePointwise(p);
  if (settings.boolean("MXNET_RTC_VERBOSE"))
    text +=
        fmt::format("executor: the search for operators to fuse took {:.3f} ms\n", p.fusion_seconds * 1e3);
  if (settings.boolean("MXNET_EXEC_VERBOSE_LOGGING"))
    text += fmt::format("executor: {} kernels\n", p.schedule.steps.size()) + describeSteps(p);
  if (settings.boolean("MXNET_MEM_PLAN_VERBOSE_LOGGING")) text += "executor: memory of " + describeMemory(p);
  std::fputs(text.c_str(), stderr);
}

}  // namespace pitwall::graph
