// The training thread is a chain of points: pushes of operators, begins and ends of waits, iterations; and the operators
// that it runs itself, as the naive engine has it. An operator on another thread waits for its push, for the operators
// whose results it uses, and for the one before on its worker. A wait ends after the operator that ended last within it.
#include "analyzer/simulate/operator_tasks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/simulate/task_builder.h"

namespace pitwall::simulate {
namespace {

using analysis::EdgeKind;
using analysis::Graph;
using analysis::Interval;
using analysis::Node;

class OperatorTasks {
 public:
  OperatorTasks(const Graph& graph, const EngineThread& training, std::vector<TimeNs> marks_ns)
      : graph_(graph),
        training_(training),
        marks_ns_(marks_ns),
        builder_(graph.window, std::move(marks_ns)),
        push_(graph.nodes.size(), Graph::kNone),
        begin_(graph.nodes.size(), Graph::kNone),
        end_(graph.nodes.size(), Graph::kNone) {}

  Tasks run() {
    listMoments();
    addTrainingThread();
    addWorkers();
    linkOperators();
    linkWaits();
    return builder_.finish(graph_.resources.size() + 1);
  }

 private:
  enum class Kind : std::uint8_t { runEnd, waitEnd, batchEnd, mark, batchBegin, waitBegin, push, runBegin };
  struct MomentOfThread {
    TimeNs at_ns = 0;
    Kind kind = Kind::mark;
    std::uint32_t index = 0;  // of a node, wait or mark
  };

  const Node& node(std::uint32_t index) const { return graph_.nodes[index]; }
  bool runsOnTraining(const Node& op) const {
    return training_.track && graph_.resources[op.resource].track == training_.track;
  }
  TimeNs beginOf(TimeNs at) const { return std::max(at, graph_.window.start_ns); }

