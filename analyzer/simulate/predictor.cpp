#include "analyzer/simulate/predictor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/analysis/statistics.h"
#include "analyzer/simulate/apply.h"
#include "analyzer/simulate/loading.h"
#include "analyzer/simulate/path.h"
#include "analyzer/simulate/summarize_path.h"
#include "analyzer/simulate/usual.h"
#include "analyzer/units_text.h"
#include "db/try.h"

namespace pitwall::simulate {
namespace {

// Of steady iterations, whose marks are the beginnings.
std::vector<TimeNs> durationsOf(const Program& program, std::span<const TimeNs> marks_ns) {
  std::vector<TimeNs> durations;
  for (const std::uint32_t mark : program.steady) durations.push_back(marks_ns[mark + 1] - marks_ns[mark]);
  return durations;
}

TimeNs medianOf(const std::vector<TimeNs>& durations) {
  const std::vector<double> values(durations.begin(), durations.end());
  return std::llround(analysis::quantile(values, 0.5));
}

// Which sort of delay the difference comes from: of the replays with one sort as recorded, the closest.
std::string causeOf(const Program& program, double recorded_usual) {
  const Lengths usual = usualLengthsOf(program.graph, program.tasks);
  Replayed replayed;
  double closest = HUGE_VAL;
  std::string cause;
  for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
    Lengths lengths = usual;
    bool any = false;
    for (std::size_t i = 0; i < lengths.delay_ns.size(); ++i) {
      const auto& link = program.tasks.links[i];
      if (static_cast<std::size_t>(link.kind) != kind) continue;
      any |= lengths.delay_ns[i] != link.delay_ns;
      lengths.delay_ns[i] = link.delay_ns;
    }
    if (!any) continue;
    replay(program.tasks, lengths, replayed);
    const double off = std::fabs(usualOf(durationsOf(program, replayed.marks_ns)) - recorded_usual);
    if (off < closest) closest = off, cause = toString(static_cast<LinkKind>(kind));
  }
  return cause;
}

void checkReplay(const Program& program, ReplayCheck& check, std::vector<TimeNs>& unchanged_ns) {
  if (!check.why.empty()) return;
  Replayed replayed;
  const auto typical = usualLengthsOf(program.graph, program.tasks);
  replay(program.tasks, typical, replayed);
  const double recorded = usualOf(durationsOf(program, program.tasks.finished_ns));
  const double again = usualOf(durationsOf(program, replayed.marks_ns));
  check.recorded_usual_ns = std::llround(recorded);
  check.replayed_usual_ns = std::llround(again);
  if (recorded <= 0) {
    check.why = "its iterations take no time";
    return;
  }
  check.error = again / recorded - 1;
  if (std::fabs(check.error) > ReplayCheck::kLargestError) {
    const auto cause = causeOf(program, recorded);
    check.why = fmt::format(
        "its unchanged graph replays in {} instead of {} an iteration{}", showDuration(again),
        showDuration(recorded),
        cause.empty() ? "" : fmt::format("; the delays of kind '{}' differ most from what is usual", cause));
    return;
  }
  check.predictable = true;
  const auto lengths = lengthsOf(program.tasks);
  replay(program.tasks, lengths, replayed);
  unchanged_ns = durationsOf(program, replayed.marks_ns);
  check.path = summarizePath(program, lengths, replayed);
}

struct Outcome {
  double usual_ns = 0;
  double replayed_ns = 0;  // of it, what the replay has
  double uncertainty = 0;  // of the mean, as a share of it: two standard errors over the iterations
  bool queue_limits = false;
};

// How much the effect differs between iterations; of each against itself before the change.
double uncertaintyOfEffect(const std::vector<TimeNs>& before, const std::vector<TimeNs>& after) {
  constexpr double kParts = 1e6;
  std::vector<TimeNs> ratios;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] > 0)
      ratios.push_back(std::llround(kParts * static_cast<double>(after[i]) / static_cast<double>(before[i])));
  }
  return uncertaintyOf(ratios);
}

