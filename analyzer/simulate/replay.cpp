#include "analyzer/simulate/replay.h"

#include <algorithm>

namespace pitwall::simulate {
namespace {

// Host code and hand-overs between threads are the program's own: each has its own length.
bool isOfDevice(LinkKind kind) {
  return kind == LinkKind::order || kind == LinkKind::stream || kind == LinkKind::data ||
         kind == LinkKind::launch || kind == LinkKind::release;
}

}  // namespace

Lengths lengthsOf(const Tasks& tasks, Delays delays) {
  Lengths lengths;
  lengths.own_ns.reserve(tasks.all.size());
  lengths.delay_ns.reserve(tasks.links.size());
  for (const auto& task : tasks.all) lengths.own_ns.push_back(task.own_ns);
  for (const auto& link : tasks.links) {
    const bool usual = delays == Delays::typical && isOfDevice(link.kind);
    lengths.delay_ns.push_back(usual ? tasks.typical_ns[static_cast<std::size_t>(link.kind)] : link.delay_ns);
  }
  return lengths;
}

std::vector<TimeNs> Replayed::iterations() const {
  std::vector<TimeNs> durations;
  for (std::size_t i = 1; i < marks_ns.size(); ++i) durations.push_back(marks_ns[i] - marks_ns[i - 1]);
  return durations;
}

void replay(const Tasks& tasks, const Lengths& lengths, Replayed& out) {
  const std::size_t count = tasks.all.size();
  out.end_ns.resize(count);
  std::vector<TimeNs> clock(tasks.resources);
  std::vector<TimeNs> finished(tasks.marks_ns.size() + 1, INT64_MIN);  // work, by iteration
  const TimeNs* const own = lengths.own_ns.data();
  const TimeNs* const delay = lengths.delay_ns.data();
  TimeNs* const end = out.end_ns.data();
  for (std::size_t i = 0; i < count; ++i) {
    const Task& task = tasks.all[i];
    const std::size_t last = i + 1 < count ? tasks.all[i + 1].first_link : tasks.links.size();
    TimeNs at = task.isWork() ? 0 : clock[task.resource] + own[i];
    for (std::size_t l = task.first_link; l < last; ++l)
      at = std::max(at, end[tasks.links[l].from] + delay[l]);
    if (task.isWork()) {
      end[i] = at + own[i];
      finished[task.iteration] = std::max(finished[task.iteration], end[i]);
    } else {
      end[i] = clock[task.resource] = at;
    }
  }
  out.marks_ns.assign(tasks.marks_ns.size(), 0);
  TimeNs latest = INT64_MIN;
  for (std::size_t i = 0; i < out.marks_ns.size(); ++i) {
    latest = std::max(latest, finished[i]);
    const auto point = tasks.marks[i];
    out.marks_ns[i] = std::max(latest, point == Task::kNone ? INT64_MIN : end[point]);
  }
}

}  // namespace pitwall::simulate
