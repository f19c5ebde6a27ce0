// A histogram of the durations of the events of one name. Without Qt widgets; computed in the
// background.
#pragma once

#include <optional>

#include "gui/timeline/aggregate.h"

namespace pitwall::gui {

struct DurationHistogram {
  struct Bin {
    TimeNs from_ns = 0, to_ns = 0;  // [from, to); the last one holds `to` as well
    std::int64_t count = 0;
  };
  AggregateRow facts;      // of all that are counted
  std::vector<Bin> bins;   // one after the other; empty: no such event
  std::int64_t most = 0;   // in a bin
  bool by_factor = false;  // each bin is wider than the last by the same factor
};

// Of the events of that name that overlap [from, to), on all tracks. Bins grow by a factor where durations
// spread over more than a power of ten, else they are equally wide.
DurationHistogram durationHistogram(const Timeline& timeline, std::uint32_t name, TimeNs from, TimeNs to,
                                    int bins, const std::atomic<bool>* cancel = nullptr);

// The bin of a duration; nullopt when it is outside.
std::optional<std::size_t> binOf(const DurationHistogram& histogram, TimeNs dur_ns);

}  // namespace pitwall::gui
