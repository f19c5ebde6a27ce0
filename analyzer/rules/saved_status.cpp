#include "analyzer/rules/saved_status.h"

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "db/try.h"

namespace pitwall::rules {
namespace {

constexpr char kTested[] =
    "SELECT rule, status, coalesce((SELECT group_concat(name || '=' || proposed, char(10)) FROM "
    "(SELECT name, proposed FROM proposal WHERE finding_id = finding.id ORDER BY id)), '') "
    "FROM finding WHERE status <> 'not tested'";

std::string proposalsOf(const Finding& finding) {
  std::string text;
  for (const Proposal& proposal : finding.proposals) {
    if (!text.empty()) text += '\n';
    text += proposal.name + '=' + proposal.proposed;
  }
  return text;
}

}  // namespace

Status takeSavedStatuses(Trace& trace, std::span<Finding> findings) {
  const auto saved = PITWALL_TRY(trace.query(kTested));
  std::map<std::pair<std::string, std::string>, std::string> statuses;
  for (const auto& row : saved.rows)
    statuses[{std::get<std::string>(row[0]), std::get<std::string>(row[2])}] = std::get<std::string>(row[1]);
  for (Finding& finding : findings) {
    const auto found = statuses.find({finding.id, proposalsOf(finding)});
    if (found == statuses.end()) continue;
    for (const auto status : {FindingStatus::confirmed, FindingStatus::refuted}) {
      if (found->second == toString(status)) finding.status = status;
    }
  }
  return {};
}

}  // namespace pitwall::rules
