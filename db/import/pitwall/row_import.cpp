#include "db/import/pitwall/row_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "db/meta.h"

namespace pitwall::import {

namespace {

constexpr std::size_t kPortion = 8192;
constexpr CorrelationId kMostCorrelations = CorrelationId{1} << 48;

// Keys that describe the original trace; the import writes its own.
bool isOwn(std::string_view key) {
  return key == meta::kComplete || key == meta::kTraceEndNs || key == meta::kTraceStartUnixNs;
}

// Limit of times and lengths; beyond it sums would leave the range of TimeNs.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;
bool inRange(std::int64_t ns) { return ns < kFarthest && ns > -kFarthest; }

}  // namespace

bool RowImport::fits(std::initializer_list<std::int64_t> times_ns) {
  if (std::all_of(times_ns.begin(), times_ns.end(), inRange)) return true;
  builder_.tally().dropped("rows with a time out of range", fmt::format("time {} ns", *times_ns.begin()));
  return false;
}

void RowImport::begin(const Extent& extent) {
  takes_marks_ = builder_.tally().summary().events["iterations"] == 0;
  const TimeNs first = inRange(extent.first_ns) ? extent.first_ns : 0;
  shift_ =
      builder_.clock().placeRows(first, inRange(extent.last_ns) ? std::max(first, extent.last_ns) : first);
  greatest_ = std::min(extent.greatest, kMostCorrelations);
  if (greatest_ > 0) base_ = builder_.arrows().newCorrelations(greatest_) - 1;
}

void RowImport::process(std::int64_t number, ProcessInfo process) {
  if (!aligned_rank_) aligned_rank_ = builder_.tracks().rankOr(0);
  if (process.rank == 0) process.rank = *aligned_rank_;
  builder_.tracks().rank(process.rank);
  process.name = builder_.tracks().shownName(process.rank, process.name);
  processes_[number] = builder_.tracks().processOfSystem(process);
}

void RowImport::thread(std::int64_t number, ThreadInfo thread, std::int64_t process) {
  thread.process = mapped(processes_, process);
  threads_[number] = sink_.thread(thread);
}

void RowImport::device(std::int64_t number, const DeviceInfo& device) {
  devices_[number] = sink_.device(device);
  builder_.tally().device(device);
}

void RowImport::track(std::int64_t number, TrackInfo track, const TrackOwners& owners) {
  track.process = mapped(processes_, owners.process);
  track.thread = mapped(threads_, owners.thread);
  track.device = mapped(devices_, owners.device);
  tracks_[number] = sink_.track(track);
  if (track.unit == kStackUnit) of_stacks_.insert(number);
}

void RowImport::operatorFacts(std::int64_t number, const OperatorFacts& facts) {
  operators_[number] = sink_.operatorFacts(facts);
}

void RowImport::kernelFacts(std::int64_t number, const KernelFacts& facts) {
  kernels_[number] = sink_.kernelFacts(facts);
}

void RowImport::frame(std::int64_t number, const FrameInfo& frame) { frames_[number] = sink_.frame(frame); }

void RowImport::stack(std::int64_t number, std::int64_t caller, std::int64_t frame) {
  const FrameId known = mapped(frames_, frame);
  if (known) stacks_[number] = sink_.stack({mapped(stacks_, caller), known});
}

void RowImport::meta(std::string_view key, std::string_view value) {
  if (isOwn(key)) return;
  builder_.meta(key, value);
}

void RowImport::setting(const SettingInEffect& setting) {
  if (builder_.isFirstInput()) sink_.setting(setting);
}

void RowImport::tunable(const TunableInEffect& tunable) {
  if (builder_.isFirstInput()) sink_.tunable(tunable);
}

void RowImport::iteration(IterationMark mark) {
  if (!takes_marks_ || !fits({mark.time_ns})) return;
  builder_.clock().extend(mark.time_ns, mark.time_ns);
  mark.time_ns += shift_;
  sink_.iteration(mark);
  ++builder_.tally().summary().events["iterations"];
}

void RowImport::loss(Loss loss, std::int64_t track) {
  if (!fits({loss.from_ns, loss.to_ns})) return;
  loss.track = mapped(tracks_, track);
  loss.from_ns += shift_;
  loss.to_ns += shift_;
  sink_.loss(loss);
}

TrackId RowImport::trackOf(std::int64_t number) {
  TrackId& track = tracks_[number];
  if (!track) {
    TrackInfo info;
    info.name = fmt::format("track {}", number);
    track = sink_.track(info);
    builder_.tally().repaired("events of a track that the file does not describe: kept on a separate track",
                              info.name);
  }
  return track;
}

CorrelationId RowImport::correlation(CorrelationId id) {
  if (id == 0) return 0;
  if (id <= greatest_) return base_ + id;
  const auto [found, fresh] = others_.try_emplace(id, 0);
  if (fresh) found->second = builder_.arrows().newCorrelation();
  return found->second;
}

void RowImport::send(TrackId track) {
  if (!events_.empty()) sink_.events(track, events_);
  events_.clear();
}

void RowImport::sendSamples(TrackId track) {
  if (!samples_.empty()) sink_.counters(track, samples_);
  samples_.clear();
}

void RowImport::event(Event event, const EventTexts& texts) {
  if (!fits({event.start_ns, event.dur_ns, event.pushed_ns, event.ready_ns})) return;
  builder_.tally().repairLength(event);
  const TrackId track = trackOf(texts.track);
  if (track != held_track_ || events_.size() >= kPortion) send(held_track_);
  held_track_ = track;
  // The extent of a damaged file may be wrong.
  builder_.clock().extend(event.start_ns, event.start_ns + event.dur_ns);
  event.start_ns += shift_;
  event.pushed_ns += shift_;
  event.ready_ns += shift_;
  event.correlation = correlation(event.correlation);
  event.op = mapped(operators_, texts.op);
  event.kernel = mapped(kernels_, texts.kernel);
  if (!texts.name.empty()) event.name = builder_.names().name(texts.name);
  if (!texts.args.empty()) event.args = builder_.names().args(texts.args);
  builder_.tally().countEvents(event.kind, 1);
  events_.push_back(event);
}

void RowImport::sample(std::int64_t number, TimeNs time_ns, double value) {
  if (!fits({time_ns})) return;
  const TrackId track = trackOf(number);
  if (track != held_sample_track_ || samples_.size() >= kPortion) sendSamples(held_sample_track_);
  held_sample_track_ = track;
  builder_.clock().extend(time_ns, time_ns);
  if (of_stacks_.contains(number)) {
    const bool a_number = value >= 0 && value < 0x1p32;
    value = a_number ? mapped(stacks_, static_cast<std::int64_t>(value)).value : 0;
  }
  samples_.push_back({time_ns + shift_, value});
  builder_.tally().countSamples(1);
}

void RowImport::dependency(Dependency dependency) {
  dependency.source = correlation(dependency.source);
  dependency.target = correlation(dependency.target);
  dependencies_.push_back(dependency);
  builder_.tally().countDependencies(1);
  if (dependencies_.size() < kPortion) return;
  sink_.dependencies(dependencies_);
  dependencies_.clear();
}

void RowImport::end() {
  send(held_track_);
  sendSamples(held_sample_track_);
  if (!dependencies_.empty()) sink_.dependencies(dependencies_);
  dependencies_.clear();
}

}  // namespace pitwall::import
