// Each thread is a chain of points: where an event begins or ends, a batch is waited for, or an iteration begins. Between
// two points the thread's time is that of the innermost event, or the program's own code.
#include "analyzer/simulate/device_tasks.h"

#include <algorithm>
#include <utility>

#include "analyzer/analysis/activity.h"
#include "analyzer/simulate/task_builder.h"

namespace pitwall::simulate {
namespace {

using analysis::DeviceGraph;
using analysis::EdgeKind;
using analysis::Graph;
using analysis::Node;

// A thread without events for longer than this waited for the training thread rather than did its own work.
constexpr TimeNs kLongestOwnGapNs = 100'000;

class DeviceTasks {
 public:
  DeviceTasks(const DeviceGraph& devices, const TrainingThread& training, std::vector<TimeNs> marks_ns)
      : devices_(devices),
        training_(training),
        marks_ns_(marks_ns),
        builder_(devices.graph.window, std::move(marks_ns)),
        begin_(devices.first_work),
        end_(devices.first_work),
        push_(devices.first_work, Graph::kNone),
        work_(devices.graph.nodes.size() - devices.first_work) {}

  Tasks run() {
    const auto threads = static_cast<std::uint32_t>(devices_.thread_begin.size()) - 1;
    main_ = trainingThread(threads);
    listPushes();
    if (main_ != Graph::kNone) addThread(main_);
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (t != main_) addThread(t);
    }
    addWork();
    for (std::uint32_t i = 0; i < devices_.first_work; ++i) linkHost(i);
    for (std::uint32_t i = 0; i < work_.size(); ++i) linkWork(devices_.first_work + i);
    linkOtherSynchronisation(threads);
    return builder_.finish(devices_.graph.resources.size());
  }

 private:
  using Moment = TaskBuilder::Moment;
  const Node& node(std::uint32_t index) const { return devices_.node(index); }
  TimeNs windowBegin() const { return devices_.graph.window.start_ns; }

  std::uint32_t trainingThread(std::uint32_t threads) const {
    std::uint32_t most = Graph::kNone;
    const auto events = [&](std::uint32_t t) {
      return devices_.thread_begin[t + 1] - devices_.thread_begin[t];
    };
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (training_.track && devices_.graph.resources[t].track == training_.track) return t;
      if (most == Graph::kNone || events(t) > events(most)) most = t;
    }
    return most;
  }

