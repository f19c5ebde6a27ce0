#include "db/sqlite/event_nodes.h"

#include <algorithm>

#include "db/sqlite/chunk_columns.h"

namespace pitwall::store {

namespace {

void addCapped(TimeNs& sum, TimeNs more) { sum = cappedEnd(sum, more); }

}  // namespace

void EventGroup::add(TimeNs dur) {
  ++events;
  addCapped(total_ns, dur);
  least_ns = std::min(least_ns, dur);
  most_ns = std::max(most_ns, dur);
}

void EventGroup::add(const EventGroup& other) {
  events += other.events;
  addCapped(total_ns, other.total_ns);
  least_ns = std::min(least_ns, other.least_ns);
  most_ns = std::max(most_ns, other.most_ns);
}

void EventNode::add(TimeNs start, TimeNs dur, std::int64_t event_name) {
  if (events == 0 || dur > longest_ns) {
    longest_ns = dur;
    name = event_name;
  }
  ++events;
  start_ns = std::min(start_ns, start);
  end_ns = std::max(end_ns, cappedEnd(start, dur));
  addCapped(total_ns, dur);
}

void EventNode::add(const EventNode& other) {
  if (events == 0 || other.longest_ns > longest_ns) {
    longest_ns = other.longest_ns;
    name = other.name;
  }
  events += other.events;
  start_ns = std::min(start_ns, other.start_ns);
  end_ns = std::max(end_ns, other.end_ns);
  addCapped(total_ns, other.total_ns);
}

std::vector<EventGroup> groupEvents(std::span<const std::int64_t> name, std::span<const std::int64_t> kind,
                                    std::span<const std::int64_t> dur) {
  const std::size_t most = name.size() / 8;
  std::vector<EventGroup> groups;
  std::size_t slots_needed = 64;
  while (slots_needed < 2 * most) slots_needed *= 2;
  std::vector<std::uint32_t> slots(slots_needed, 0);  // index into groups + 1, at the hash or behind it
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::uint64_t key = static_cast<std::uint64_t>(name[i]) << 8 ^ static_cast<std::uint64_t>(kind[i]);
    std::size_t at = (key * 0x9e3779b97f4a7c15 >> 32) & (slots.size() - 1);
    while (slots[at] != 0 && (groups[slots[at] - 1].name != name[i] || groups[slots[at] - 1].kind != kind[i]))
      at = (at + 1) & (slots.size() - 1);
    if (slots[at] == 0) {
      if (groups.size() >= most) return {};
      EventGroup& group = groups.emplace_back();
      group.name = name[i];
      group.kind = kind[i];
      slots[at] = static_cast<std::uint32_t>(groups.size());
    }
    groups[slots[at] - 1].add(dur[i]);
  }
  return groups;
}

std::vector<EventNode> nodesOf(const EventRows& rows) {
  std::vector<EventNode> nodes;
  std::vector<std::uint32_t> open;  // by depth: index into nodes + 1 of the one that is not full; 0 = none
  for (std::size_t i = 0; i < rows.start.size(); ++i) {
    const auto depth = static_cast<std::size_t>(rows.depth[i] & 0xffff);
    if (depth >= open.size()) open.resize(depth + 1, 0);
    if (open[depth] == 0) {
      EventNode& node = nodes.emplace_back();
      node.depth = static_cast<std::int64_t>(depth);
      node.row = static_cast<std::int64_t>(i);
      open[depth] = static_cast<std::uint32_t>(nodes.size());
    }
    EventNode& node = nodes[open[depth] - 1];
    node.add(rows.start[i], rows.dur[i], rows.name[i]);
    if (node.events == kNodeEvents) open[depth] = 0;
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const EventNode& a, const EventNode& b) { return a.depth < b.depth; });
  return nodes;
}

}  // namespace pitwall::store
