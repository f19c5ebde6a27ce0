#include "runtime/graph/executor/plan_memory.h"

#include <algorithm>
#include <numeric>

#include "runtime/operators/activation.h"
#include "runtime/operators/add_n.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/clip.h"
#include "runtime/operators/convolution.h"
#include "runtime/operators/dropout.h"
#include "runtime/operators/linear.h"
#include "runtime/operators/normalized_convolution.h"
#include "runtime/operators/pointwise.h"
#include "runtime/operators/quantized_convolution.h"

namespace pitwall::graph {

namespace {

// The input whose memory the step's output may have; -1: none.
int writableInput(const Step& step) {
  if (step.pass == Pass::backward) {
    if (step.desc.is<ActivationDesc>()) return 2;
    if (step.desc.is<ClipDesc>()) return 1;
    return step.desc.is<DropoutDesc>() ? 0 : -1;
  }
  if (step.desc.is<ActivationDesc>() || step.desc.is<ClipDesc>() || step.desc.is<BinaryDesc>() ||
      step.desc.is<AddNDesc>() || step.desc.is<LinearDesc>() || step.desc.is<PointwiseDesc>())
    return 0;
  if (step.desc.is<BatchNormDesc>()) return step.pass == Pass::inference ? 0 : -1;
  if (step.desc.is<NormalizedConvolutionDesc>()) {
    const auto& normalized = step.desc.as<NormalizedConvolutionDesc>();
    return normalized.convolution.adds ? static_cast<int>(normalized.firstOfNorm()) - 1 : -1;
  }
  const bool is_quantized = step.desc.is<QuantizedConvolutionDesc>();
  if (!is_quantized && !step.desc.is<ConvolutionDesc>()) return -1;
  const ConvolutionDesc& convolution =
      is_quantized ? step.desc.as<QuantizedConvolutionDesc>().convolution : step.desc.as<ConvolutionDesc>();
  return convolution.adds ? static_cast<int>(step.inputs.size()) - 1 : -1;
}

// By step: its path. The longest chain of steps, each of which reads a result of the one before, is a path, then the longest of the
// others, and so on; the steps that are left belong to path 0.
std::vector<std::size_t> pathsOf(const Program& program, const Schedule& schedule, std::int64_t paths) {
  const std::size_t count = schedule.steps.size();
  std::vector<std::size_t> path(count, 0);
  if (paths <= 1) return path;
  std::vector<int> maker(program.tensors.size(), -1);
  std::vector<std::vector<int>> before(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const int input : schedule.steps[i].inputs)
      if (input >= 0 && maker[position(baseOf(program, input))] >= 0)
        before[i].push_back(maker[position(baseOf(program, input))]);
    for (const int output : schedule.steps[i].outputs) maker[position(output)] = static_cast<int>(i);
  }
  std::vector<bool> is_taken(count, false);
  for (std::int64_t number = 0; number < std::min<std::int64_t>(paths, static_cast<std::int64_t>(count));
       ++number) {
    std::vector<int> length(count, 0), previous(count, -1);
    int last = -1;
    for (std::size_t i = 0; i < count; ++i) {
      if (is_taken[i]) continue;
      for (const int step : before[i])
        if (length[position(step)] > length[i]) {
          length[i] = length[position(step)];
          previous[i] = step;
        }
      ++length[i];
      if (last < 0 || length[i] > length[position(last)]) last = static_cast<int>(i);
    }
    for (int step = last; step >= 0; step = previous[position(step)]) {
      is_taken[position(step)] = true;
      path[position(step)] = static_cast<std::size_t>(number);
    }
  }
  return path;
}

constexpr Bytes kPlaceAlignment = 128;      // two cache lines, as the prefetcher fetches them
constexpr Bytes kWorkspaceAlignment = 256;  // of cuBLASLt

// Results that have the same memory one after the other, each written over the one before, or a workspace.
struct Chain {
  Bytes bytes = 0;
  int first_step = 0, last_step = 0;  // while it is needed
};

class Planner {
 public:
  Planner(const Program& program, const Schedule& schedule, const MemoryPlanOptions& options)
      : program_(program),
        schedule_(schedule),
        options_(options),
        path_(pathsOf(program, schedule, options.paths)) {
    plan_.block_of.assign(program.tensors.size(), -1);
    plan_.workspace_of.assign(schedule.steps.size(), -1);
    is_planned_.assign(program.tensors.size(), false);
    for (const Step& step : schedule.steps)
      for (const int output : step.outputs)
        is_planned_[position(output)] = !program.tensors[position(output)].isArray();
    for (const int output : schedule.outputs) is_planned_[position(baseOf(program_, output))] = false;
    last_use_.assign(program.tensors.size(), -1);
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      for (const int input : schedule.steps[i].inputs)
        if (input >= 0) last_use_[position(baseOf(program_, input))] = static_cast<int>(i);
      for (const int output : schedule.steps[i].outputs)
        last_use_[position(output)] = std::max(last_use_[position(output)], static_cast<int>(i));
    }
  }

