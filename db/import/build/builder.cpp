#include "db/import/build/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "db/import/input/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kDistinctWords = 4096;
constexpr std::size_t kDistinctFacts = std::size_t{1} << 16;
// Memory limit of distinct names and arguments, including their entries in the sink's table.
constexpr std::size_t kDistinctBytes = std::size_t{48} << 20;
constexpr std::size_t kBytesOfAnEntry = 96;
constexpr std::size_t kMostTracks = std::size_t{1} << 16;
constexpr std::size_t kMostMarks = std::size_t{1} << 20;

bool inRange(std::int64_t time_ns) { return time_ns < kLatestNs && time_ns > -kLatestNs; }

template <class Map>
auto& entryOf(Map& map, std::string_view what) {
  auto found = map.find(std::string(what));
  if (found != map.end()) return found->second;
  if (map.size() >= kDistinctWords) return map["others"];
  std::string clean;
  appendClean(what, clean);
  return map[clean];
}

}  // namespace

std::int64_t& Builder::record(std::string_view what) { return entryOf(summary_.records, what); }

ImportCount& Builder::repairedCounter(std::string_view what) { return entryOf(summary_.repaired, what); }
ImportCount& Builder::droppedCounter(std::string_view what) { return entryOf(summary_.dropped, what); }

void Builder::setExample(ImportCount& counter, std::string_view example) {
  counter.example.clear();
  appendClean(example, counter.example);
}

void Builder::count(ImportCount& count, std::string_view example) {
  if (count.count++ == 0) appendClean(example, count.example);
}
void Builder::notUnderstood(std::string_view what, std::string_view example) {
  count(entryOf(summary_.not_understood, what), example);
}
void Builder::repaired(std::string_view what, std::string_view example) {
  count(entryOf(summary_.repaired, what), example);
}
void Builder::dropped(std::string_view what, std::string_view example) {
  count(entryOf(summary_.dropped, what), example);
}
void Builder::note(std::string text) {
  const auto& notes = summary_.notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) summary_.notes.push_back(std::move(text));
}
void Builder::damaged(std::string text) {
  input().complete = false;
  if (input().damage.empty()) input().damage = std::move(text);
}

// --- Dimensions ---

ProcessRef Builder::process(std::string_view key) {
  const auto [found, fresh] = process_keys_.try_emplace(std::string(key), processes_.size());
  if (fresh) processes_.push_back({std::string(key), {}, parseInteger(key).value_or(0), {}});
  return {found->second};
}

void Builder::nameProcess(ProcessRef process, std::string_view name) {
  std::string clean;
  appendClean(name, clean);
  processes_[process.index].name = std::move(clean);
}

void Builder::rank(int rank) {
  rank_ = rank;
  has_rank_ = true;
  auto& ranks = summary_.ranks;
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
}

DeviceRef Builder::device(std::string_view kind, int index) {
  const auto [found, fresh] = device_keys_.try_emplace(fmt::format("{} {}", kind, index), devices_.size());
  if (fresh) {
    Device device;
    device.kind = std::string(kind);
    device.index = index;
    devices_.push_back(std::move(device));
  }
  return {found->second};
}

void Builder::nameDevice(DeviceRef device, std::string_view name, Bytes memory_bytes) {
  Device& known = devices_[device.index];
  std::string clean;
  appendClean(name, clean);
  known.name = std::move(clean);
  known.memory_bytes = memory_bytes;
}

TrackRef Builder::track(std::string key, Track fresh) {
  if (tracks_.size() >= kMostTracks && track_keys_.find(key) == track_keys_.end()) {
    note(fmt::format("{}: more than {} threads, streams and counters: the others share one", input().path,
                     kMostTracks));
    key = fresh.kind == TrackKind::counter  ? "other counters"
          : fresh.kind == TrackKind::stream ? "other streams"
                                            : "others";
    fresh.name = key;
    fresh.thread_key.clear();
  }
  const auto [found, inserted] = track_keys_.try_emplace(std::move(key), tracks_.size());
  if (inserted) tracks_.push_back(std::move(fresh));
  return {found->second};
}

TrackRef Builder::thread(ProcessRef process, std::string_view key) {
  scratch_ = fmt::format("t{}\n{}", process.index, key);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.process = process.index;
  fresh.thread_key = key.empty() ? "0" : std::string(key);
  return track(scratch_, std::move(fresh));
}

void Builder::nameThread(TrackRef thread, std::string_view name) {
  std::string clean;
  appendClean(name, clean);
  tracks_[thread.index].name = std::move(clean);
}

TrackRef Builder::stream(ProcessRef process, DeviceRef device, std::string_view stream,
                         std::string_view suffix) {
  scratch_ = fmt::format("s{}\n{}\n{}\n{}", process.index, device.index, stream, suffix);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.kind = TrackKind::stream;
  fresh.process = process.index;
  fresh.device = device.index;
  const Device& about = devices_[device.index];
  std::string clean;
  appendClean(stream, clean);
  fresh.name =
      fmt::format("{} {} stream {}{}{}", about.kind, about.index, clean, suffix.empty() ? "" : ": ", suffix);
  return track(scratch_, std::move(fresh));
}

TrackRef Builder::stream(DeviceRef device, std::string_view stream, std::string_view suffix) {
  return this->stream(ProcessRef{kOwner}, device, stream, suffix);
}

TrackRef Builder::lane(ProcessRef process, std::string_view name) {
  scratch_ = fmt::format("l{}\n{}", process.index, name);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.process = process.index;
  appendClean(name, fresh.name);
  return track(scratch_, std::move(fresh));
}

