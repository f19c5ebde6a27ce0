#include "db/import/align.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <unordered_map>

#include "db/import/build/input_clock.h"
#include "db/import/clock_offset.h"
#include "db/import/input/text.h"
#include "db/meta.h"

namespace pitwall::import {

struct InputFacts {
  bool readable = false;
  std::optional<std::int64_t> unix_ns;  // of its time 0
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
  std::string host;
  std::optional<int> rank;
  std::string format;
  std::string timeline;  // meta import.timeline: "order only" when times mean nothing
  Moments collectives;
  Moments marks;
};

namespace {

constexpr std::size_t kMostCollectives = std::size_t{1} << 18;
constexpr std::size_t kFewestCollectives = 3;

// Keeps the data of a trace that relates its clock to other clocks.
class FactsSink final : public TraceSink {
 public:
  StringId string(std::string_view text) override {
    const auto [found, fresh] = ids_.try_emplace(std::string(text), StringId{});
    if (fresh) {
      found->second = StringId{static_cast<std::uint32_t>(ids_.size())};
      texts_.push_back(&found->first);
    }
    return found->second;
  }
  ProcessId process(const ProcessInfo&) override { return ProcessId{++processes_}; }
  ThreadId thread(const ThreadInfo&) override { return ThreadId{++threads_}; }
  DeviceId device(const DeviceInfo&) override { return DeviceId{++devices_}; }
  TrackId track(const TrackInfo&) override { return TrackId{++tracks_}; }
  OperatorId operatorFacts(const OperatorFacts&) override { return OperatorId{++operators_}; }
  KernelId kernelFacts(const KernelFacts&) override { return KernelId{++kernels_}; }
  FrameId frame(const FrameInfo&) override { return FrameId{++frames_}; }
  StackId stack(const StackInfo&) override { return StackId{++stacks_}; }
  void meta(std::string_view key, std::string_view value) override {
    if (key == meta::kTraceStartUnixNs) unix_ns = parseInteger(value);
    if (key == "import.timeline") timeline = std::string(value);
    if (key == meta::kHostName) host = std::string(value);
    // A merged trace of several machines.
    if (key.starts_with("input.") && key.ends_with(meta::kHostName)) several_hosts = true;
  }
  void setting(const SettingInEffect&) override {}
  void tunable(const TunableInEffect&) override {}
  void iteration(const IterationMark& mark) override { marks.push_back(mark); }
  void loss(const Loss&) override {}
  void events(TrackId, std::span<const Event> events) override {
    for (const Event& event : events) {
      if (event.kind == EventKind::communication && collectives.size() < kMostCollectives)
        collectives.push_back({event.start_ns, event.start_ns + event.dur_ns, event.name, event.args});
    }
  }
  void dependencies(std::span<const Dependency>) override {}
  void counters(TrackId, std::span<const CounterSample>) override {}
  Status flush() override { return {}; }
  Status finish() override { return {}; }

  struct Collective {
    TimeNs start_ns;
    TimeNs end_ns;
    StringId name;
    StringId args;
  };
  std::string text(StringId id) const { return id ? *texts_[id.value - 1] : std::string(); }

  std::vector<Collective> collectives;
  std::vector<IterationMark> marks;
  std::optional<std::int64_t> unix_ns;
  std::string timeline;
  std::string host;
  bool several_hosts = false;