  void listMoments() {
    const auto add = [this](TimeNs at, Kind kind, std::size_t index) {
      moments_.push_back({beginOf(at), kind, static_cast<std::uint32_t>(index)});
    };
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto& op = node(i);
      if (runsOnTraining(op)) {
        add(op.start_ns, Kind::runBegin, i);
        add(op.end_ns, Kind::runEnd, i);
      } else if (op.asked_ns >= graph_.window.start_ns && op.asked_ns <= op.start_ns) {
        add(op.asked_ns, Kind::push, i);
      }
    }
    const auto addWaits = [&](const analysis::Intervals& waits, Kind begin, Kind end) {
      for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits[i].end_ns <= graph_.window.start_ns || waits[i].start_ns >= graph_.window.end_ns) continue;
        add(waits[i].start_ns, begin, i);
        add(waits[i].end_ns, end, i);
      }
    };
    addWaits(training_.data_waits, Kind::batchBegin, Kind::batchEnd);
    addWaits(training_.engine_waits, Kind::waitBegin, Kind::waitEnd);
    for (std::size_t i = 0; i < marks_ns_.size(); ++i) add(marks_ns_[i], Kind::mark, i);
    std::sort(moments_.begin(), moments_.end(), [](const MomentOfThread& a, const MomentOfThread& b) {
      return std::tuple(a.at_ns, a.kind, a.index) < std::tuple(b.at_ns, b.kind, b.index);
    });
  }

  void addTrainingThread() {
    builder_.beginList();
    wait_end_.assign(training_.engine_waits.size(), Graph::kNone);
    TimeNs before = graph_.window.start_ns;
    std::uint32_t running = Graph::kNone;
    int loading = 0;
    for (const auto& [at, kind, index] : moments_) {
      const auto flags = static_cast<std::uint8_t>(loading > 0 ? Task::kLoading : 0);
      const bool begins = kind == Kind::runBegin || kind == Kind::push;
      const auto point =
          builder_.add({.at_ns = at,
                        .own_ns = at - before,
                        .node = running,
                        .resource = static_cast<std::uint16_t>(graph_.resources.size()),
                        .moment = begins ? TaskBuilder::Moment::begin : TaskBuilder::Moment::end,
                        .flags = flags});
      before = at;
      switch (kind) {
        case Kind::runBegin: begin_[index] = point, running = index; break;
        case Kind::runEnd: end_[index] = point, running = running == index ? Graph::kNone : running; break;
        case Kind::waitEnd: wait_end_[index] = point; break;
        case Kind::batchBegin: ++loading; break;
        case Kind::batchEnd: --loading; break;
        case Kind::mark: builder_.mark(index, point); break;
        case Kind::push: push_[index] = point; break;
        case Kind::waitBegin: break;
      }
    }
  }

  void addWorkers() {
    std::vector<std::vector<std::uint32_t>> by_resource(graph_.resources.size());
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (begin_[i] == Graph::kNone) by_resource[node(i).resource].push_back(i);
    }
    for (const auto& list : by_resource) {
      if (list.empty()) continue;
      builder_.beginList();
      for (const auto i : list) {
        const auto& op = node(i);
        const bool asynchronous = graph_.resources[op.resource].asynchronous;
        begin_[i] = end_[i] = builder_.add(
            {.at_ns = beginOf(op.start_ns),
             .own_ns = op.end_ns - beginOf(op.start_ns),
             .node = i,
             .resource = static_cast<std::uint16_t>(op.resource),
             .moment = TaskBuilder::Moment::work,
             .flags = static_cast<std::uint8_t>(Task::kWork | (asynchronous ? Task::kNoWorker : 0)),
             .iteration = builder_.iterationAt(
                 std::min(op.asked_ns == INT64_MIN ? op.start_ns : op.asked_ns, op.start_ns))});
      }
    }
  }

  void linkOperators() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto& op = node(i);
      if (op.start_ns < graph_.window.start_ns) {
        linkToOrigin(i);
        continue;
      }
      const bool on_training = runsOnTraining(op);
      TimeNs latest = push_[i] == Graph::kNone ? INT64_MIN : op.asked_ns;
      for (const auto& wait : graph_.into(i)) {
        if (!on_training || wait.kind == EdgeKind::data) latest = std::max(latest, node(wait.from).end_ns);
      }
      bool any = on_training;
      if (push_[i] != Graph::kNone) {
        builder_.link(push_[i], begin_[i],
                      {0, LinkKind::launch, latest == op.asked_ns, op.start_ns - op.asked_ns});
        any = true;
      }
      for (const auto& wait : graph_.into(i)) {
        if (on_training && (wait.kind != EdgeKind::data || runsOnTraining(node(wait.from)))) continue;
        const TimeNs delay = op.start_ns - node(wait.from).end_ns;
        any |= delay >= 0;
        builder_.link(end_[wait.from], begin_[i],
                      {0, wait.kind == EdgeKind::data ? LinkKind::data : LinkKind::order,
                       node(wait.from).end_ns == latest, delay});
      }
      if (!any) linkToOrigin(i);
    }
  }

  void linkToOrigin(std::uint32_t i) {
    if (runsOnTraining(node(i))) return;
    builder_.link(TaskBuilder::kOrigin, begin_[i],
                  {0, LinkKind::origin, true, beginOf(node(i).start_ns) - graph_.window.start_ns});
  }

  void linkWaits() {
    std::vector<std::uint32_t> by_end;
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!runsOnTraining(node(i))) by_end.push_back(i);
    }
    std::sort(by_end.begin(), by_end.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(node(a).end_ns, a) < std::pair(node(b).end_ns, b);
    });
    for (std::size_t w = 0; w < wait_end_.size(); ++w) {
      if (wait_end_[w] == Graph::kNone) continue;
      const Interval& wait = training_.engine_waits[w];
      const auto after = std::partition_point(by_end.begin(), by_end.end(),
                                              [&](std::uint32_t i) { return node(i).end_ns <= wait.end_ns; });
      if (after == by_end.begin()) continue;
      const auto op = *(after - 1);
      const TimeNs delay = wait.end_ns - node(op).end_ns;
      if (node(op).end_ns <= wait.start_ns) continue;
      builder_.link(end_[op], wait_end_[w], {0, LinkKind::release, true, delay});
      builder_.setOwn(wait_end_[w], delay);
    }
    linkOtherWaits();
  }

  // After a change another operator may end last: the first wait after its push waits for it too, as far as the
  // recording does not contradict it.
  void linkOtherWaits() {
    const auto& waits = training_.engine_waits;
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (push_[i] == Graph::kNone) continue;
      const auto next = std::partition_point(
          waits.begin(), waits.end(), [&](const Interval& wait) { return wait.end_ns <= node(i).asked_ns; });
      if (next == waits.end() || next->end_ns < node(i).end_ns) continue;
      const auto point = wait_end_[static_cast<std::size_t>(next - waits.begin())];
      if (point != Graph::kNone)
        builder_.link(end_[i], point, {0, LinkKind::release, false, next->end_ns - node(i).end_ns});
    }
  }

  const Graph& graph_;
  const EngineThread& training_;
  const std::vector<TimeNs> marks_ns_;
  TaskBuilder builder_;
  std::vector<MomentOfThread> moments_;
  std::vector<std::uint32_t> push_, begin_, end_;  // by operator: its tasks
  std::vector<std::uint32_t> wait_end_;            // by wait: its point
};

}  // namespace

Tasks tasksOfOperators(const Graph& graph, const EngineThread& training, std::vector<TimeNs> marks_ns) {
  return OperatorTasks(graph, training, std::move(marks_ns)).run();
}

}  // namespace pitwall::simulate
