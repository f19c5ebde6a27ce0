// Sums over the events of a time range by group of names (name_groups.h), and self times.
#pragma once

#include <span>

#include "gui/timeline/aggregate.h"

namespace pitwall::gui {

// As aggregate(), with row.name the place of a group in timeline.groups.
std::vector<AggregateRow> aggregateGroups(const Timeline& timeline, const std::vector<std::size_t>& tracks,
                                          TimeNs from, TimeNs to, const std::atomic<bool>* cancel = nullptr);

// Sets self_ns of rows by name, or by what `group_of` has at the name. Of overlapping asynchronous events only what is completely within
// another one counts as nested.
void addSelfTimes(const Timeline& timeline, const std::vector<std::size_t>& tracks, TimeNs from, TimeNs to,
                  std::span<const std::uint32_t> group_of, std::vector<AggregateRow>& rows,
                  const std::atomic<bool>* cancel = nullptr);

}  // namespace pitwall::gui