 private:
  std::unordered_map<std::string, StringId> ids_;
  std::vector<const std::string*> texts_;
  std::uint32_t processes_ = 0, threads_ = 0, devices_ = 0, tracks_ = 0, operators_ = 0, kernels_ = 0;
  std::uint32_t frames_ = 0, stacks_ = 0;
};

// Members of the group of the collective, when its arguments give them.
std::optional<std::int64_t> groupSize(std::string_view args) {
  constexpr std::string_view kKey = "\"group_size\":";
  const std::size_t at = args.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = args.substr(at + kKey.size());
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  std::size_t digits = 0;
  while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0) ++digits;
  return parseInteger(rest.substr(0, digits));
}

// Names the n-th collective of a kind within its iteration; without marks, of the whole recording.
Moments collectiveMoments(FactsSink& sink, std::size_t inputs) {
  Moments moments;
  std::map<std::pair<std::int64_t, std::string>, int> seen;
  std::sort(sink.collectives.begin(), sink.collectives.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  std::size_t mark = 0;
  for (const auto& collective : sink.collectives) {
    while (mark < sink.marks.size() && sink.marks[mark].time_ns <= collective.start_ns) ++mark;
    const std::string args = sink.text(collective.args);
    // A collective of an unknown subset of the ranks could be confused with one of another subset.
    if (const auto size = groupSize(args); size && *size < static_cast<std::int64_t>(inputs)) continue;
    const std::int64_t step = mark == 0 ? -1 : sink.marks[mark - 1].index;
    if (step < 0 && !sink.marks.empty()) continue;  // before the first mark: some of them are missing
    const std::string name = sink.text(collective.name) + args;
    const int ordinal = seen[{step, name}]++;
    moments[{step, fmt::format("{} {}", name, ordinal)}] = collective.end_ns;
  }
  return moments;
}

InputFacts factsOf(FactsSink& sink, const ImportSummary& summary, std::size_t inputs) {
  InputFacts facts;
  facts.readable = true;
  facts.unix_ns = sink.unix_ns;
  facts.begin_ns = summary.begin_ns;
  facts.end_ns = summary.end_ns;
  if (!sink.several_hosts) facts.host = sink.host;
  facts.timeline = sink.timeline;
  if (!summary.ranks.empty()) facts.rank = summary.ranks.front();
  if (!summary.inputs.empty()) facts.format = summary.inputs.back().format;
  if (!sink.timeline.empty()) return facts;  // times without meaning
  std::stable_sort(sink.marks.begin(), sink.marks.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  facts.collectives = collectiveMoments(sink, inputs);
  for (const IterationMark& mark : sink.marks) facts.marks[{mark.index, "mark"}] = mark.time_ns;
  return facts;
}

std::string duration(TimeNs ns) {
  const double value = static_cast<double>(ns);
  if (ns < 10'000) return fmt::format("{} ns", ns);
  if (ns < 10'000'000) return fmt::format("{:.1f} us", value / 1e3);
  return fmt::format("{:.1f} ms", value / 1e6);
}

// "rank-3.json", "rank_3", "rank3": the number; used only where the file itself does not give the rank.
std::optional<int> rankInName(std::string_view name) {
  for (std::size_t at = 0; (at = name.find("rank", at)) != std::string_view::npos; ++at) {
    std::string_view rest = name.substr(at + 4);
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '_')) rest.remove_prefix(1);
    std::size_t digits = 0;
    while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0) ++digits;
    if (digits > 0 && digits < 7) return static_cast<int>(*parseInteger(rest.substr(0, digits)));
  }
  return std::nullopt;
}

// Ranks of inputs that do not give theirs: from their names, where all names contain distinct numbers. Inputs that
// are no traces do not count.
void nameRanks(std::span<const std::string> names, const std::vector<InputFacts>& facts,
               std::vector<Placement>& placements) {
  std::vector<std::size_t> traces;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].readable) traces.push_back(i);
  }
  std::set<int> seen;
  std::vector<std::optional<int>> ranks(facts.size());
  bool by_name = true, same_format = true, any_named = false;
  for (const std::size_t i : traces) {
    ranks[i] = facts[i].rank ? facts[i].rank : rankInName(names[i]);
    same_format = same_format && facts[i].format == facts[traces.front()].format;
    by_name = by_name && ranks[i] && seen.insert(*ranks[i]).second;
    any_named = any_named || facts[i].rank.has_value();
  }
  std::set<int> different;
  int next = 0;
  for (const std::size_t i : traces) {
    const int by_order = next++;
    if (!facts[i].rank && by_name) placements[i].rank = ranks[i];
    if (!facts[i].rank && !by_name && !any_named && same_format) placements[i].rank = by_order;
    if (facts[i].rank || placements[i].rank)
      different.insert(facts[i].rank.value_or(placements[i].rank.value_or(0)));
  }
  for (Placement& placement : placements) placement.shows_rank = different.size() > 1;
}

