// Passes of a GPU as CUDA graphs (MXNET_ENABLE_CUDA_GRAPHS).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "db/try.h"
#include "runtime/graph/executor/bound_program.h"
#include "runtime/operators/dropout.h"
#include "runtime/operators/rnn.h"

namespace pitwall::graph {

namespace {

// A graph draws no new random numbers.
bool drawsNumbers(const Prepared& p) {
  if (p.pass != Pass::forward) return false;
  return p.desc.is<DropoutDesc>() || (p.desc.is<RnnDesc>() && p.desc.as<RnnDesc>().dropout > 0);
}

bool canBeCaptured(const BoundStep& step) {
  const Prepared& p = *step.prepared;
  return !drawsNumbers(p) && KernelCaptures::canCapture(*p.kernel) && !step.releases_memory;
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
  auto made = std::make_shared<CapturedSteps>();
  made->steps.assign(begin, steps.begin() + static_cast<std::ptrdiff_t>(end));
  listVariables(*made);
  const OperatorFacts facts = factsOf(made->steps, session.profiler());
  made->facts = session.profiler().operatorFacts(facts);
  made->captures = std::make_unique<KernelCaptures>(session, device, facts.layer);
  kept = made;
  return made;
}

Status BoundProgram::runCaptured(const CapturedSteps& range) const {
  std::vector<KernelCaptures::Run> runs;
  for (const BoundStepPtr& step : range.steps) {
    Addresses addresses;
    PITWALL_TRY(locate(*step, addresses));
    runs.push_back(
        {step->prepared->kernel, std::move(addresses.from), std::move(addresses.to), addresses.workspace});
  }
  return range.captures->run(runs);
}

}  // namespace pitwall::graph
