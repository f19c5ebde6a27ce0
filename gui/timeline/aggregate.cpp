#include "gui/timeline/aggregate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>

namespace pitwall::gui {
namespace {

TimeNs percentile(std::vector<TimeNs>& values, double p) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(p * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

AggregateRow summarize(std::uint32_t name, TimeNs total_ns, std::vector<TimeNs>& durations) {
  AggregateRow row{.name = name, .count = static_cast<std::int64_t>(durations.size()), .total_ns = total_ns};
  TimeNs sum = 0;
  row.min_ns = durations[0];
  for (const TimeNs dur : durations) {
    sum += dur;
    row.min_ns = std::min(row.min_ns, dur);
    row.max_ns = std::max(row.max_ns, dur);
  }
  row.mean_ns = sum / row.count;
  row.p50_ns = percentile(durations, 0.5);
  row.p99_ns = percentile(durations, 0.99);
  return row;
}

namespace {

// The events of a lane that touch the range.
struct Part {
  const Lane* lane;
  std::size_t from, to;
};

std::vector<Part> partsOf(const Timeline& timeline, const std::vector<std::size_t>& tracks, TimeNs from,
                          TimeNs to) {
  std::vector<Part> parts;
  for (const std::size_t track : tracks) {
    for (const Lane& lane : timeline.tracks[track].lanes) {
      const Part part{&lane, lane.firstReaching(from), lane.firstAt(to)};
      if (part.from < part.to) parts.push_back(part);
    }
  }
  return parts;
}

// What is counted of all events also gives the counts of a range: subtract what is outside. Those are fewer
// when the range is most of the trace.
DurationClasses classesOf(const Timeline& timeline, const std::vector<Part>& parts,
                          const std::atomic<bool>* cancel) {
  const auto stopped = [cancel] { return cancel != nullptr && cancel->load(); };
  std::unordered_map<const Lane*, const Part*> part_of;
  std::size_t inside = 0;
  for (const Part& part : parts) {
    part_of[part.lane] = &part;
    inside += part.to - part.from;
  }
  const bool each_once = part_of.size() == parts.size();
  if (timeline.classes.names() != timeline.names.size() || !each_once || inside < timeline.events / 2) {
    DurationClasses classes(timeline.names.size());
    for (const Part& part : parts) {
      if (!stopped()) classes.add(*part.lane, part.from, part.to);
    }
    return classes;
  }
  DurationClasses classes = timeline.classes;
  for (const TimelineTrack& track : timeline.tracks) {
    for (const Lane& lane : track.lanes) {
      if (stopped()) return classes;
      const auto part = part_of.find(&lane);
      const std::size_t from = part != part_of.end() ? part->second->from : lane.size();
      classes.remove(lane, 0, from);
      if (part != part_of.end()) classes.remove(lane, part->second->to, lane.size());
    }
  }
  return classes;
}

// Of events counted by name and class only a few classes are examined: those of the percentiles
// and the extremes.
class Tables {
 public:
  explicit Tables(DurationClasses classes)
      : classes_(std::move(classes)), outside_(classes_.names()), places_(classes_.counts().size()) {}

  // Events of a lane do not overlap: only the first and the last can reach beyond the range.
  void cut(const Part& part, TimeNs from, TimeNs to);
  void choose();
  void collect(const Part& part);
  std::vector<AggregateRow> rows();

 private:
  struct Chosen {
    std::size_t from = 0, to = 0;  // in durations_
    std::size_t end = 0;           // capacity
  };
  struct Ranks {
    std::size_t least, half, most_but_one_percent, most;  // cells
    std::int64_t before_half, before_99;                  // events in classes below those
  };
  static std::int64_t rankOf(double share, std::int64_t count) {
    return static_cast<std::int64_t>(share * static_cast<double>(count - 1) + 0.5);
  }
  Ranks ranksOf(std::size_t name, std::int64_t count) const;
  TimeNs ranked(std::size_t cell, std::int64_t rank);
  bool isChosen(std::size_t cell) const { return (is_chosen_[cell / 32] >> (cell % 32) & 1U) != 0; }

  const DurationClasses classes_;
  std::vector<TimeNs> outside_;           // of whole durations, what is outside the range, by name
  std::vector<std::uint32_t> places_;     // of cells that are chosen, in chosen_
  std::vector<std::uint32_t> is_chosen_;  // a bit a cell
  std::vector<Chosen> chosen_;
  std::unique_ptr<TimeNs[]> durations_;
  std::vector<AggregateRow> rows_;
  std::vector<Ranks> ranks_;  // of rows_
};

void Tables::cut(const Part& part, TimeNs from, TimeNs to) {
  const Lane& lane = *part.lane;
  const auto add = [&](std::size_t i, TimeNs outside) {
    if (outside > 0) outside_[std::min<std::size_t>(lane.name(i), classes_.names() - 1)] += outside;
  };
  add(part.from, from - lane.startNs(part.from));
  add(part.to - 1, lane.endNs(part.to - 1) - to);
}

Tables::Ranks Tables::ranksOf(std::size_t name, std::int64_t count) const {
  Ranks ranks{};
  const std::int64_t half = rankOf(0.5, count), most_but = rankOf(0.99, count);
  std::int64_t below = 0;
  for (std::size_t cell = name * kDurationClasses; cell < (name + 1) * kDurationClasses; ++cell) {
    const std::int64_t next = below + classes_.counts()[cell];
    if (next == below) continue;
    if (below == 0) ranks.least = cell;
    ranks.most = cell;
    if (below <= half && half < next) ranks.half = cell, ranks.before_half = below;
    if (below <= most_but && most_but < next) ranks.most_but_one_percent = cell, ranks.before_99 = below;
    below = next;
  }
  return ranks;
}

void Tables::choose() {
  is_chosen_.assign(places_.size() / 32, 0);
  std::size_t size = 0;
  for (std::size_t name = 0; name < classes_.names(); ++name) {
    const auto* counts = classes_.counts().data() + name * kDurationClasses;
    const std::int64_t count = std::accumulate(counts, counts + kDurationClasses, std::int64_t{0});
    if (count == 0) continue;
    const Ranks ranks = ranksOf(name, count);
    for (const std::size_t cell : {ranks.least, ranks.half, ranks.most_but_one_percent, ranks.most}) {
      if (isChosen(cell)) continue;
      is_chosen_[cell / 32] |= 1U << (cell % 32);
      places_[cell] = static_cast<std::uint32_t>(chosen_.size());
      chosen_.push_back({size, size, size + classes_.counts()[cell]});
      size = chosen_.back().end;
    }
    const TimeNs total = classes_.totals()[name];
    rows_.push_back({.name = static_cast<std::uint32_t>(name),
                     .count = count,
                     .total_ns = total - outside_[name],
                     .mean_ns = total / count});
    ranks_.push_back(ranks);
  }
  durations_ = std::make_unique_for_overwrite<TimeNs[]>(size);
}

void Tables::collect(const Part& part) {
  const auto durs = part.lane->columns().dur.values();
  const auto looks = part.lane->columns().look.values();
  // Few are chosen, in an unpredictable order: first they are collected without a branch.
  constexpr std::size_t kPortion = 2048;
  std::array<std::uint32_t, kPortion> cells, found;
  for (std::size_t begin = part.from; begin < part.to; begin += kPortion) {
    const std::size_t count = std::min(kPortion, part.to - begin);
    for (std::size_t i = 0; i < count; ++i) cells[i] = classes_.cellOf(looks[begin + i], durs[begin + i]);
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
      found[size] = static_cast<std::uint32_t>(i);
      size += isChosen(cells[i]) ? 1 : 0;
    }
    for (std::size_t k = 0; k < size; ++k) {
      Chosen& chosen = chosen_[places_[cells[found[k]]]];
      if (chosen.to < chosen.end) durations_[chosen.to++] = part.lane->durNs(begin + found[k]);
    }
  }
}

TimeNs Tables::ranked(std::size_t cell, std::int64_t rank) {
  const Chosen& chosen = chosen_[places_[cell]];
  TimeNs *const begin = durations_.get() + chosen.from, *const end = durations_.get() + chosen.to;
  if (begin == end) return 0;  // cancelled before they were collected
  TimeNs* const at = begin + std::clamp<std::int64_t>(rank, 0, end - begin - 1);
  std::nth_element(begin, at, end);
  return *at;
}

std::vector<AggregateRow> Tables::rows() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    AggregateRow& row = rows_[i];
    const Ranks& ranks = ranks_[i];
    row.min_ns = ranked(ranks.least, 0);
    row.max_ns = ranked(ranks.most, std::numeric_limits<std::int64_t>::max());
    row.p50_ns = ranked(ranks.half, rankOf(0.5, row.count) - ranks.before_half);
    row.p99_ns = ranked(ranks.most_but_one_percent, rankOf(0.99, row.count) - ranks.before_99);
  }
  return std::move(rows_);
}

std::vector<AggregateRow> aggregateByLists(const std::vector<Part>& parts, TimeNs from, TimeNs to,
                                           const std::atomic<bool>* cancel) {
  struct Group {
    TimeNs total = 0;
    std::vector<TimeNs> durations;
  };
  std::unordered_map<std::uint32_t, Group> groups;
  for (const Part& part : parts) {
    if (cancel != nullptr && cancel->load()) break;
    const Lane& lane = *part.lane;
    for (std::size_t i = part.from; i < part.to; ++i) {
      Group& group = groups[lane.name(i)];
      group.total += std::min(lane.endNs(i), to) - std::max(lane.startNs(i), from);
      group.durations.push_back(lane.durNs(i));
    }
  }
  std::vector<AggregateRow> rows;
  for (auto& [name, group] : groups) rows.push_back(summarize(name, group.total, group.durations));
  return rows;
}

}  // namespace