// The position of an input relative to another one that is already placed.
struct Relation {
  int worth = 0;  // 3 wall clock, 2 collectives, 1 marks, 0 nothing
  TimeNs offset_ns = 0;
  std::string note;
};

Relation relate(const InputFacts& first, const InputFacts& input) {
  const auto collectives = clockOffset(first.collectives, input.collectives, kFewestCollectives);
  if (first.unix_ns && input.unix_ns) {
    Relation out{3, *input.unix_ns - *first.unix_ns, "placed by its wall clock (both count from 1970)"};
    if (collectives) {
      out.note +=
          fmt::format("; the ends of {} common collectives show that the clocks are {} apart (+- {})",
                      collectives->moments, duration(std::abs(collectives->offset_ns - out.offset_ns)),
                      duration(collectives->uncertainty_ns));
    } else {
      out.note += "; uncertainty: the difference of the machines' clocks, which the inputs do not give";
    }
    return out;
  }
  if (collectives) {
    return {
        2, collectives->offset_ns,
        fmt::format("placed by the ends of {} common collectives, which end everywhere at the same moment; "
                    "uncertainty {}",
                    collectives->moments, duration(collectives->uncertainty_ns))};
  }
  if (const auto marks = clockOffset(first.marks, input.marks, 1)) {
    return {1, marks->offset_ns,
            fmt::format(
                "placed by {} common iteration marks; uncertainty {}", marks->moments,
                marks->moments == 1 ? "unknown, since there is only one" : duration(marks->uncertainty_ns))};
  }
  return {0, 0,
          "starts with the first input: the offset of its clock is unknown; do not compare its times with "
          "others'"};
}

// Places each input relative to the best one placed before: first inputs with a wall clock, then the others.
void placeAll(const std::vector<InputFacts>& facts, std::vector<Placement>& placements) {
  std::vector<std::size_t> order(facts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return facts[a].unix_ns.has_value() > facts[b].unix_ns.has_value();
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    Relation best;
    TimeNs beside = 0;
    for (std::size_t j = 0; j < i; ++j) {
      Relation relation = relate(facts[order[j]], facts[order[i]]);
      if (j > 0 && relation.worth <= best.worth) continue;
      best = std::move(relation);
      beside = placements[order[j]].begin_ns;
    }
    placements[order[i]].begin_ns = beside + best.offset_ns;
    placements[order[i]].note = std::move(best.note);
  }
}

InputOrigin originOf(const InputFacts& facts) {
  InputOrigin origin;
  origin.host = facts.host;
  const bool known = facts.unix_ns && facts.timeline.empty() && InputClock::inRange(*facts.unix_ns) &&
                     InputClock::inRange(facts.begin_ns) && InputClock::inRange(facts.end_ns);
  if (known) origin.unix_span = {*facts.unix_ns + facts.begin_ns, *facts.unix_ns + facts.end_ns};
  return origin;
}

}  // namespace

Alignment alignInputs(std::span<const std::string> names,
                      const std::function<Status(std::size_t, TraceSink&, ImportSummary&)>& read) {
  std::vector<InputFacts> facts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    FactsSink sink;
    ImportSummary summary;
    const Status status = read(i, sink, summary);
    facts.push_back(status.has_value() ? factsOf(sink, summary, names.size()) : InputFacts{});
  }
  Alignment out;
  out.placements.resize(names.size());
  placeAll(facts, out.placements);
  TimeNs earliest = out.placements.front().begin_ns;
  for (const Placement& placement : out.placements) earliest = std::min(earliest, placement.begin_ns);
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.placements[i].begin_ns -= earliest;
    out.placements[i].origin = originOf(facts[i]);
    if (facts[i].unix_ns && !out.unix_ns) out.unix_ns = *facts[i].unix_ns - out.placements[i].begin_ns;
  }
  nameRanks(names, facts, out.placements);
  return out;
}

}  // namespace pitwall::import