  MemoryPlan run() {
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      const Step& step = schedule_.steps[i];
      for (std::size_t k = 0; k < step.outputs.size(); ++k) chain(static_cast<int>(i), step, k);
      if (options_.workspaces && step.kernel->workspaceBytes() > 0) addWorkspace(static_cast<int>(i), step);
    }
    place();
    return std::move(plan_);
  }

 private:
  // All places are multiples of it.
  Bytes rounded(Bytes bytes) const {
    const Bytes alignment = options_.workspaces ? kWorkspaceAlignment : kPlaceAlignment;
    return (bytes + alignment - 1) / alignment * alignment;
  }
  Bytes sizeOf(int tensor) const { return rounded(schedule_.specs[position(tensor)].sizeBytes()); }

  void addWorkspace(int step_index, const Step& step) {
    const Bytes bytes = rounded(step.kernel->workspaceBytes());
    plan_.unshared += bytes;
    plan_.workspace_of[position(step_index)] = static_cast<int>(chains_.size());
    chains_.push_back({bytes, step_index, step_index});
  }

  void chain(int step_index, const Step& step, std::size_t output) {
    const int tensor = step.outputs[output];
    if (!is_planned_[position(tensor)]) return;
    plan_.unshared += sizeOf(tensor);
    const int last = last_use_[position(tensor)];
    const int before = output == 0 ? overwritten(step_index, step, tensor) : -1;
    if (before >= 0) {
      plan_.block_of[position(tensor)] = before;
      chains_[position(before)].last_step = last;
      return;
    }
    plan_.block_of[position(tensor)] = static_cast<int>(chains_.size());
    chains_.push_back({sizeOf(tensor), step_index, last});
  }

  // The chain that the result continues; -1: none.
  int overwritten(int step_index, const Step& step, int tensor) const {
    const int which = options_.in_place ? writableInput(step) : -1;
    if (which < 0) return -1;
    const int input = baseOf(program_, step.inputs[position(which)]);
    const int before = plan_.block_of[position(input)];
    if (before < 0 || chains_[position(before)].last_step != step_index ||
        schedule_.specs[position(input)].sizeBytes() != schedule_.specs[position(tensor)].sizeBytes())
      return -1;
    if (!sameLayout(schedule_.specs[position(input)].layout, schedule_.specs[position(tensor)].layout))
      return -1;
    // The kernel reads the other inputs while it writes.
    const auto same = [&](int other) { return other >= 0 && baseOf(program_, other) == input; };
    return std::count_if(step.inputs.begin(), step.inputs.end(), same) == 1 ? before : -1;
  }

  // The largest chains first, each in the smallest gap between those whose memory it may not have.
  void place() {
    std::vector<int> order(chains_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
      return chains_[position(a)].bytes > chains_[position(b)].bytes;
    });
    plan_.blocks.resize(chains_.size());
    std::vector<int> placed;  // by offset
    for (const int chain : order) {
      const Bytes bytes = chains_[position(chain)].bytes;
      Bytes end = 0, best = -1, best_gap = 0;
      for (const int other : placed) {
        if (mayShare(chains_[position(chain)], chains_[position(other)])) continue;
        const PlannedBlock& there = plan_.blocks[position(other)];
        const Bytes gap = there.offset - end;
        if (gap >= bytes && (best < 0 || gap < best_gap)) {
          best = end;
          best_gap = gap;
        }
        end = std::max(end, there.offset + there.bytes);
      }
      plan_.blocks[position(chain)] = {best >= 0 ? best : end, bytes};
      const auto after = std::upper_bound(placed.begin(), placed.end(), chain, [this](int a, int b) {
        return plan_.blocks[position(a)].offset < plan_.blocks[position(b)].offset;
      });
      placed.insert(after, chain);
    }
  }

  // One is no longer needed when the other begins, on the same path, and their sizes are near enough.
  bool mayShare(const Chain& a, const Chain& b) const {
    if (a.first_step > b.first_step) return mayShare(b, a);
    const Bytes range = options_.match_range;
    if (a.last_step >= b.first_step || range == 0) return false;
    if (path_[position(a.last_step)] != path_[position(b.first_step)]) return false;
    return std::max(a.bytes, b.bytes) / range <= std::min(a.bytes, b.bytes);
  }

  const Program& program_;
  const Schedule& schedule_;
  const MemoryPlanOptions options_;
  MemoryPlan plan_;
  std::vector<bool> is_planned_;
  std::vector<int> last_use_;            // of each tensor: a step
  const std::vector<std::size_t> path_;  // by step
  std::vector<Chain> chains_;
};

}  // namespace

Bytes MemoryPlan::total() const {
  Bytes end = 0;
  for (const PlannedBlock& block : blocks) end = std::max(end, block.offset + block.bytes);
  return end;
}

MemoryPlan planMemory(const Program& program, const Schedule& schedule, const MemoryPlanOptions& options) {
  return Planner(program, schedule, options).run();
}

}  // namespace pitwall::graph