TrackRef Builder::counter(ProcessRef process, std::string_view name, std::string_view unit) {
  scratch_ = fmt::format("c{}\n{}", process.index, name);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.kind = TrackKind::counter;
  fresh.process = process.index;
  appendClean(name, fresh.name);
  fresh.unit = std::string(unit);
  return track(scratch_, std::move(fresh));
}

namespace {

// The text with every run of digits replaced by one '#', so that numbered names become one.
std::string withoutNumbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

}  // namespace

StringId Builder::distinct(std::string_view text, std::string_view what) {
  std::string shorter;
  if (distinct_bytes_ > kDistinctBytes) {
    shorter = distinct_bytes_ > kDistinctBytes + kDistinctBytes / 4 ? "(others)" : withoutNumbers(text);
    repaired(fmt::format("{} beyond the first {} MB of different ones: numbers in them replaced by #", what,
                         kDistinctBytes >> 20),
             text);
    text = shorter;
  }
  const StringId id = sink_.string(text);
  if (id.value > newest_text_.value) {  // ids are dense: it is new
    newest_text_ = id;
    distinct_bytes_ += text.size() + kBytesOfAnEntry;
  }
  return id;
}

StringId Builder::name(std::string_view text) {
  if (const StringId* known = names_.find({0, text})) return *known;
  std::string clean;
  const bool replaced = appendClean(text, clean);
  if (replaced) repaired("names with bytes that are not text, or too long", clean);
  const StringId id = distinct(clean, "names");
  return replaced ? id : names_.put({0, text}, id);
}

StringId Builder::args(std::string_view object) {
  if (object.size() > kLongestName || distinct_bytes_ > kDistinctBytes) {
    dropped("arguments of events that are too long or of too many kinds", object);
    return {};
  }
  return distinct(object, "arguments");
}

OperatorId Builder::facts(const OperatorFacts& facts) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", facts.name, facts.layer, facts.shapes,
                  facts.dtype, facts.backend, facts.implementation, static_cast<int>(facts.phase), facts.flop,
                  facts.bytes_read, facts.bytes_written);
  if (const auto found = facts_.find(key); found != facts_.end()) return found->second;
  if (facts_.size() >= kDistinctFacts) {
    note(fmt::format("more than {} different operators: the facts of the others are left out",
                     kDistinctFacts));
    return {};
  }
  OperatorFacts clean = facts;
  for (std::string* text :
       {&clean.name, &clean.layer, &clean.shapes, &clean.dtype, &clean.backend, &clean.implementation}) {
    std::string fixed;
    appendClean(*text, fixed);
    *text = std::move(fixed);
  }
  const OperatorId id = sink_.operatorFacts(clean);
  phases_.known(id, clean);
  return facts_[key] = id;
}

KernelId Builder::kernel(const KernelFacts& facts) {
  if (kernels_ >= kDistinctFacts) {
    note(fmt::format("more than {} different facts of kernels: those of the others are left out",
                     kDistinctFacts));
    return {};
  }
  const KernelId id = sink_.kernelFacts(facts);
  kernels_ = std::max<std::size_t>(kernels_, id.value);
  return id;
}

void Builder::meta(std::string_view key, std::string_view value) {
  std::string clean;
  appendClean(value, clean);
  // With several inputs, the trace has the facts of the first.
  sink_.meta(input_number_ <= 1 ? std::string(key) : fmt::format("input.{}.{}", input_number_, key), clean);
}

// --- Data ---

bool Builder::add(TrackRef track, Event event) {
  if (event.dur_ns < 0) {
    repaired("events that end before they start: length taken as 0",
             fmt::format("an event at {} ns of length {} ns", event.start_ns, event.dur_ns));
    event.dur_ns = 0;
  }
  if (!inRange(event.start_ns) || !inRange(event.dur_ns) || !inRange(event.start_ns + event.dur_ns)) {
    dropped("events with a time out of range", fmt::format("start {} ns", event.start_ns));
    return false;
  }
  event.pushed_ns = event.start_ns;
  event.ready_ns = event.start_ns;
  extend(event.start_ns, event.start_ns + event.dur_ns);
  ++kinds_[static_cast<std::uint8_t>(event.kind)];
  tracks_[track.index].events.push_back(event);
  flushIfFull();
  return true;
}

void Builder::extend(std::int64_t start_ns, std::int64_t end_ns) {
  earliest_ = has_span_ ? std::min(earliest_, start_ns) : start_ns;
  latest_ = has_span_ ? std::max(latest_, end_ns) : end_ns;
  has_span_ = true;
}

void Builder::sample(TrackRef track, std::int64_t time_ns, double value) {
  if (!inRange(time_ns)) {
    dropped("counter samples with a time out of range", fmt::format("time {} ns", time_ns));
    return;
  }
  extend(time_ns, time_ns);
  ++sample_count_;
  tracks_[track.index].samples.push_back({time_ns, value});
  flushIfFull();
}

void Builder::expectFrom(std::int64_t time_ns) {
  if (!inRange(time_ns)) return;
  has_span_ = true;
  earliest_ = latest_ = time_ns;
}

void Builder::mark(std::int64_t index, std::int64_t time_ns) {
  if (!inRange(time_ns)) return;
  if (marks_.size() >= kMostMarks) return dropped("marks of iterations beyond the first million", "");
  marks_.push_back({index, time_ns, 0});
}

void Builder::depend(CorrelationId source, CorrelationId target, DependencyKind kind) {
  dependencies_.push_back({source, target, kind});
  ++dependency_count_;
}

void Builder::flow(const FlowPoint& point) {
  if (!inRange(point.time_ns)) {
    dropped("arrows with a time out of range", "");
    return;
  }
  flows_.push_back(point);
  flushIfFull();
}

}  // namespace pitwall::import
