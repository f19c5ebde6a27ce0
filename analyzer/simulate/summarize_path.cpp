#include "analyzer/simulate/summarize_path.h"

#include <algorithm>
#include <map>

#include "analyzer/simulate/path.h"

namespace pitwall::simulate {
namespace {

using analysis::PathPart;

const char* limitOf(PathPart part) {
  switch (part) {
    case PathPart::kernel:
    case PathPart::copy:
    case PathPart::communication: return "device work";
    case PathPart::operatorRun:
    case PathPart::call: return "host work";
    case PathPart::dataWait: return "waiting for batches";
    case PathPart::launchDelay:
    case PathPart::deviceDelay:
    case PathPart::engineOverhead: return "delays";
    case PathPart::nothing: return "own code";
  }
  return "own code";
}

}  // namespace

std::string Program::titleOf(OperatorId op, StringId name) const {
  if (op && op.value <= operators.size()) {
    const auto& facts = operators[op.value - 1];
    return facts.layer.empty() ? facts.name : facts.layer + " " + facts.name;
  }
  const auto found = names.find(name.value);
  return found == names.end() ? std::string() : found->second;
}

SimulatedPath summarizePath(const Program& program, const Lengths& lengths, const Replayed& replayed) {
  const auto sums = pathOf(program.graph, program.tasks, lengths, replayed);
  const auto iterations = static_cast<TimeNs>(std::max<std::size_t>(1, program.tasks.marks_ns.size()) - 1);
  std::map<std::pair<std::string, std::string>, TimeNs>
      rows;  // operators of one title differ in their shapes
  std::map<std::string, TimeNs> limits;
  TimeNs whole = 0;
  for (const auto& [key, ns] : sums) {
    auto title = program.titleOf(key.op, key.name);
    const char* part = analysis::toString(key.part);
    rows[{title.empty() ? (key.part == PathPart::nothing ? "own code" : part) : title, part}] += ns;
    limits[limitOf(key.part)] += ns;
    whole += ns;
  }
  SimulatedPath path;
  const auto share = [whole](TimeNs ns) {
    return static_cast<double>(ns) / static_cast<double>(std::max<TimeNs>(1, whole));
  };
  for (const auto& [key, ns] : rows)
    path.parts.push_back({key.first, key.second, ns / std::max<TimeNs>(1, iterations), share(ns)});
  std::sort(path.parts.begin(), path.parts.end(), [](const SimulatedPart& a, const SimulatedPart& b) {
    return std::tie(b.time_ns, a.title, a.part) < std::tie(a.time_ns, b.title, b.part);
  });
  for (const auto& [limit, ns] : limits) {
    if (share(ns) > path.limit_share) path.limit_share = share(ns), path.limit = limit;
  }
  return path;
}

}  // namespace pitwall::simulate
