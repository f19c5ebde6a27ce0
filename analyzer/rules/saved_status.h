// What an earlier experiment said of a finding.
#pragma once

#include <span>

#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::rules {

// Gives findings the status that the trace's saved findings of the same rule with the same proposals have. Errors: those of
// Trace::query.
Status takeSavedStatuses(Trace& trace, std::span<Finding> findings);

}  // namespace pitwall::rules
