// What a rule can need to have been recorded. A rule lists the names (`needs = ["operators"]`); where one of
// them is missing the rule abstains, with that reason.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::rules {

struct Need {
  std::string_view name;       // "operators"
  std::string_view condition;  // SQL over analysis_summary; true = it was recorded
  std::string_view reason;     // what is missing and what to record
};

const Need* findNeed(std::string_view name);  // null = there is none of that name
std::string namesOfNeeds();                   // "devices, iterations, ..."

}  // namespace pitwall::rules
