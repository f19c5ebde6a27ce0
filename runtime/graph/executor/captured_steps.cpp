// Passes of a GPU as CUDA graphs (MXNET_ENABLE_CUDA_GRAPHS).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "db/try.h"
#include "runtime/array/kernel_run.h"
#include "runtime/gpu/work.h"
#include "runtime/graph/executor/bound_program.h"
#include "runtime/operators/dropout.h"

namespace pitwall::graph {

namespace {

// A graph repeats what its kernels have been given: no new random numbers, no memory for a problem of this run alone.
bool canBeCaptured(const BoundStep& step) {
  const Prepared& p = *step.prepared;
  const bool draws = p.desc.is<DropoutDesc>() && p.pass == Pass::forward;
  return !draws && !p.kernel->reportsProblems() && !step.releases_memory;
}

void listVariables(CapturedSteps& range) {
  const auto earlier = [](const Variable& a, const Variable& b) { return std::less<>()(a.state, b.state); };
  std::set<Variable, decltype(earlier)> reads(earlier), writes(earlier);
  for (const BoundStepPtr& step : range.steps) {
    reads.insert(step->reads.begin(), step->reads.end());
    writes.insert(step->writes.begin(), step->writes.end());
  }
  std::set_difference(reads.begin(), reads.end(), writes.begin(), writes.end(),
                      std::back_inserter(range.reads), earlier);
  range.writes.assign(writes.begin(), writes.end());
}

OperatorFacts factsOf(const std::vector<BoundStepPtr>& steps, const Profiler& profiler) {
  OperatorFacts facts;
  facts.name = "CUDA graph";
  facts.shapes = fmt::format("{} operators", steps.size());
  for (const BoundStepPtr& step : steps) {
    const OperatorFacts of_step = profiler.operatorFacts(step->prepared->facts);
    if (facts.layer.empty()) facts.layer = of_step.layer, facts.backend = of_step.backend;
    facts.phase = of_step.phase;
    facts.dtype = of_step.dtype;
    facts.flop += of_step.flop;
  }
  return facts;
}

}  // namespace

std::shared_ptr<CapturedSteps> BoundProgram::capturedFrom(std::size_t first, std::size_t to) const {
  std::size_t end = first;
  while (end < to && canBeCaptured(*steps[end])) ++end;
  if (end - first < 2) return nullptr;
  std::shared_ptr<CapturedSteps>& kept = captured_[first];
  const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(first);
  if (kept != nullptr && std::equal(kept->steps.begin(), kept->steps.end(), begin,
                                    steps.begin() + static_cast<std::ptrdiff_t>(end)))
    return kept;
  const auto work = session.gpuWork(device);
  if (!work.has_value()) return nullptr;  // the operators by themselves say why
  auto made = std::make_shared<CapturedSteps>();
  made->steps.assign(begin, steps.begin() + static_cast<std::ptrdiff_t>(end));
  listVariables(*made);
  const OperatorFacts facts = factsOf(made->steps, session.profiler());
  made->facts = session.profiler().operatorFacts(facts);
  const Settings& settings = session.settings();
  made->captures = std::make_unique<GpuCaptures>(
      (*work)->driver(),
      GpuCaptures::Options{
          .verbose = settings.boolean("MXNET_CUDA_GRAPHS_VERBOSE"),
          .most_lines = static_cast<int>(settings.integer("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES"))},
      facts.layer, made->steps.size());
  kept = made;
  return made;
}

Status BoundProgram::runCaptured(const CapturedSteps& range) const {
  GpuWork& work = *PITWALL_TRY(session.gpuWork(device));
  GpuThread& thread = *PITWALL_TRY(work.here(device));
  Bytes workspace_bytes = 0;
  std::vector<Addresses> addresses(range.steps.size());
  std::vector<const void*> all;
  for (std::size_t i = 0; i < range.steps.size(); ++i) {
    PITWALL_TRY(locate(*range.steps[i], addresses[i]));
    all.insert(all.end(), addresses[i].from.begin(), addresses[i].from.end());
    all.insert(all.end(), addresses[i].to.begin(), addresses[i].to.end());
    workspace_bytes = std::max(workspace_bytes, range.steps[i]->prepared->kernel->workspaceBytes());
  }
  // One of the largest size, so that none is allocated during the capture.
  all.push_back(PITWALL_TRY(work.workspace(thread, workspace_bytes)));
  all.push_back(thread.stream);
  return range.captures->run(thread.stream, all, [&]() -> Status {
    for (std::size_t i = 0; i < range.steps.size(); ++i)
      PITWALL_TRY(runKernelOn(session, device, range.steps[i]->prepared->kernel,
                              {.inputs = addresses[i].from, .outputs = addresses[i].to}));
    return {};
  });
}

}  // namespace pitwall::graph
