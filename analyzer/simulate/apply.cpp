#include "analyzer/simulate/apply.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/simulate/edits.h"
#include "db/try.h"

namespace pitwall::simulate {

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
      default: return false;
    }
  });
}

Result<Changed> applyEdits(const Program& program, std::span<const Edit> edits, Case which) {
  Changed out;
  out.lengths = lengthsOf(program.tasks);
  for (const auto& edit : edits) {
    switch (edit.kind) {
      case EditKind::dataWait: PITWALL_TRY(applyDataWait(program, edit, which, out)); break;
      case EditKind::workers: PITWALL_TRY(applyWorkers(program, edit, which, out)); break;
      case EditKind::prefetch: PITWALL_TRY(applyPrefetch(program, edit, which, out)); break;
      case EditKind::operators: PITWALL_TRY(applyOperators(program, edit, which, out)); break;
    }
  }
  return out;
}

}  // namespace pitwall::simulate