DurationClasses classesOfAll(const Timeline& timeline) {
  if (timeline.names.empty() || timeline.names.size() > DurationClasses::kMostNames) return {};
  DurationClasses classes(timeline.names.size());
  for (const TimelineTrack& track : timeline.tracks) {
    for (const Lane& lane : track.lanes) classes.add(lane, 0, lane.size());
  }
  return classes;
}

std::vector<AggregateRow> aggregate(const Timeline& timeline, const std::vector<std::size_t>& tracks,
                                    TimeNs from, TimeNs to, const std::atomic<bool>* cancel) {
  const auto parts = partsOf(timeline, tracks, from, to);
  std::vector<AggregateRow> rows;
  if (timeline.names.size() > DurationClasses::kMostNames || timeline.names.empty()) {
    rows = aggregateByLists(parts, from, to, cancel);
  } else {
    const auto stopped = [cancel] { return cancel != nullptr && cancel->load(); };
    Tables tables(classesOf(timeline, parts, cancel));
    for (const Part& part : parts) tables.cut(part, from, to);
    if (stopped()) return rows;
    tables.choose();
    for (const Part& part : parts) {
      if (!stopped()) tables.collect(part);
    }
    rows = tables.rows();
  }
  std::sort(rows.begin(), rows.end(), [](const AggregateRow& a, const AggregateRow& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return rows;
}

}  // namespace pitwall::gui
