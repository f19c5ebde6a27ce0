// Reads a Pitwall trace file as an input: ranks recorded separately become one trace. Rows are passed to the
// sink with new ids; times are shifted as the alignment requires.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "db/import/readers.h"
#include "db/meta.h"
#include "db/reader.h"
#include "db/stacks.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

// Keys that the store writes for each trace.
constexpr std::string_view kOwnMeta[] = {meta::kComplete, meta::kTraceEndNs, meta::kTraceStartUnixNs};

class TraceInput {
 public:
  TraceInput(Trace& trace, const ImportOptions& options, Builder& builder)
      : trace_(trace), options_(options), builder_(builder), sink_(builder.sink()) {}

  Status run() {
    about();
    PITWALL_TRY(span());
    dimensions();
    facts();
    for (std::uint32_t id = 1; id <= trace_.tracks().size(); ++id) {
      PITWALL_TRY(interrupted());
      PITWALL_TRY(track(TrackId{id}));
    }
    return dependencies();
  }

 private:
  void about() {
    ImportedInput& input = builder_.tally().input();
    input.format = "Pitwall trace";
    input.version = trace_.meta(meta::kProducer).value_or("");
    const auto unix_ns = trace_.meta(meta::kTraceStartUnixNs);
    input.clock = unix_ns ? "nanoseconds since the trace's start, which it places in time" : "its own";
    if (unix_ns) {
      // Text from a file may be invalid: a time far out of range is ignored.
      if (const auto zero = parseTime(*unix_ns)) builder_.clock().wallClock(*zero);
    }
    // A part that was completed from its rings has all that its process recorded: workers of data loaders end
    // without finishing.
    const bool is_whole_part = options_.one_recording && trace_.meta(meta::kRecorderCompleted).has_value();
    if (!trace_.isComplete() && !is_whole_part)
      builder_.tally().damaged("the recording was killed or has not finished; what it wrote is here");
  }

  static std::optional<std::int64_t> parseTime(const std::string& text) {
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (end == text.c_str() || *end != '\0' || value <= 0 || value >= (std::int64_t{1} << 61))
      return std::nullopt;
    return value;
  }

  Status span() {
    // From the summary of each chunk, without reading the chunks.
    auto rows =
        PITWALL_TRY(trace_.query("SELECT min(first_start_ns), max(last_end_ns) FROM event_chunk UNION ALL "
                                 "SELECT min(first_time_ns), max(last_time_ns) FROM counter_chunk"));
    auto greatest = PITWALL_TRY(
        trace_.query("SELECT max(id) FROM (SELECT max(max_correlation) AS id FROM event_chunk UNION ALL "
                     "SELECT max(max(max_source, max_target)) FROM dependency_chunk)"));
    if (!greatest.rows.empty()) {
      const auto* id = std::get_if<std::int64_t>(&greatest.rows[0][0]);
      dense_ = id != nullptr && *id >= 0 && *id < (std::int64_t{1} << 48);
      if (dense_) correlation_base_ = builder_.arrows().newCorrelations(static_cast<std::uint64_t>(*id) + 1);
    }
    TimeNs first = 0, last = 0;
    bool any = false;
    for (const auto& row : rows.rows) {
      const auto* begin = std::get_if<std::int64_t>(&row[0]);
      const auto* end = std::get_if<std::int64_t>(&row[1]);
      if (begin == nullptr || end == nullptr) continue;
      first = any ? std::min<TimeNs>(first, *begin) : *begin;
      last = any ? std::max<TimeNs>(last, *end) : *end;
      any = true;
    }
    shift_ = builder_.clock().placeRows(first, last);
    return {};
  }

  void dimensions() {
    // 0 is also the rank of a process outside of a job: the alignment may know the rank.
    const int aligned = builder_.tracks().rankOr(0);
    for (ProcessInfo process : trace_.processes()) {
      if (process.rank == 0) process.rank = aligned;
      builder_.tracks().rank(process.rank);
      process.name = builder_.tracks().shownName(process.rank, process.name);
      processes_.push_back(sink_.process(process));
    }
    for (ThreadInfo thread : trace_.threads()) {
      thread.process = mapped(processes_, thread.process);
      threads_.push_back(sink_.thread(thread));
    }
    for (const DeviceInfo& device : trace_.devices()) {
      devices_.push_back(sink_.device(device));
      builder_.tally().device(device);
    }
    for (TrackInfo track : trace_.tracks()) {
      track.process = mapped(processes_, track.process);
      track.thread = mapped(threads_, track.thread);
      track.device = mapped(devices_, track.device);
      tracks_.push_back(sink_.track(track));
    }
    for (const OperatorFacts& facts : trace_.operatorFacts())
      operators_.push_back(sink_.operatorFacts(facts));
    for (const KernelFacts& facts : trace_.kernelFacts()) kernels_.push_back(sink_.kernelFacts(facts));
    stacks_ = copyStacks(trace_, sink_);
  }

