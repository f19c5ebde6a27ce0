// Other arrays for a program that is bound: steps that may be running keep theirs, those that are pushed later get new ones.
#include <algorithm>
#include <utility>

#include "db/try.h"
#include "runtime/graph/executor/bound_program.h"

namespace pitwall::graph {

void listVariables(BoundStep& step, const MemoryPool& pool) {
  step.reads.clear();
  step.writes = {pool.sequence};
  for (const Place& place : step.inputs)
    if (place.chunk != nullptr) step.reads.push_back(place.chunk->variable);
  for (const Place& place : step.outputs)
    if (place.chunk != nullptr) step.writes.push_back(place.chunk->variable);
}

void BoundProgram::changePlaces(int base, Chunk* chunk) {
  const auto has = [&](const std::vector<int>& tensors) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](int tensor) { return tensor >= 0 && baseOf(program, tensor) == base; });
  };
  const auto change = [&](const std::vector<int>& tensors, std::vector<Place>& places) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i] >= 0 && baseOf(program, tensors[i]) == base) places[i].chunk = chunk;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& of = schedule.steps[i];
    if (!has(of.inputs) && !has(of.outputs)) continue;
    auto changed = std::make_shared<BoundStep>(*steps[i]);
    change(of.inputs, changed->inputs);
    change(of.outputs, changed->outputs);
    listVariables(*changed, *pool);
    steps[i] = std::move(changed);
  }
}

Status BoundProgram::replaceArgument(const std::string& name, const NDArray& array) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i] || program.tensors[i].variable < 0 || program.tensors[i].name != name) continue;
    if (valueOf(arrays[i]).chunk == valueOf(array).chunk) continue;
    for (std::vector<BoundArray>* const list : {&forward_arrays, &backward_arrays})
      for (BoundArray& listed : *list)
        if (listed.array.impl() == arrays[i].impl()) listed.array = array;
    arrays[i] = array;
    changePlaces(static_cast<int>(i), valueOf(array).chunk.get());
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const int output = schedule.outputs[k];
      if (baseOf(program, output) == static_cast<int>(i))
        outputs[k] = PITWALL_TRY(array.reshape(program.tensors[position(output)].shape));
    }
  }
  return {};
}

Status BoundProgram::renewHeldOutputs() {
  for (std::size_t i = 0; i < own_outputs.size(); ++i) {
    if (own_outputs[i] == nullptr) continue;
    std::vector<std::size_t> views;
    bool is_held = false;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (baseOf(program, schedule.outputs[k]) != static_cast<int>(i)) continue;
      views.push_back(k);
      is_held |= outputs[k].impl().use_count() > 1;
    }
    is_held |= static_cast<std::size_t>(own_outputs[i].use_count()) > 1 + views.size();
    if (!is_held) continue;
    const ChunkPtr fresh = makeChunk(session, device, MemoryTag::activations, own_outputs[i]->dtype);
    fresh->viewed = true;  // the kernels write it row-major
    own_outputs[i] = fresh;
    for (const std::size_t k : views) outputs[k] = makeArray({fresh, outputs[k].shape()});
    changePlaces(static_cast<int>(i), fresh.get());
  }
  return {};
}

}  // namespace pitwall::graph
