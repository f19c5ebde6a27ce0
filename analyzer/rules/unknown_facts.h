// Which unknown facts kept a rule silent. A comparison with an unknown fact is never true in SQL; a rule that
// is silent because of one has not looked.
//
// The rule's measure is asked again with each unknown fact that it mentions replaced by values that could
// decide it: small and large numbers, and the texts that the measure itself compares with. A row then means
// that the rule could have fired. Facts that the measure only prints are not among them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/rules/rule.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::rules {

// The columns of analysis_summary, for `measure` with its thresholds bound. Empty: whatever they are, the
// rule is silent. Errors: those of the SQL.
struct UnknownFacts {
  std::vector<std::string> columns;  // unknown, and read to decide
  bool could_fire = false;
};
Result<UnknownFacts> unknownFactsOf(const std::string& measure, std::span<const SqlParameter> parameters,
                                    Trace& trace);

// Whether a measure asks itself if the fact is known (coalesce, IS NULL), and so has its own answer for
// the case that it is not.
bool handlesUnknown(const std::string& measure, const std::string& column);

// For people: "the number of usable CPUs".
std::string describeFact(const std::string& column);

}  // namespace pitwall::rules
