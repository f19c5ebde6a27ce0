// Copies a trace, or a part of it, into a new trace file.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "db/export/event_stream.h"
#include "db/export/formats.h"
#include "db/export/location_index.h"
#include "db/export/output_file.h"
#include "db/meta.h"
#include "db/sink.h"
#include "db/sqlite/replace.h"
#include "db/stacks.h"
#include "db/store.h"
#include "db/try.h"
#include "db/unfinished.h"

namespace pitwall::exporting {

namespace {

constexpr std::size_t kPortion = 8192;

class Copy {
 public:
  Copy(Trace& trace, TraceSink& sink, const Selection& selection, Pace& pace, const ExportOptions& options,
       LocationIndex kept)
      : trace_(trace),
        sink_(sink),
        selection_(selection),
        pace_(pace),
        options_(options),
        kept_(std::move(kept)) {}

  Result<ExportSummary> run() {
    dimensions();
    PITWALL_TRY(facts());
    for (std::size_t i = 0; i < trace_.tracks().size(); ++i) {
      if (!tracks_[i]) continue;
      const TrackId from{static_cast<std::uint32_t>(i + 1)};
      PITWALL_TRY(trace_.tracks()[i].kind == TrackKind::counter ? counters(from) : events(from));
    }
    PITWALL_TRY(dependencies());
    return summary_;
  }

 private:
  void dimensions();
  Status facts();
  Status events(TrackId from);
  Status counters(TrackId from);
  Status dependencies();
  template <class IdType>
  static IdType mapped(const std::vector<IdType>& ids, IdType id) {
    return id && id.value <= ids.size() ? ids[id.value - 1] : IdType{};
  }