Outcome outcomeOf(const Program& program, const Changed& changed, const Replayed& replayed,
                  const std::vector<TimeNs>& before) {
  const auto durations = durationsOf(program, replayed.marks_ns);
  const double replayed_ns = usualOf(durations);
  Outcome outcome{replayed_ns, replayed_ns, uncertaintyOfEffect(before, durations)};
  const auto& making = program.making;
  if (changed.queued && making.by != Making::By::unknown && !making.make_ns.empty()) {
    Pipeline pipeline;
    pipeline.workers = changed.workers.value_or(std::max<std::int64_t>(1, making.workers));
    pipeline.depth = changed.depth.value_or(std::max(making.depth, 2 * pipeline.workers));
    pipeline.train_ns = withoutExtremes(durations);
    for (const TimeNs ns : withoutExtremes(making.make_ns))
      pipeline.make_ns.push_back(std::llround(static_cast<double>(ns) * changed.make_factor));
    // The queue's waits are a share of the time without them.
    const auto train_ns = std::accumulate(pipeline.train_ns.begin(), pipeline.train_ns.end(), TimeNs{0});
    const double without = static_cast<double>(train_ns) / static_cast<double>(pipeline.train_ns.size());
    const double with_waits = outcome.usual_ns * settledIterationNs(pipeline) / std::max(1.0, without);
    outcome.queue_limits = with_waits > 1.02 * outcome.usual_ns;
    outcome.usual_ns = std::max(outcome.usual_ns, with_waits);
  }
  outcome.usual_ns += changed.remaining_wait_share * usualOf(making.wait_ns);
  outcome.usual_ns = std::max(outcome.usual_ns, static_cast<double>(changed.floor_ns));
  return outcome;
}

}  // namespace

void Predictor::prepare() {
  if (check.why.empty()) check.recorded_ns = medianOf(durationsOf(program, program.tasks.marks_ns));
  checkReplay(program, check, unchanged_ns);
}

Result<std::vector<Edit>> Predictor::editsOf(std::span<const std::string> changes) const {
  if (!check.predictable) return fail(ErrorCode::unsupported, "the trace is not predictable: " + check.why);
  std::vector<Edit> edits;
  for (const auto& text : changes) edits.push_back(PITWALL_TRY(parseEdit(text)));
  return edits;
}

Result<SimulatedTimes> Predictor::timesAfter(const Trace& trace, std::span<const std::string> changes) const {
  const auto edits = PITWALL_TRY(editsOf(changes));
  const auto changed = PITWALL_TRY(applyEdits(program, edits, Case::middle));
  Replayed recorded, simulated;
  replay(program.tasks, lengthsOf(program.tasks), recorded);
  replay(program.tasks, changed.lengths, simulated);
  return SimulatedTimes(program, trace, recorded, simulated, changed.lengths);
}

Result<Prediction> Predictor::predict(std::span<const std::string> changes) const {
  const auto edits = PITWALL_TRY(editsOf(changes));
  Prediction prediction;
  Replayed replayed;
  const double scale = static_cast<double>(check.recorded_ns) / std::max(1.0, usualOf(unchanged_ns));
  double low = HUGE_VAL, high = 0;
  const auto take = [&](Case which) -> Status {
    const auto changed = PITWALL_TRY(applyEdits(program, edits, which));
    replay(program.tasks, changed.lengths, replayed);
    const auto outcome = outcomeOf(program, changed, replayed, unchanged_ns);
    // What the replay of the unchanged graph is off by, the prediction may be off by too.
    const double error = edits.empty() ? 0 : std::fabs(check.error) + outcome.uncertainty;
    low = std::min(low, outcome.usual_ns * (1 - error));
    high = std::max(high, outcome.usual_ns * (1 + error));
    if (which != Case::middle) return {};
    prediction.middle_ns = std::llround(outcome.usual_ns * scale);
    prediction.added_ns = std::llround((outcome.usual_ns - outcome.replayed_ns) * scale);
    prediction.notes = changed.notes;
    prediction.path = summarizePath(program, changed.lengths, replayed);
    if (outcome.queue_limits) prediction.path.limit = "making batches";
    return {};
  };
  PITWALL_TRY(take(Case::middle));
  if (hasCases(program, edits)) {
    PITWALL_TRY(take(Case::best));
    PITWALL_TRY(take(Case::worst));
  }
  prediction.low_ns = std::max<TimeNs>(0, std::llround(low * scale));
  prediction.high_ns = std::llround(high * scale);
  if (check.iterations < 2 && !edits.empty())
    prediction.notes.push_back("The trace has one iteration: how much they vary is unknown.");
  return prediction;
}

}  // namespace pitwall::simulate
