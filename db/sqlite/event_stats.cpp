// The table-valued function event_stats(track, t0, t1): durations by name and kind, without SQLite's row
// machinery.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "db/sqlite/virtual_table.h"
#include "db/sqlite/virtual_tables.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

enum class StatsTableColumn : int { name, kind, count, total_ns, min_ns, max_ns, track, t0, t1 };

// Groups found so far, with a hash table over (name, kind).
class Groups {
 public:
  explicit Groups(std::size_t names) : slots_((names + 1) * kKinds, 0) {}

  void add(std::int64_t name, std::int64_t kind, std::int64_t dur) { of(name, kind).add(dur); }
  void add(const EventGroup& more) { of(more.name, more.kind).add(more); }

  std::vector<EventGroup> take() { return std::move(groups_); }

 private:
  EventGroup& of(std::int64_t name, std::int64_t kind) {
    const std::size_t kind_slot =
        static_cast<std::uint64_t>(kind) < kKinds ? static_cast<std::size_t>(kind) : kKinds - 1;
    std::uint32_t& slot = slots_[static_cast<std::size_t>(name) * kKinds + kind_slot];
    if (slot == 0) {
      EventGroup& group = groups_.emplace_back();
      group.name = name;
      group.kind = static_cast<std::int64_t>(kind_slot);
      slot = static_cast<std::uint32_t>(groups_.size());
    }
    return groups_[slot - 1];
  }

  static constexpr std::size_t kKinds = 16;
  static_assert(static_cast<std::size_t>(EventKind::communication) < kKinds - 1);
  std::vector<std::uint32_t> slots_;  // index into groups_ + 1; 0 = none yet
  std::vector<EventGroup> groups_;
};

class StatsCursor {
 public:
  explicit StatsCursor(TraceData& data) : data_(data) {}

  Status filter(int plan, const char*, std::span<sqlite3_value*> values) {
    constexpr const char* kNames[] = {"event_stats: track", "event_stats: t0", "event_stats: t1"};
    for (int k = 0; k < 3; ++k) {
      arguments_[k].reset();
      sqlite3_value* value = argumentOf(plan, values, k);
      if (value == nullptr) continue;
      arguments_[k] = PITWALL_TRY(integerArgument(value, kNames[k]));
    }
    return compute();
  }

  Status next() {
    ++at_;
    return {};
  }
  bool atEnd() const { return at_ >= groups_.size(); }
  std::int64_t rowId() const { return static_cast<std::int64_t>(at_); }

  Status column(sqlite3_context* context, int index) {
    const EventGroup& group = groups_[at_];
    switch (static_cast<StatsTableColumn>(index)) {
      case StatsTableColumn::name:
        resultText(context, group.name == 0
                                ? std::string_view("")
                                : data_.dimensions().strings[static_cast<std::size_t>(group.name - 1)]);
        break;
      case StatsTableColumn::kind: resultText(context, toString(static_cast<EventKind>(group.kind))); break;
      case StatsTableColumn::count: sqlite3_result_int64(context, group.events); break;
      case StatsTableColumn::total_ns: sqlite3_result_int64(context, group.total_ns); break;
      case StatsTableColumn::min_ns: sqlite3_result_int64(context, group.least_ns); break;
      case StatsTableColumn::max_ns: sqlite3_result_int64(context, group.most_ns); break;
      default: {
        const auto& argument = arguments_[index - static_cast<int>(StatsTableColumn::track)];
        if (argument.has_value()) sqlite3_result_int64(context, *argument);
        break;
      }
    }
    return {};
  }

 private:
  Status compute() {
    at_ = 0;
    Groups groups(data_.dimensions().strings.size());
    const auto& [track, t0, t1] = arguments_;
    for (std::size_t i = 0; i < data_.events().summaries().size(); ++i) {
      const ChunkSummary& summary = data_.events().summaries()[i];
      if (track.has_value() && *track != std::int64_t{summary.track}) continue;
      if (t1.has_value() && summary.time_ns.least >= *t1) continue;
      PITWALL_TRY(addChunk(i, groups));
    }
    groups_ = groups.take();
    return {};
  }

  // Adds the chunk's summary; false when it has none or is only partly selected.
  Result<bool> addSummary(const ChunkSummary& chunk, Groups& groups) {
    const auto& [track, t0, t1] = arguments_;
    if (t0.has_value() && chunk.time_ns.least < *t0) return false;
    const auto strings = static_cast<std::int64_t>(data_.dimensions().strings.size());
    Result<bool> found = data_.eventSummaries().groups(chunk.id, strings, summary_);
    if (!found.has_value() || !*found || (t1.has_value() && summary_.last_start_ns >= *t1))
      return found.has_value() ? Result<bool>(false) : found;
    for (const EventGroup& group : summary_.groups) groups.add(group);
    return true;
  }

  Status addChunk(std::size_t index, Groups& groups) {
    const bool summed = PITWALL_TRY(addSummary(data_.events().summaries()[index], groups));
    return summed ? Status() : addRows(index, groups);
  }

  Status addRows(std::size_t index, Groups& groups) {
    const auto column = [&](EventColumn at) {
      return scanColumn(data_, index, at, scratch_[static_cast<std::size_t>(at)]);
    };
    auto starts = PITWALL_TRY(column(EventColumn::start));
    const auto& [track, t0, t1] = arguments_;
    const auto before = [&](const std::optional<std::int64_t>& time, std::size_t otherwise) {
      return time.has_value()
                 ? static_cast<std::size_t>(std::ranges::lower_bound(starts, *time) - starts.begin())
                 : otherwise;
    };
    const std::size_t from = before(t0, 0), to = before(t1, starts.size());
    if (from >= to) return {};
    auto names = PITWALL_TRY(column(EventColumn::name));
    auto kinds = PITWALL_TRY(column(EventColumn::kind));
    auto durs = PITWALL_TRY(column(EventColumn::dur));
    for (std::size_t i = from; i < to; ++i) groups.add(names[i], kinds[i], durs[i]);
    return {};
  }

  EventSummary summary_;  // scratch
  std::array<std::vector<std::int64_t>, kEventColumns> scratch_;
  TraceData& data_;
  std::optional<std::int64_t> arguments_[3];  // track, t0, t1
  std::vector<EventGroup> groups_;
  std::size_t at_ = 0;
};

struct EventStats {
  static constexpr const char* kSchema =
      "CREATE TABLE x(name TEXT, kind TEXT, count INTEGER, total_ns INTEGER, min_ns INTEGER, max_ns INTEGER,"
      " track INTEGER HIDDEN, t0 INTEGER HIDDEN, t1 INTEGER HIDDEN)";
  using Cursor = StatsCursor;

  static int bestIndex(TraceData& data, sqlite3_index_info& info) {
    info.estimatedCost = 100 + static_cast<double>(data.events().rows()) / 20;
    info.estimatedRows = 50;
    return planArguments(info, static_cast<int>(StatsTableColumn::track), 3);
  }
};

}  // namespace

const sqlite3_module* eventStatsFunction() { return moduleOf<EventStats>(); }

}  // namespace pitwall::store
