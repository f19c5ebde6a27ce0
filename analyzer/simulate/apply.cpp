#include "analyzer/simulate/apply.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/simulate/edits.h"
#include "db/try.h"

namespace pitwall::simulate {

namespace {

using Function = Status (*)(const Program&, const Edit&, Case, Changed&);

Function functionOf(EditKind kind) {
  switch (kind) {
    case EditKind::dataWait: return applyDataWait;
    case EditKind::workers: return applyWorkers;
    case EditKind::prefetch: return applyPrefetch;
    case EditKind::operators: return applyOperators;
    case EditKind::threads: return applyThreads;
    case EditKind::batch: return applyBatch;
    case EditKind::bulk: return applyBulk;
    case EditKind::engineWorkers: return applyEngineWorkers;
    case EditKind::launch: return applyLaunch;
    case EditKind::copies: return applyCopies;
    case EditKind::bandwidth: return applyBandwidth;
    case EditKind::latency: return applyLatency;
    case EditKind::ranks: return applyRanks;
  }
  return applyDataWait;
}

bool movesWork(EditKind kind) {
  return kind == EditKind::workers || kind == EditKind::prefetch || kind == EditKind::copies ||
         kind == EditKind::engineWorkers;
}

}  // namespace

TimeNs times(TimeNs ns, double factor) { return std::llround(static_cast<double>(ns) * factor); }

double pick(Case which, double best, double worst) {
  return which == Case::best ? best : which == Case::worst ? worst : (best + worst) / 2;
}

Failure nothingFor(const Edit& edit, const char* what) {
  return fail(ErrorCode::invalidInput, fmt::format("'{}': this trace has no {}", edit.text, what));
}

void Changed::note(std::string sentence) {
  if (std::find(notes.begin(), notes.end(), sentence) == notes.end()) notes.push_back(std::move(sentence));
}

bool hasCases(const Program& program, std::span<const Edit> edits) {
  return std::any_of(edits.begin(), edits.end(), [&program](const Edit& edit) {
    switch (edit.kind) {
      case EditKind::workers:
      case EditKind::prefetch: return program.making.by != Making::By::workers;
      case EditKind::dataWait:
      case EditKind::operators:
      case EditKind::launch: return false;
      default: return true;
    }
  });
}

Result<Changed> applyEdits(const Program& program, std::span<const Edit> edits, Case which) {
  Changed out;
  out.lengths = lengthsOf(program.tasks);
  // The order in which they are given does not matter: first what takes another time, then what runs elsewhere.
  for (const bool moves : {false, true}) {
    for (const auto& edit : edits) {
      if (movesWork(edit.kind) != moves) continue;
      PITWALL_TRY(functionOf(edit.kind)(program, edit, which, out));
    }
    if (!moves) applyTransfers(program, which, out);
  }
  return out;
}

}  // namespace pitwall::simulate
