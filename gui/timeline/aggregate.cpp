#include "gui/timeline/aggregate.h"

#include <algorithm>
#include <array>
#include <bit>
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

// Of very many names each has few events; tables by name and duration would be larger than the events.
constexpr std::size_t kMostTabled = 20'000;

// Durations in quarters of an octave: 0 and 1 ns in the first class, those too long for their column in the
// last.
constexpr std::size_t kClasses = 33 * 4;
std::size_t classOf(std::uint32_t dur) {
  constexpr std::uint32_t kOne = std::bit_cast<std::uint32_t>(1.0F) >> 21;
  return (std::bit_cast<std::uint32_t>(static_cast<float>(dur | 1)) >> 21) - kOne;
}

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

// Counts durations by name and class, then looks at the durations of a few classes alone: those in which the
// percentiles and the extremes lie.
class Tables {
 public:
  Tables(std::size_t names, TimeNs from, TimeNs to)
      : names_(names), from_(from), to_(to), totals_(names), counts_(names * kClasses) {}

  void count(const Part& part);
  void choose();
  void collect(const Part& part);
  std::vector<AggregateRow> rows();

 private:
  struct Chosen {
    std::size_t from = 0, to = 0;  // in durations_
  };
  struct Ranks {
    std::size_t least, half, most_but_one_percent, most;  // cells of counts_
    std::int64_t before_half, before_99;                  // events in classes below those
  };
  std::size_t cellOf(std::uint32_t look, std::uint32_t dur) const {
    return std::min<std::size_t>(Lane::nameOf(look), names_ - 1) * kClasses + classOf(dur);
  }
  static std::int64_t rankOf(double share, std::int64_t count) {
    return static_cast<std::int64_t>(share * static_cast<double>(count - 1) + 0.5);
  }
  TimeNs ranked(std::size_t cell, std::int64_t rank);

  const std::size_t names_;
  const TimeNs from_, to_;
  std::vector<TimeNs> totals_, sums_;  // within the range; whole
  std::vector<std::uint32_t> counts_;  // by name and class; after choose() numbers of chosen_
  std::vector<std::uint8_t> is_chosen_;
  std::vector<Chosen> chosen_;
  std::unique_ptr<TimeNs[]> durations_;
  std::vector<AggregateRow> rows_;
  std::vector<Ranks> ranks_;  // of rows_
};

void Tables::count(const Part& part) {
  const LaneColumns& columns = part.lane->columns();
  const auto durs = columns.dur.values();
  const auto looks = columns.look.values();
  for (std::size_t i = part.from; i < part.to; ++i) {
    const std::size_t name = std::min<std::size_t>(Lane::nameOf(looks[i]), names_ - 1);
    totals_[name] += durs[i];
    ++counts_[name * kClasses + classOf(durs[i])];
  }
  const auto nameAt = [&](std::size_t i) {
    return std::min<std::size_t>(Lane::nameOf(looks[i]), names_ - 1);
  };
  for (const LongDuration& dur : columns.long_dur.values()) {
    if (dur.index >= part.from && dur.index < part.to)
      totals_[nameAt(dur.index)] += dur.dur_ns - static_cast<TimeNs>(durs[dur.index]);
  }
  if (sums_.empty()) sums_.resize(names_);
  // Events of a lane do not overlap: only the first and the last can reach beyond the range.
  const Lane& lane = *part.lane;
  const auto cut = [&](std::size_t i, TimeNs outside) {
    totals_[nameAt(i)] -= outside;
    sums_[nameAt(i)] += outside;
  };
  cut(part.from, std::max<TimeNs>(0, from_ - lane.startNs(part.from)));
  cut(part.to - 1, std::max<TimeNs>(0, lane.endNs(part.to - 1) - to_));
}

void Tables::choose() {
  is_chosen_.resize(counts_.size());
  chosen_.emplace_back();
  std::size_t size = 0;
  for (std::size_t name = 0; name < names_; ++name) {
    const auto* counts = counts_.data() + name * kClasses;
    const std::int64_t count = std::accumulate(counts, counts + kClasses, std::int64_t{0});
    if (count == 0) continue;
    Ranks ranks{};
    std::int64_t below = 0;
    const std::int64_t half = rankOf(0.5, count), most_but = rankOf(0.99, count);
    for (std::size_t c = 0; c < kClasses; ++c) {
      const std::int64_t next = below + counts[c];
      const std::size_t cell = name * kClasses + c;
      if (below == 0 && next > 0) ranks.least = cell;
      if (next > below) ranks.most = cell;
      if (below <= half && half < next) ranks.half = cell, ranks.before_half = below;
      if (below <= most_but && most_but < next) ranks.most_but_one_percent = cell, ranks.before_99 = below;
      below = next;
    }
    for (const std::size_t cell : {ranks.least, ranks.half, ranks.most_but_one_percent, ranks.most}) {
      if (is_chosen_[cell] != 0) continue;
      is_chosen_[cell] = 1;
      const std::size_t events = counts_[cell];
      counts_[cell] = static_cast<std::uint32_t>(chosen_.size());
      chosen_.push_back({size, size});
      size += events;
    }
    rows_.push_back({.name = static_cast<std::uint32_t>(name), .count = count, .total_ns = totals_[name]});
    rows_.back().mean_ns = (totals_[name] + sums_[name]) / count;
    ranks_.push_back(ranks);
  }
  durations_ = std::make_unique_for_overwrite<TimeNs[]>(size);
}

void Tables::collect(const Part& part) {
  const auto durs = part.lane->columns().dur.values();
  const auto looks = part.lane->columns().look.values();
  // Few are chosen, and which ones nobody can foresee: first they are put together without a branch.
  constexpr std::size_t kPortion = 2048;
  std::array<std::uint32_t, kPortion> found;
  for (std::size_t begin = part.from; begin < part.to; begin += kPortion) {
    const std::size_t count = std::min(kPortion, part.to - begin);
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
      found[size] = static_cast<std::uint32_t>(i);
      size += is_chosen_[cellOf(looks[begin + i], durs[begin + i])];
    }
    for (std::size_t k = 0; k < size; ++k) {
      const std::size_t i = begin + found[k];
      durations_[chosen_[counts_[cellOf(looks[i], durs[i])]].to++] = part.lane->durNs(i);
    }
  }
}

TimeNs Tables::ranked(std::size_t cell, std::int64_t rank) {
  const Chosen& chosen = chosen_[counts_[cell]];
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

std::vector<AggregateRow> aggregate(const Timeline& timeline, const std::vector<std::size_t>& tracks,
                                    TimeNs from, TimeNs to, const std::atomic<bool>* cancel) {
  const auto parts = partsOf(timeline, tracks, from, to);
  std::vector<AggregateRow> rows;
  if (timeline.names.size() > kMostTabled) {
    rows = aggregateByLists(parts, from, to, cancel);
  } else {
    Tables tables(timeline.names.size(), from, to);
    const auto stopped = [cancel] { return cancel != nullptr && cancel->load(); };
    for (const Part& part : parts) {
      if (!stopped()) tables.count(part);
    }
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
