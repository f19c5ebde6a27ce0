// Only changes that a rule may propose are simulated, and only where they could matter.
#include "analyzer/simulate/tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/critical_path/path.h"
#include "analyzer/simulate/predictor.h"
#include "analyzer/simulate/read_program.h"
#include "analyzer/units_text.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kSimulationColumns[] = {
    {"change", kText, "", "as 'pitwall simulate --what' takes it: 'workers=4', 'copies=async'"},
    {"gain_low", kReal, "0..1",
     "share of an iteration's time that it saves at least; null = not predictable"},
    {"gain_high", kReal, "0..1", "the same: at most; null = not predictable"},
    {"limited_by", kText, "",
     "what an iteration then waits for most: 'device work', 'host work', 'waiting for batches', 'making "
     "batches', 'own "
     "code', 'delays'; null = not predictable"},
    {"why_not", kText, "",
     "why not: the unchanged graph does not replay as recorded, or most of its critical path is of no event; "
     "null = "
     "predictable"},
};

constexpr TableDeclaration kSimulationTable{
    "analysis_simulation",
    "A change that was simulated, of those that rules propose. No "
    "row = the program neither waits for batches nor copies, or has no device and its loading uses CPUs.",
    kSimulationColumns};

}  // namespace pitwall::analysis

namespace pitwall::simulate {
namespace {

constexpr double kSmallShare = 0.02;  // of the time: no rule is about less

constexpr double kFewCpus = 0.3;  // that making batches uses: workers are then no burden for operators

Result<bool> loadingNeedsCpus(Trace& trace) {
  const auto rows =
      PITWALL_TRY(trace.query(fmt::format("SELECT 1 FROM analysis_data WHERE wait_cpus <= {}", kFewCpus)));
  return rows.rows.empty();
}

Result<std::vector<std::string>> changesFor(Trace& trace, const analysis::Context& context) {
  std::vector<std::string> changes;
  const auto wall = static_cast<double>(context.timeline.end_ns - context.timeline.begin_ns);
  // Without a device, operators share the CPUs with workers that use them: input/workers goes by how many are in use.
  const bool shared = context.devices.all.empty() && PITWALL_TRY(loadingNeedsCpus(trace));
  if (!shared && static_cast<double>(analysis::covered(context.timeline.data_waits)) > kSmallShare * wall)
    changes = {"workers=1", "workers=2", "workers=3", "workers=4", "workers=8"};
  TimeNs copying = 0, devices_ns = 0;
  for (const auto& device : context.devices.all) {
    copying += device.copy_ns;
    devices_ns += device.end_ns - device.begin_ns;
  }
  if (static_cast<double>(copying) > kSmallShare * static_cast<double>(devices_ns))
    changes.emplace_back("copies=async");
  return changes;
}

// Rules promise nothing from a replay in which most of the time is of no event: it may be work, or waiting that is not
// recorded.
constexpr double kMostOwnCode = 0.5;

std::string whyNot(const ReplayCheck& check) {
  if (!check.predictable) return check.why;
  double own_code = 0;
  for (const auto& part : check.path.parts) {
    if (part.part == analysis::toString(analysis::PathPart::nothing)) own_code += part.share;
  }
  return own_code <= kMostOwnCode
             ? std::string()
             : fmt::format("{} of its critical path is of no event", showShare(own_code));
}

}  // namespace

Status writeSimulation(Trace& trace, const analysis::Context& context) {
  analysis::TempTable table(analysis::kSimulationTable);
  const auto changes = PITWALL_TRY(changesFor(trace, context));
  if (changes.empty()) return table.write(trace);
  Predictor predictor;
  const Recorded recorded{trace,
                          context.activity,
                          context.timeline,
                          context.iterations,
                          context.chunks,
                          analysis::CriticalPath::kMostEvents};
  PITWALL_TRY(readProgram(recorded, predictor.program, predictor.check));
  predictor.prepare();
  const auto why_not = whyNot(predictor.check);
  for (const auto& change : changes) {
    if (!why_not.empty()) {
      table.row({change, SqlValue(), SqlValue(), SqlValue(), why_not});
      continue;
    }
    const std::vector<std::string> one{change};
    const auto prediction = predictor.predict(one);
    if (!prediction.has_value()) continue;  // the replayed iterations have nothing that it changes
    const auto saved = [&](TimeNs ns) {
      const auto before = static_cast<double>(std::max<TimeNs>(1, predictor.check.recorded_ns));
      return std::clamp(1 - static_cast<double>(ns) / before, 0.0, 1.0);
    };
    table.row(
        {change, saved(prediction->high_ns), saved(prediction->low_ns), prediction->path.limit, SqlValue()});
  }
  return table.write(trace);
}

}  // namespace pitwall::simulate
