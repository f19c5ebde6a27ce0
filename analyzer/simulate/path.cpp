#include "analyzer/simulate/path.h"

#include <algorithm>

namespace pitwall::simulate {
namespace {

using analysis::Graph;
using analysis::PathKey;
using analysis::PathPart;

PathPart partOfEvent(EventKind kind) {
  switch (kind) {
    case EventKind::kernel: return PathPart::kernel;
    case EventKind::copy: return PathPart::copy;
    case EventKind::communication: return PathPart::communication;
    case EventKind::operatorRun: return PathPart::operatorRun;
    case EventKind::dataWait: return PathPart::dataWait;
    default: return PathPart::call;
  }
}

// Of a link between operators, or from one to the thread that waited for it, if none of both is a device's work.
PathPart partOfDelay(LinkKind kind, bool of_device) {
  switch (kind) {
    case LinkKind::launch: return of_device ? PathPart::launchDelay : PathPart::engineOverhead;
    case LinkKind::order:
    case LinkKind::stream:
    case LinkKind::release: return of_device ? PathPart::deviceDelay : PathPart::engineOverhead;
    case LinkKind::data: return PathPart::engineOverhead;
    default: return PathPart::nothing;
  }
}

class PathWalk {
 public:
  PathWalk(const Graph& graph, const Tasks& tasks, const Lengths& lengths, const Replayed& replayed)
      : graph_(graph), tasks_(tasks), lengths_(lengths), end_(replayed.end_ns), replayed_(replayed) {
    before_.reserve(tasks.all.size());
    std::vector<std::uint32_t> last(tasks.resources, Task::kNone);
    for (std::uint32_t i = 0; i < tasks.all.size(); ++i) {
      auto& previous = last[tasks.all[i].resource];
      before_.push_back(tasks.all[i].isWork() ? Task::kNone : previous);
      if (!tasks.all[i].isWork()) previous = i;
    }
  }

  std::map<PathKey, TimeNs> run() {
    if (tasks_.marks_ns.size() < 2) return {};
    begin_ns_ = replayed_.marks_ns.front();
    at_ns_ = replayed_.marks_ns.back();
    auto task = lastTask();
    while (task != Task::kNone && at_ns_ > begin_ns_) task = step(task);
    go(begin_ns_, {});
    return std::move(sums_);
  }

 private:
  void go(TimeNs to, const PathKey& key) {
    to = std::clamp(to, begin_ns_, at_ns_);
    if (to < at_ns_) sums_[key] += at_ns_ - to;
    at_ns_ = to;
  }

  bool isDeviceWork(std::uint32_t index) const {
    const Task& task = tasks_.all[index];
    return task.isWork() && task.node != Task::kNone &&
           graph_.nodes[task.node].kind != EventKind::operatorRun;
  }

  // The one that ends when the last mark is reached.
  std::uint32_t lastTask() const {
    const auto point = tasks_.marks.back();
    if (point != Task::kNone && end_[point] == at_ns_) return point;
    for (std::uint32_t i = 0; i < tasks_.all.size(); ++i) {
      if (tasks_.all[i].isWork() && end_[i] == at_ns_ && tasks_.all[i].iteration < tasks_.marks.size())
        return i;
    }
    return point;
  }

  PathKey keyOf(const Task& task) const {
    if (!task.isWork() && (task.flags & Task::kLoading) != 0) return {PathPart::dataWait, {}, {}};
    if (task.node == Task::kNone) return {};
    const auto& node = graph_.nodes[task.node];
    return {partOfEvent(node.kind), node.op, node.op ? StringId() : node.name};
  }

  // Goes from a task to what it waited for last.
  std::uint32_t step(std::uint32_t index) {
    const Task& task = tasks_.all[index];
    const auto own = lengths_.own_ns[index];
    const TimeNs begin = task.isWork() ? end_[index] - own : end_[index];
    if (task.isWork()) go(begin, keyOf(task));
    const auto links = tasks_.linksOf(index);
    const Link* latest = nullptr;
    for (const auto& link : links) {
      const auto delay = lengths_.delay_ns[static_cast<std::size_t>(&link - tasks_.links.data())];
      if (end_[link.from] + delay == begin) latest = &link;
    }
    const auto before = before_[index];
    if (latest == nullptr && before != Task::kNone) {
      go(end_[before], keyOf(task));
      return before;
    }
    if (latest == nullptr || latest->kind == LinkKind::origin) return Task::kNone;
    const bool of_device = isDeviceWork(index) || isDeviceWork(latest->from);
    go(end_[latest->from], {partOfDelay(latest->kind, of_device), {}, {}});
    return latest->from;
  }

  const Graph& graph_;
  const Tasks& tasks_;
  const Lengths& lengths_;
  const std::vector<TimeNs>& end_;
  const Replayed& replayed_;
  std::vector<std::uint32_t> before_;  // point: the one before on its thread
  std::map<PathKey, TimeNs> sums_;
  TimeNs begin_ns_ = 0, at_ns_ = 0;
};

}  // namespace

std::map<PathKey, TimeNs> pathOf(const Graph& graph, const Tasks& tasks, const Lengths& lengths,
                                 const Replayed& replayed) {
  return PathWalk(graph, tasks, lengths, replayed).run();
}

}  // namespace pitwall::simulate
