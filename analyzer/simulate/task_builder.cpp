#include "analyzer/simulate/task_builder.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pitwall::simulate {

const char* toString(LinkKind kind) {
  switch (kind) {
    case LinkKind::origin: return "origin";
    case LinkKind::order: return "order";
    case LinkKind::stream: return "stream";
    case LinkKind::data: return "data";
    case LinkKind::launch: return "launch";
    case LinkKind::release: return "release";
    case LinkKind::handOver: return "hand-over";
    case LinkKind::pace: return "pace";
  }
  return "origin";
}

TaskBuilder::TaskBuilder(analysis::Interval window, std::vector<TimeNs> marks_ns)
    : window_(window), marks_ns_(std::move(marks_ns)), marks_(marks_ns_.size(), Task::kNone) {
  beginList();
  add({.at_ns = INT64_MIN});
}

void TaskBuilder::beginList() { lists_.push_back(static_cast<std::uint32_t>(entries_.size())); }

std::uint32_t TaskBuilder::add(const Entry& entry) {
  const auto number = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back(entry);
  if (number == lists_.back()) return number;
  const auto& before = entries_[number - 1];
  auto& added = entries_.back();
  if (added.at_ns <= before.at_ns) {
    added.moment = added.at_ns < before.at_ns ? before.moment : std::max(added.moment, before.moment);
    added.at_ns = before.at_ns;
  }
  return number;
}

std::uint32_t TaskBuilder::iterationAt(TimeNs at_ns) const {
  return static_cast<std::uint32_t>(std::upper_bound(marks_ns_.begin(), marks_ns_.end(), at_ns) -
                                    marks_ns_.begin());
}

void TaskBuilder::link(std::uint32_t from, std::uint32_t to, const Link& link) {
  if (link.delay_ns < 0) {
    ++contradictions_[static_cast<std::size_t>(link.kind)];
    return;
  }
  links_.push_back({to, link});
  links_.back().link.from = from;
}

// Entry numbers in order of time: the lists are in order, so that merging them two by two is enough.
std::vector<std::uint32_t> TaskBuilder::order() const {
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    const auto &x = entries_[a], &y = entries_[b];
    return std::tuple(x.at_ns, x.moment) < std::tuple(y.at_ns, y.moment);
  };
  std::vector<std::uint32_t> order(entries_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  auto begins = lists_;
  begins.push_back(static_cast<std::uint32_t>(order.size()));
  std::vector<std::uint32_t> merged(order.size());
  while (begins.size() > 2) {
    std::vector<std::uint32_t> next;
    for (std::size_t i = 0; i + 1 < begins.size(); i += 2) {
      const auto middle = begins[i + 1], end = i + 2 < begins.size() ? begins[i + 2] : middle;
      const auto at = [&](std::uint32_t place) { return order.begin() + place; };
      std::merge(at(begins[i]), at(middle), at(middle), at(end), merged.begin() + begins[i], before);
      next.push_back(begins[i]);
    }
    next.push_back(begins.back());
    order.swap(merged);
    begins = std::move(next);
  }
  return order;
}

void TaskBuilder::setTypicalDelays(Tasks& tasks) const {
  for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
    std::vector<TimeNs> bound;
    for (const auto& [to, link] : links_) {
      if (link.bound && static_cast<std::size_t>(link.kind) == kind) bound.push_back(link.delay_ns);
    }
    if (bound.empty()) continue;
    const auto middle = bound.begin() + static_cast<std::ptrdiff_t>(bound.size() / 2);
    std::nth_element(bound.begin(), middle, bound.end());
    tasks.typical_ns[kind] = *middle;
  }
}

void TaskBuilder::setLinks(Tasks& tasks, const std::vector<std::uint32_t>& place) {
  std::vector<std::uint32_t> count(tasks.all.size() + 1);
  tasks.contradictions = contradictions_;
  const auto in_order = [&place](const NumberedLink& link) { return place[link.link.from] < place[link.to]; };
  for (const auto& link : links_) {
    if (in_order(link)) {
      ++count[place[link.to] + 1];
    } else {
      ++tasks.contradictions[static_cast<std::size_t>(link.link.kind)];
    }
  }
  for (std::size_t i = 1; i < count.size(); ++i) count[i] += count[i - 1];
  for (std::size_t i = 0; i < tasks.all.size(); ++i) tasks.all[i].first_link = count[i];
  tasks.links.resize(count.back());
  for (const auto& [to, link] : links_) {
    if (place[link.from] >= place[to]) continue;
    auto& placed = tasks.links[count[place[to]]++];
    placed = link;
    placed.from = place[link.from];
    // Of a link that did not bind, the delay is known only to be no longer than that.
    if (!link.bound)
      placed.delay_ns = std::min(link.delay_ns, tasks.typical_ns[static_cast<std::size_t>(link.kind)]);
  }
}

std::vector<TimeNs> TaskBuilder::finished() const {
  std::vector<TimeNs> of_work(marks_ns_.size() + 1, INT64_MIN), result;
  for (const auto& entry : entries_) {
    if ((entry.flags & Task::kWork) != 0)
      of_work[entry.iteration] = std::max(of_work[entry.iteration], entry.at_ns + entry.own_ns);
  }
  TimeNs latest = INT64_MIN;
  for (std::size_t i = 0; i < marks_ns_.size(); ++i) {
    latest = std::max(latest, of_work[i]);
    result.push_back(std::max(latest, marks_[i] == Task::kNone ? INT64_MIN : marks_ns_[i]) -
                     window_.start_ns);
  }
  return result;
}

Tasks TaskBuilder::finish(std::size_t resources) {
  Tasks tasks;
  tasks.window = window_;
  tasks.resources = resources;
  const auto numbers = order();
  std::vector<std::uint32_t> place(numbers.size());
  tasks.all.reserve(numbers.size());
  for (const std::uint32_t number : numbers) {
    const auto& entry = entries_[number];
    place[number] = static_cast<std::uint32_t>(tasks.all.size());
    tasks.all.push_back({entry.own_ns, entry.node, 0, entry.iteration, entry.resource, entry.flags});
  }
  tasks.finished_ns = finished();
  std::vector<Entry>().swap(entries_);
  setTypicalDelays(tasks);
  setLinks(tasks, place);
  tasks.marks_ns = std::move(marks_ns_);
  for (const std::uint32_t number : marks_)
    tasks.marks.push_back(number == Task::kNone ? Task::kNone : place[number]);
  return tasks;
}

}  // namespace pitwall::simulate
