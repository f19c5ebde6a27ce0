#include "runtime/graph/executor/bound_program.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/device_bytes.h"
#include "runtime/array/kernel_run.h"

namespace pitwall::graph {

namespace {

// Different numbers for each pass, each operator and each program's seed (SplitMix64's mixing function).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t step) {
  std::uint64_t z = seed + (step + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

void* plannedAt(const Place& place) {
  return static_cast<std::byte*>(place.planned->block.data()) + place.offset;
}

}  // namespace

Status BoundProgram::arrange(std::span<const BoundArray> of_pass) const {
  for (const auto& [array, layout] : of_pass) {
    const Value& value = valueOf(array);
    if (sameLayout(value.chunk->layout, layout)) continue;
    if (value.chunk->viewed && layout != nullptr)
      return fail(
          ErrorCode::invalidInput,
          fmt::format("a weight of shape {} shares its contents with an array that reshape() returned "
                      "after bind(); bind again",
                      value.shape.toString()));
    PITWALL_TRY(convertLayout(nullptr, value, layout, Phase::forward));
  }
  return {};
}

void BoundProgram::push(std::size_t from, std::size_t to, BulkKind kind, std::uint64_t seed) const {
  Engine& engine = session.engine();
  const int segment = bulkSize(session, device, kind);
  const bool captures = segment != 0 && KernelCaptures::areWanted(session, device);
  const BulkScope bulk(engine, captures ? 0 : segment);
  for (std::size_t i = from; i < to; ++i) {
    if (const auto range = captures ? capturedFrom(i, to) : nullptr) {
      engine.push({.run = [this, range](const RunContext&) { return runCaptured(*range); },
                   .reads = range->reads,
                   .writes = range->writes,
                   .facts = range->facts,
                   .device = device});
      i += range->steps.size() - 1;
      continue;
    }
    const BoundStepPtr& step = steps[i];
    const std::uint64_t own = mixed(seed, i);
    engine.push({.run = [this, step, own](const RunContext&) { return run(*step, own); },
                 .reads = step->reads,
                 .writes = step->writes,
                 .facts = step->prepared->facts,
                 .device = device});
  }
}

Status BoundProgram::locate(const BoundStep& step, Addresses& addresses) const {
  const Kernel& kernel = *step.prepared->kernel;
  auto& [from, to, workspace] = addresses;
  if (step.fills_memory) PITWALL_TRY(pool->fill(blocks));
  from.clear();
  to.clear();
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const Place& place = step.outputs[i];
    if (place.chunk != nullptr) PITWALL_TRY(ensureBlock(*place.chunk, kernel.outputs()[i].sizeBytes()));
    to.push_back(place.chunk != nullptr ? place.chunk->block.data() : plannedAt(place));
  }
  for (const Place& place : step.inputs) {
    from.push_back(place.chunk != nullptr     ? place.chunk->block.data()
                   : place.weight >= 0        ? weights->dataOf(place.weight)
                   : place.planned != nullptr ? plannedAt(place)
                                              : to[0]);  // not read
  }
  workspace = step.workspace.planned != nullptr ? plannedAt(step.workspace) : nullptr;
  return {};
}

Status BoundProgram::run(const BoundStep& step, std::uint64_t seed) const {
  static thread_local Addresses addresses;
  PITWALL_TRY(locate(step, addresses));
  PITWALL_TRY(runKernelOn(session, device, step.prepared->kernel,
                          {.inputs = addresses.from,
                           .outputs = addresses.to,
                           .context = {.workspace = addresses.workspace, .seed = seed}}));
  if (!step.releases_memory) return {};
  // Work of a GPU may still use it.
  if (device.kind == DeviceKind::gpu)
    for (MemorySlot* const slot : blocks) PITWALL_TRY(freeAfterWork(session, device, std::move(slot->block)));
  MemoryPool::release(blocks);
  return {};
}

}  // namespace pitwall::graph
