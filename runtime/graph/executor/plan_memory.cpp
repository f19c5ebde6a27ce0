#include "runtime/graph/executor/plan_memory.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/operators/activation.h"
#include "runtime/operators/add_n.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/clip.h"
#include "runtime/operators/convolution.h"
#include "runtime/operators/dropout.h"
#include "runtime/operators/linear.h"

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
      step.desc.is<AddNDesc>() || step.desc.is<LinearDesc>())
    return 0;
  if (!step.desc.is<ConvolutionDesc>()) return -1;
  return step.desc.as<ConvolutionDesc>().adds ? static_cast<int>(step.inputs.size()) - 1 : -1;
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

class Planner {
 public:
  Planner(const Program& program, const Schedule& schedule, const MemoryPlanOptions& options)
      : program_(program),
        schedule_(schedule),
        options_(options),
        path_(pathsOf(program, schedule, options.paths)),
        free_(path_.empty() ? 1 : *std::max_element(path_.begin(), path_.end()) + 1) {
    plan_.block_of.assign(program.tensors.size(), -1);
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
      for (std::size_t k = 0; k < step.outputs.size(); ++k) place(static_cast<int>(i), step, k);
      for (const int tensor : step.inputs)
        if (tensor >= 0) release(baseOf(program_, tensor), static_cast<int>(i));
      for (const int tensor : step.outputs) release(tensor, static_cast<int>(i));
    }
    return std::move(plan_);
  }

 private:
  Bytes sizeOf(int tensor) const { return schedule_.specs[position(tensor)].sizeBytes(); }

  void place(int step_index, const Step& step, std::size_t output) {
    const int tensor = step.outputs[output];
    if (!is_planned_[position(tensor)]) return;
    plan_.unshared += sizeOf(tensor);
    if (output == 0 && inPlace(step_index, step, tensor)) return;
    plan_.block_of[position(tensor)] = request(sizeOf(tensor), free_[path_[position(step_index)]]);
  }

  bool inPlace(int step_index, const Step& step, int tensor) {
    const int which = options_.in_place ? writableInput(step) : -1;
    if (which < 0) return false;
    const int input = baseOf(program_, step.inputs[position(which)]);
    const int block = plan_.block_of[position(input)];
    if (block < 0 || last_use_[position(input)] != step_index || sizeOf(input) != sizeOf(tensor))
      return false;
    if (!sameLayout(schedule_.specs[position(input)].layout, schedule_.specs[position(tensor)].layout))
      return false;
    // The kernel reads the other inputs while it writes.
    const auto same = [&](int other) { return other >= 0 && baseOf(program_, other) == input; };
    if (std::count_if(step.inputs.begin(), step.inputs.end(), same) != 1) return false;
    plan_.block_of[position(tensor)] = block;
    plan_.block_of[position(input)] = block;
    handed_on_.push_back(input);
    return true;
  }

  // Of the free blocks within the range the smallest that is large enough, else the largest, which grows.
  int request(Bytes size, std::multimap<Bytes, int>& free) {
    const Bytes range = options_.match_range;
    auto best = free.end();
    if (range > 0) {
      best = free.lower_bound(size);
      if (best != free.end() && best->first / range > size) best = free.end();
      if (best == free.end() && !free.empty()) {
        const auto largest = std::prev(free.end());
        if (largest->first <= size && size / range <= largest->first) best = largest;
      }
    }
    if (best == free.end()) {
      plan_.blocks.push_back(size);
      return static_cast<int>(plan_.blocks.size()) - 1;
    }
    const int block = best->second;
    free.erase(best);
    plan_.blocks[position(block)] = std::max(plan_.blocks[position(block)], size);
    return block;
  }

  void release(int tensor, int step_index) {
    if (!is_planned_[position(tensor)] || last_use_[position(tensor)] != step_index) return;
    last_use_[position(tensor)] = -2;  // once
    if (std::find(handed_on_.begin(), handed_on_.end(), tensor) != handed_on_.end()) return;
    const int block = plan_.block_of[position(tensor)];
    free_[path_[position(step_index)]].emplace(plan_.blocks[position(block)], block);
  }

  const Program& program_;
  const Schedule& schedule_;
  const MemoryPlanOptions options_;
  MemoryPlan plan_;
  std::vector<bool> is_planned_;
  std::vector<int> last_use_;                    // of each tensor: a step
  std::vector<int> handed_on_;                   // tensors whose block another result has now
  const std::vector<std::size_t> path_;          // by step
  std::vector<std::multimap<Bytes, int>> free_;  // by path: blocks by size
};

}  // namespace

Bytes MemoryPlan::total() const { return std::accumulate(blocks.begin(), blocks.end(), Bytes{0}); }

MemoryPlan planMemory(const Program& program, const Schedule& schedule, const MemoryPlanOptions& options) {
  return Planner(program, schedule, options).run();
}

}  // namespace pitwall::graph