  Trace& trace_;
  TraceSink& sink_;
  const Selection& selection_;
  Pace& pace_;
  const ExportOptions& options_;
  LocationIndex kept_;
  std::vector<ProcessId> processes_;
  std::vector<ThreadId> threads_;
  std::vector<DeviceId> devices_;
  std::vector<TrackId> tracks_;  // none = left out
  std::vector<OperatorId> operators_;
  std::vector<KernelId> kernels_;
  std::vector<StackId> stacks_;
  ExportSummary summary_;
};

void Copy::dimensions() {
  for (std::size_t i = 0; i < trace_.processes().size(); ++i) {
    const ProcessId id{static_cast<std::uint32_t>(i + 1)};
    processes_.push_back(selection_.has(id) ? sink_.process(trace_.processes()[i]) : ProcessId{});
  }
  for (ThreadInfo thread : trace_.threads()) {
    const bool kept = !options_.rank || selection_.has(thread.process);
    thread.process = mapped(processes_, thread.process);
    threads_.push_back(kept ? sink_.thread(thread) : ThreadId{});
  }
  std::set<std::uint32_t> used;
  for (std::size_t i = 0; i < trace_.tracks().size(); ++i) {
    if (selection_.has(TrackId{static_cast<std::uint32_t>(i + 1)}))
      used.insert(trace_.tracks()[i].device.value);
  }
  for (std::size_t i = 0; i < trace_.devices().size(); ++i) {
    const bool kept = !options_.rank || used.count(static_cast<std::uint32_t>(i + 1)) > 0;
    devices_.push_back(kept ? sink_.device(trace_.devices()[i]) : DeviceId{});
  }
  for (std::size_t i = 0; i < trace_.tracks().size(); ++i) {
    TrackInfo track = trace_.tracks()[i];
    track.process = mapped(processes_, track.process);
    track.thread = mapped(threads_, track.thread);
    track.device = mapped(devices_, track.device);
    const TrackId id{static_cast<std::uint32_t>(i + 1)};
    const bool kept = selection_.has(id) && (options_.times == nullptr || options_.times->has(id));
    tracks_.push_back(kept ? sink_.track(track) : TrackId{});
  }
}

Status Copy::facts() {
  for (const OperatorFacts& facts : trace_.operatorFacts()) operators_.push_back(sink_.operatorFacts(facts));
  for (const KernelFacts& facts : trace_.kernelFacts()) kernels_.push_back(sink_.kernelFacts(facts));
  stacks_ = copyStacks(trace_, sink_);
  for (const SettingInEffect& setting : trace_.settings()) sink_.setting(setting);
  for (const TunableInEffect& tunable : trace_.tunables()) sink_.tunable(tunable);
  for (IterationMark mark : trace_.iterations()) {
    if (!selection_.has(mark)) continue;
    if (options_.times != nullptr) mark.time_ns = options_.times->moved({}, mark.time_ns);
    sink_.iteration(mark);
  }
  for (Loss loss : trace_.losses()) {
    const bool kept = !loss.track || selection_.has(loss.track);
    if (!kept || loss.from_ns >= selection_.endNs() || loss.to_ns < selection_.beginNs()) continue;
    loss.track = mapped(tracks_, loss.track);
    sink_.loss(loss);
  }
  const auto rows = PITWALL_TRY(trace_.query("SELECT key, value FROM meta ORDER BY key"));
  for (const auto& row : rows.rows) {
    const auto& key = std::get<std::string>(row[0]);
    if (key != meta::kComplete) sink_.meta(key, std::get<std::string>(row[1]));
  }
  if (options_.range) {
    sink_.meta(meta::kExportRange, fmt::format("{}..{}", options_.range->begin_ns, options_.range->end_ns));
  }
  if (options_.times != nullptr) sink_.meta(meta::kSimulatedChanges, options_.simulated_changes);
  if (options_.rank) sink_.meta(meta::kExportRank, std::to_string(*options_.rank));
  if (!trace_.isComplete()) {
    sink_.loss({{}, 0, 0, 0, "the trace that this one was exported from was not finished"});
  }
  return {};
}

Status Copy::events(TrackId from) {
  const bool filtered = !selection_.isComplete();
  std::vector<Event> portion;
  const auto send = [&] {
    if (!portion.empty()) sink_.events(tracks_[from.value - 1], portion);
    portion.clear();
  };
  Status status = eachEvent(trace_, from, selection_, pace_, [&](const FullEvent& full) -> Status {
    Event event = full.event;
    event.name = full.name.empty() ? StringId{} : sink_.string(full.name);
    event.args = full.args.empty() ? StringId{} : sink_.string(full.args);
    event.op = mapped(operators_, event.op);
    event.kernel = mapped(kernels_, event.kernel);
    if (options_.times != nullptr) options_.times->move(from, event);
    if (filtered && event.correlation != 0) kept_.add({event.correlation, 0, 0});
    portion.push_back(event);
    ++summary_.events;
    if (portion.size() >= kPortion) send();
    return {};
  });
  send();
  return status;
}

Status Copy::counters(TrackId from) {
  std::vector<CounterSample> samples = PITWALL_TRY(samplesOf(trace_, from, selection_));
  if (trace_.tracks()[from.value - 1].unit == kStackUnit) remapStacks(samples, stacks_);
  if (options_.times != nullptr) {
    for (CounterSample& sample : samples) sample.time_ns = options_.times->moved(from, sample.time_ns);
  }
  if (!samples.empty()) sink_.counters(tracks_[from.value - 1], samples);
  summary_.samples += static_cast<std::int64_t>(samples.size());
  return pace_.advance(static_cast<std::int64_t>(samples.size()));
}

Status Copy::dependencies() {
  PITWALL_TRY(kept_.seal());
  const bool filtered = !selection_.isComplete();
  std::vector<Dependency> portion;
  const auto send = [&] {
    if (!portion.empty()) sink_.dependencies(portion);
    portion.clear();
  };
  Status status = eachDependency(trace_, pace_, [&](const Dependency& dependency) -> Status {
    if (filtered && !(kept_.find(dependency.source) && kept_.find(dependency.target))) return {};
    portion.push_back(dependency);
    ++summary_.dependencies;
    if (portion.size() >= kPortion) send();
    return {};
  });
  send();
  return status;
}

}  // namespace

Result<ExportSummary> copyTrace(Trace& trace, TraceSink& sink, const Selection& selection, Pace& pace,
                                const ExportOptions& options) {
  LocationIndex kept = PITWALL_TRY(LocationIndex::create());
  return Copy(trace, sink, selection, pace, options, std::move(kept)).run();
}

Result<ExportSummary> writeTrace(Trace& trace, const std::string& output, const Selection& selection,
                                 Pace& pace, const ExportOptions& options) {
  const Unfinished temporary(temporaryName(output));
  auto sink = PITWALL_TRY(createTrace(temporary.path(), {.most_pending_rows = kPendingRowsOfAnImport}));
  auto summary = PITWALL_TRY(copyTrace(trace, *sink, selection, pace, options));
  PITWALL_TRY(sink->finish());
  sink.reset();  // closes the file
  PITWALL_TRY(store::moveIntoPlace(temporary.path(), output));
  return summary;
}

}  // namespace pitwall::exporting
