// Runs one rule over a trace whose analysis tables are written.
#pragma once

#include <span>
#include <variant>

#include "analyzer/analysis/setting_table.h"
#include "analyzer/report.h"
#include "analyzer/rules/budget.h"
#include "analyzer/rules/rule.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::rules {

struct Silent {};  // found nothing
using Outcome = std::variant<Silent, Abstention, Claim>;

// Keeps at most so many rows of evidence; nothing else depends on it.
// Errors: invalidInput with file and line for SQL or a template that is wrong.
Result<Outcome> runRule(const Rule& rule, Trace& trace, std::span<const analysis::SettingState> settings,
                        std::size_t evidence_rows);

// Tries every piece of SQL and every template of a rule, whatever the trace says. Same errors.
Status checkRule(const Rule& rule, Trace& trace);

}  // namespace pitwall::rules
