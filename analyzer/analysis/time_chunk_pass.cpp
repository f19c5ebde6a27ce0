#include "analyzer/analysis/time_chunk_pass.h"

#include <utility>

#include "analyzer/analysis/sequence.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

Result<std::vector<NamedAnalysis>> makeAnalyses(Trace& trace, const Timeline& timeline,
                                                const Activity& activity, const Iterations& iterations,
                                                std::size_t devices) {
  auto threads = PITWALL_TRY(analyzeThreads(trace, activity));
  std::vector<NamedAnalysis> analyses;
  analyses.push_back({"analysis kernels", analyzeKernels(devices)});
  analyses.push_back({"analysis launches", analyzeLaunches(trace, devices)});
  analyses.push_back({"analysis copies", analyzeCopies(devices)});
  analyses.push_back({"analysis calls", analyzeCalls(iterations.all)});
  analyses.push_back({"analysis threads", std::move(threads)});
  analyses.push_back({"analysis ranks", analyzeRanks(trace, devices)});
  analyses.push_back({"analysis follows", analyzeFollows(trace)});
  analyses.push_back({"analysis host gaps", analyzeHostGaps(timeline, iterations.all)});
  return analyses;
}

std::vector<bool> tracksOfOthers(const Trace& trace, ProcessId process) {
  std::vector<bool> others(trace.tracks().size() + 1);
  for (std::size_t i = 0; i < trace.tracks().size(); ++i) {
    const auto owner = trace.tracks()[i].process;
    others[i + 1] = owner && owner != process;
  }
  return others;
}

}  // namespace

Result<Iterations> iterationsOf(const Trace& trace, const Timeline& timeline, TimeChunkReader& chunks) {
  auto found = PITWALL_TRY(findIterations(timeline, trace.iterations(),
                                          [&chunks] { return findRepetition(operatorsOf(chunks)); }));
  // PyTorch's profiler marks where each step ends, too: events after the last mark are not a step.
  auto& all = found.all;
  const bool ends_are_marked = trace.meta("import.iteration_ends").has_value();
  if (ends_are_marked && found.source == "marks" && all.size() > 1) {
    const auto last_mark = trace.iterations().back().time_ns;
    if (all.back().start_ns >= last_mark) all.pop_back();
  }
  return found;
}

Result<std::vector<CategoryTimes>> categoriesOf(const Trace& trace, const Timeline& timeline,
                                                const Iterations& iterations, TimeChunkReader& chunks) {
  CategorySweep sweep(timeline, iterations.all, trace.operatorFacts());
  auto status = chunks.each(kOperatorParts, [&](const TimeChunk& chunk) {
    sweep.add(chunk.operators, chunk.from_ns, chunk.to_ns, chunk.pending_from_ns);
    return Result<bool>(true);
  });
  PITWALL_TRY(status);
  return sweep.finish();
}

Result<TimeChunkPass> runTimeChunkPass(Trace& trace, const Timeline& timeline, TimeChunkReader& chunks,
                                       const Lap& lap) {
  TimeChunkPass pass;
  pass.iterations = PITWALL_TRY(iterationsOf(trace, timeline, chunks));
  lap("analysis iterations");
  auto devices = PITWALL_TRY(DeviceSweep::make(trace, chunks, pass.iterations.all));
  lap("analysis devices");
  pass.analyses =
      PITWALL_TRY(makeAnalyses(trace, timeline, chunks.activity(), pass.iterations, devices.count()));
  CategorySweep categories(timeline, pass.iterations.all, trace.operatorFacts());
  OperatorSums operators(pass.iterations.all, trace.operatorFacts().size(),
                         tracksOfOthers(trace, timeline.process), HostThreads(trace.tracks()));
  auto status = chunks.each(kAllParts, [&](const TimeChunk& chunk) -> Result<bool> {
    lap("reading chunks");
    categories.add(chunk.operators, chunk.from_ns, chunk.to_ns, chunk.pending_from_ns);
    lap("analysis breakdown");
    operators.add(chunk.operators);
    lap("analysis operators");
    PITWALL_TRY(devices.add(chunk));
    if (operators.needsOperatorsOfCalls()) PITWALL_TRY(devices.loadOperatorsOfCalls());
    lap("analysis devices");
    operators.addDeviceWork(chunk, devices.launches());
    lap("analysis operators");
    for (const auto& [name, analysis] : pass.analyses) {
      analysis->add({chunk, devices.chunks(), devices.launches()});
      lap(name);
    }
    return true;
  });
  PITWALL_TRY(status);
  pass.times = categories.finish();
  pass.operators = operators.table(trace.operatorFacts());
  pass.executions.assign(operators.executions().begin(), operators.executions().end());
  pass.devices = devices.finish();
  return pass;
}

}  // namespace pitwall::analysis