  // Facts of the machine, settings and iterations are taken from the first input.
  void facts() {
    auto metas = trace_.query("SELECT key, value FROM meta");
    if (metas.has_value()) {
      for (const auto& row : metas->rows) {
        const auto* key = std::get_if<std::string>(&row[0]);
        const auto* value = std::get_if<std::string>(&row[1]);
        if (key == nullptr || value == nullptr) continue;
        if (std::find(std::begin(kOwnMeta), std::end(kOwnMeta), *key) == std::end(kOwnMeta))
          builder_.meta(*key, *value);
      }
    }
    for (const Loss& known : trace_.losses()) {
      Loss loss = known;
      loss.track = mapped(tracks_, loss.track);
      loss.from_ns += shift_;
      loss.to_ns += shift_;
      sink_.loss(loss);
    }
    if (builder_.isFirstInput() || options_.one_recording) {
      for (const SettingInEffect& setting : trace_.settings()) sink_.setting(setting);
      for (const TunableInEffect& tunable : trace_.tunables()) sink_.tunable(tunable);
    }
    std::int64_t& count = builder_.tally().summary().events["iterations"];
    if (count > 0) return;
    for (IterationMark mark : trace_.iterations()) {
      mark.time_ns += shift_;
      sink_.iteration(mark);
      ++count;
    }
  }

  StringId string(StringId id) {
    if (!id) return {};
    if (id.value >= strings_.size()) strings_.resize(id.value + 1);
    StringId& known = strings_[id.value];
    if (!known) known = sink_.string(trace_.string(id));
    return known;
  }

  Event remapped(const EventSpans& from, std::size_t i) {
    Event event = eventAt(from, i);
    event.start_ns += shift_;
    event.pushed_ns += shift_;
    event.ready_ns += shift_;
    event.correlation = correlation(event.correlation);
    event.name = string(event.name);
    event.args = string(event.args);
    event.op = mapped(operators_, event.op);
    event.kernel = mapped(kernels_, event.kernel);
    builder_.tally().countEvents(event.kind, 1);
    return event;
  }

  // A chunk at a time, however long the track is.
  Status track(TrackId id) {
    const TrackId to = tracks_[id.value - 1];
    std::vector<Event> events;
    EventSelection all;
    all.track = id;
    Status status = trace_.eventColumns(all, [&](const EventSpans& spans) {
      events.clear();
      for (std::size_t i = 0; i < spans.size; ++i) events.push_back(remapped(spans, i));
      sink_.events(to, events);
      builder_.tally().record("events") += static_cast<std::int64_t>(spans.size);
      return !cancelled();
    });
    if (!status.has_value()) return damaged(status.error());
    std::vector<CounterSample> moved;
    status = trace_.visitCounters(id, [&](std::span<const CounterSample> samples) {
      moved.assign(samples.begin(), samples.end());
      for (CounterSample& sample : moved) sample.time_ns += shift_;
      if (trace_.tracks()[id.value - 1].unit == kStackUnit) remapStacks(moved, stacks_);
      sink_.counters(to, moved);
      builder_.tally().countSamples(static_cast<std::int64_t>(moved.size()));
      builder_.tally().record("counter samples") += static_cast<std::int64_t>(moved.size());
      return !cancelled();
    });
    return status.has_value() ? Status() : damaged(status.error());
  }

  Status dependencies() {
    std::vector<Dependency> moved;
    Status status = trace_.visitDependencies([&](std::span<const Dependency> edges) {
      moved.assign(edges.begin(), edges.end());
      for (Dependency& edge : moved) {
        edge.source = correlation(edge.source);
        edge.target = correlation(edge.target);
      }
      sink_.dependencies(moved);
      builder_.tally().countDependencies(static_cast<std::int64_t>(moved.size()));
      return !cancelled();
    });
    if (!status.has_value()) return damaged(status.error());
    return interrupted();
  }

  bool cancelled() const {
    return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
  }
  Status interrupted() const {
    if (!cancelled()) return {};
    return fail(ErrorCode::cancelled, fmt::format("{}: import interrupted", builder_.tally().input().path));
  }

  // After those of earlier inputs; dense ids keep their order and distance.
  CorrelationId correlation(CorrelationId id) {
    if (id == 0) return 0;
    if (dense_ && id < (CorrelationId{1} << 48)) return correlation_base_ + id;
    const auto [found, fresh] = correlations_.try_emplace(id, 0);
    if (fresh) found->second = builder_.arrows().newCorrelation();
    return found->second;
  }

  // A damaged chunk: the other chunks are kept.
  Status damaged(const Error& error) {
    if (error.code != ErrorCode::corruptTrace) return fail(error);
    builder_.tally().damaged(error.message);
    return {};
  }

  template <class IdType>
  static IdType mapped(const std::vector<IdType>& ids, IdType id) {
    return id && id.value <= ids.size() ? ids[id.value - 1] : IdType{};
  }

  Trace& trace_;
  const ImportOptions& options_;
  Builder& builder_;
  TraceSink& sink_;
  TimeNs shift_ = 0;
  std::vector<ProcessId> processes_;
  std::vector<ThreadId> threads_;
  std::vector<DeviceId> devices_;
  std::vector<TrackId> tracks_;
  std::vector<OperatorId> operators_;
  std::vector<KernelId> kernels_;
  std::vector<StackId> stacks_;
  std::vector<StringId> strings_;
  bool dense_ = false;
  CorrelationId correlation_base_ = 0;
  std::unordered_map<CorrelationId, CorrelationId> correlations_;  // those that are not dense
};

}  // namespace

Status readTrace(const std::string& path, const ImportOptions& options, Builder& builder) {
  auto trace = PITWALL_TRY(Trace::open(path));
  return TraceInput(*trace, options, builder).run();
}

}  // namespace pitwall::import