  // Of operators of the engine by the training thread, in order of time.
  void listPushes() {
    if (devices_.pushes == Graph::kNone || devices_.pushes != main_) return;
    for (std::uint32_t i = 0; i < devices_.first_work; ++i) {
      if (devices_.isOfEngine(i) && node(i).resource != main_ && node(i).asked_ns >= windowBegin())
        pushes_.push_back(i);
    }
    std::sort(pushes_.begin(), pushes_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(node(a).asked_ns, a) < std::pair(node(b).asked_ns, b);
    });
  }

  // Points of one thread while its events are read in order of their begins.
  struct Thread {
    std::uint32_t id = 0;
    TimeNs at_ns = 0;                 // of the point before
    std::vector<std::uint32_t> open;  // events, the one that ends first last
    std::size_t next_mark = 0, next_wait = 0;
    bool is_main = false;
  };

  std::uint32_t addPoint(Thread& thread, TimeNs at, Moment moment) {
    const auto inner = thread.open.empty() ? Graph::kNone : thread.open.back();
    at = std::max(at, thread.at_ns);
    const TimeNs own = at - thread.at_ns;
    const auto& waits = training_.data_waits;
    const bool loading = thread.is_main && thread.next_wait < waits.size() &&
                         waits[thread.next_wait].start_ns <= thread.at_ns && own > 0;
    thread.at_ns = at;
    return builder_.add({.at_ns = at,
                         .own_ns = own,
                         .node = inner,
                         .resource = static_cast<std::uint16_t>(thread.id),
                         .moment = moment,
                         .flags = static_cast<std::uint8_t>(loading ? Task::kLoading : 0)});
  }

  void endBefore(Thread& thread, TimeNs until) {
    while (!thread.open.empty() && node(thread.open.back()).end_ns <= until) {
      const auto event = thread.open.back();
      cutAt(thread, node(event).end_ns);
      end_[event] = addPoint(thread, node(event).end_ns, Moment::end);
      thread.open.pop_back();
    }
    cutAt(thread, until);
  }

  // Points of the training thread up to a moment where no event begins or ends.
  void cutAt(Thread& thread, TimeNs until) {
    if (!thread.is_main) return;
    const auto& waits = training_.data_waits;
    for (;;) {
      TimeNs mark = INT64_MAX, wait = INT64_MAX, push = INT64_MAX;
      if (thread.next_mark < marks_ns_.size()) mark = marks_ns_[thread.next_mark];
      const bool within = thread.next_wait < waits.size() && waits[thread.next_wait].start_ns <= thread.at_ns;
      if (thread.next_wait < waits.size())
        wait = within ? waits[thread.next_wait].end_ns : waits[thread.next_wait].start_ns;
      if (next_push_ < pushes_.size()) push = node(pushes_[next_push_]).asked_ns;
      const TimeNs next = std::min({mark, wait, push});
      if (next > until || next == INT64_MAX) return;
      const auto point = addPoint(thread, next, push < std::min(mark, wait) ? Moment::begin : Moment::end);
      if (push < std::min(mark, wait)) {
        push_[pushes_[next_push_++]] = point;
      } else if (wait <= mark) {
        thread.next_wait += within;
        if (!within && waits[thread.next_wait].end_ns <= waits[thread.next_wait].start_ns) ++thread.next_wait;
      } else {
        builder_.mark(thread.next_mark++, point);
      }
    }
  }

  void addThread(std::uint32_t t) {
    builder_.beginList();
    Thread thread{.id = t, .at_ns = windowBegin(), .open = {}, .is_main = t == main_};
    for (auto i = devices_.thread_begin[t]; i < devices_.thread_begin[t + 1]; ++i) {
      const auto& event = node(i);
      endBefore(thread, event.start_ns);
      begin_[i] = addPoint(thread, event.start_ns, Moment::begin);
      auto place = thread.open.end();
      while (place != thread.open.begin() && node(*(place - 1)).end_ns < event.end_ns) --place;
      thread.open.insert(place, i);
    }
    endBefore(thread, INT64_MAX);
  }

  void addWork() {
    auto stream = Graph::kNone;
    for (std::uint32_t i = 0; i < work_.size(); ++i) {
      const auto& work = node(devices_.first_work + i);
      if (work.resource != stream) builder_.beginList(), stream = work.resource;
      const TimeNs asked = work.asked_on == Graph::kNone ? work.start_ns : work.asked_ns;
      work_[i] = builder_.add({.at_ns = std::max(work.start_ns, windowBegin()),
                               .own_ns = work.end_ns - std::max(work.start_ns, windowBegin()),
                               .node = devices_.first_work + i,
                               .resource = static_cast<std::uint16_t>(work.resource),
                               .moment = Moment::work,
                               .flags = Task::kWork,
                               .iteration = builder_.iterationAt(asked)});
    }
  }

  std::uint32_t taskOf(std::uint32_t index) const {
    return devices_.isWork(index) ? work_[index - devices_.first_work] : end_[index];
  }

  void linkHost(std::uint32_t index) {
    const auto& event = node(index);
    const auto& graph = devices_.graph;
    if (const auto work = graph.into(index, EdgeKind::release); work != Graph::kNone) {
      const TimeNs delay = event.end_ns - node(work).end_ns;
      builder_.link(taskOf(work), end_[index], {0, LinkKind::release, true, delay});
      builder_.setOwn(end_[index], delay);
    }
    if (event.parent != Graph::kNone) return;
    if (devices_.isOfEngine(index)) return linkEngine(index);
    if (const auto other = graph.into(index, EdgeKind::handOver); other != Graph::kNone) {
      const TimeNs delay = event.start_ns - node(other).end_ns;
      builder_.link(end_[other], begin_[index], {0, LinkKind::handOver, true, delay});
      builder_.setOwn(begin_[index], 0);
    } else if (event.resource != main_ && builder_.ownOf(begin_[index]) > kLongestOwnGapNs) {
      pace(index);
    }
  }

  // An operator of the engine waited for its push, for its worker, and for those whose results it uses.
  void linkEngine(std::uint32_t index) {
    const auto& op = node(index);
    const TimeNs own_end = devices_.ownEnd(op.resource, op.start_ns),
                 ready = devices_.readyAt(index, own_end);
    bool any = false;
    for (const auto& wait : devices_.graph.into(index)) {
      if (wait.kind != EdgeKind::data) continue;
      const TimeNs ended = node(wait.from).end_ns;
      builder_.link(taskOf(wait.from), begin_[index],
                    {0, LinkKind::data, ended == ready, op.start_ns - ended});
      any = true;
    }
    if (push_[index] != Graph::kNone) {
      builder_.link(push_[index], begin_[index],
                    {0, LinkKind::launch, op.asked_ns == ready, op.start_ns - op.asked_ns});
      any = true;
    }
    if (any) builder_.setOwn(begin_[index], own_end == ready ? op.start_ns - own_end : 0);
  }

  // A thread that had nothing to do, and no other thread ran meanwhile that it could have waited for alone.
  void pace(std::uint32_t index) {
    const auto& event = node(index);
    auto last = devices_.lastBefore(main_, event.start_ns + 1);
    if (last == Graph::kNone || node(last).start_ns > event.start_ns) return;
    builder_.link(begin_[last], begin_[index],
                  {0, LinkKind::pace, true, event.start_ns - node(last).start_ns});
    builder_.setOwn(begin_[index], 0);
  }

  void linkWork(std::uint32_t index) {
    const auto& work = node(index);
    const auto binding = bindingOf(devices_, index);
    bool any = false;
    for (const auto& wait : devices_.graph.into(index)) {
      const bool launch = wait.kind == EdgeKind::launch;
      const TimeNs from = launch ? node(wait.from).start_ns : node(wait.from).end_ns;
      const LinkKind kind = launch                          ? LinkKind::launch
                            : wait.kind == EdgeKind::stream ? LinkKind::stream
                                                            : LinkKind::order;
      const bool bound = launch ? binding.kind == analysis::Binding::Kind::launch : wait.from == binding.work;
      const auto task = launch ? begin_[wait.from] : taskOf(wait.from);
      TimeNs delay = work.start_ns - from;
      // Work of one stream may overlap: then it waited for the beginning of the work before only.
      if (kind == LinkKind::order && delay < 0 && work.start_ns >= node(wait.from).start_ns) continue;
      any |= delay >= 0;
      builder_.link(task, work_[index - devices_.first_work], {0, kind, bound, delay});
    }
    if (any) return;
    builder_.link(TaskBuilder::kOrigin, work_[index - devices_.first_work],
                  {0, LinkKind::origin, true, std::max<TimeNs>(0, work.start_ns - windowBegin())});
  }

  // Calls that wait for a device, and had nothing to wait for: after an edit they may have. What they wait for is the
  // last work that their thread had launched, if that had ended by then.
  void linkOtherSynchronisation(std::uint32_t threads) {
    if (!devices_.has_synchronisation) return;
    std::vector<std::vector<std::uint32_t>> launched(threads);  // work, by thread, in order of launches
    for (std::uint32_t i = 0; i < work_.size(); ++i) {
      const auto thread = node(devices_.first_work + i).asked_on;
      if (thread != Graph::kNone) launched[thread].push_back(devices_.first_work + i);
    }
    for (auto& list : launched) {
      std::sort(list.begin(), list.end(), [this](std::uint32_t a, std::uint32_t b) {
        return std::pair(node(a).asked_ns, a) < std::pair(node(b).asked_ns, b);
      });
    }
    for (std::uint32_t i = 0; i < devices_.first_work; ++i) {
      const auto& call = node(i);
      if (call.kind != EventKind::api || (call.meaning & analysis::kSynchronises) == 0 ||
          devices_.graph.into(i, EdgeKind::release) != Graph::kNone)
        continue;
      const auto& list = launched[call.resource];
      const auto after = std::partition_point(
          list.begin(), list.end(), [&](std::uint32_t w) { return node(w).asked_ns < call.start_ns; });
      if (after == list.begin()) continue;
      const auto work = *(after - 1);
      if (node(work).end_ns <= call.end_ns)
        builder_.link(taskOf(work), end_[i], {0, LinkKind::release, false, call.end_ns - node(work).end_ns});
    }
  }

  const DeviceGraph& devices_;
  const TrainingThread& training_;
  const std::vector<TimeNs> marks_ns_;
  TaskBuilder builder_;
  std::vector<std::uint32_t> begin_, end_;  // by host event: its points
  std::vector<std::uint32_t> push_;         // by host event: the point of its push
  std::vector<std::uint32_t> pushes_;       // operators, by their pushes
  std::size_t next_push_ = 0;
  std::vector<std::uint32_t> work_;  // by device work: its task
  std::uint32_t main_ = Graph::kNone;
};

}  // namespace

Tasks tasksOfDevices(const DeviceGraph& devices, const TrainingThread& training,
                     std::vector<TimeNs> marks_ns) {
  return DeviceTasks(devices, training, std::move(marks_ns)).run();
}

}  // namespace pitwall::simulate
