// The listener of an MxnetProfiler, called on the recorder's drain thread. Events of one name share cached
// data (their text in the file, their row of the statistics), so that an event costs only its numbers.
#include <time.h>

#include <algorithm>

#include "db/json_string.h"
#include "runtime/profiler/mxnet/state.h"

namespace pitwall::mxnet {

bool MxnetProfiler::State::wants(const Class& what) const {
  if (!running || paused) return false;
  switch (what.object) {
    case Object::none: return false;
    case Object::op: return config.imperative;  // there are no symbolic graphs
    case Object::api: return config.api;
    default: return true;
  }
}

// Import reads them back.
std::string MxnetProfiler::State::membersOf(const OperatorFacts& facts) {
  std::string members;
  const auto add = [&members](const char* key, const std::string& value) {
    if (!members.empty()) members += ',';
    members += std::string("\"") + key + "\":" + value;
  };
  const auto text = [&add](const char* key, const std::string& value) {
    if (!value.empty()) add(key, jsonString(value));
  };
  const auto number = [&add](const char* key, std::int64_t value) {
    if (value != 0) add(key, std::to_string(value));
  };
  text("layer", facts.layer);
  text("shapes", facts.shapes);
  text("dtype", facts.dtype);
  text("backend", facts.backend);
  text("implementation", facts.implementation);
  if (facts.phase != Phase::none) text("phase", toString(facts.phase));
  number("flop", facts.flop);
  number("bytes_read", facts.bytes_read);
  number("bytes_written", facts.bytes_written);
  return members;
}

MxnetProfiler::State::Kind& MxnetProfiler::State::kindOf(const Names& names, const pitwall::Event& event) {
  const bool is_operator = event.kind == EventKind::operatorRun;
  const std::uint64_t key = (std::uint64_t{event.name.value} << 36U) ^
                            (std::uint64_t{is_operator ? event.op.value : event.args.value} << 5U) ^
                            static_cast<std::uint64_t>(event.kind);
  const auto [known, fresh] = kinds_.try_emplace(key);
  Kind& kind = known->second;
  if (!fresh) return kind;
  kind.name = names.text(event.name);
  kind.what = classify(event.kind, kind.name, names.text(event.args));
  if (file.isOpen() && wants(kind.what))
    kind.label =
        file.label(kind.name, kind.what.category, is_operator ? membersOf(names.facts(event.op)) : "");
  return kind;
}

void MxnetProfiler::State::events(const Names& names, TrackId track, std::span<const pitwall::Event> events) {
  const ScopedLock lock(mutex);
  if (!running || paused) return;
  // What no thread ran has a row for each track, with a number above all ids of threads.
  constexpr std::int64_t kFirstRow = 5'000'000;
  const std::int64_t thread = names.threadOf(track), tid = thread != 0 ? thread : kFirstRow + track.value;
  for (const pitwall::Event& event : events) {
    Kind& kind = kindOf(names, event);
    if (!wants(kind.what)) continue;
    if (kind.what.object == Object::api) {
      call_edges_.push_back({event.start_ns, 1});
      call_edges_.push_back({event.start_ns + event.dur_ns, -1});
    }
    if (config.aggregate_stats && kind.what.object == Object::marker) {
      stats.addMarker(kind.what.category);
    } else if (config.aggregate_stats) {
      if (kind.statistics == nullptr) kind.statistics = &stats.entry(kind.what.category, kind.name);
      kind.statistics->addDuration(event.dur_ns);
    }
    if (file.isOpen()) write(kind, {tid, event.start_ns, event.dur_ns});
  }
}

void MxnetProfiler::State::write(const Kind& kind, const ChromeFile::Span& span) {
  const ChromeFile::Label& label = kind.label;
  switch (kind.what.object) {
    case Object::op: return config.doubled_events ? file.doubled(label, span) : file.complete(label, span);
    case Object::api:
      return config.doubled_events ? file.begunAndEnded(label, span) : file.complete(label, span);
    case Object::task: return file.begunAndEnded(label, span);
    case Object::frame: return file.frame(label, span);
    case Object::event: return file.complete(label, span);
    case Object::marker: return file.marker(label, span, kind.what.scope);
    case Object::none: return;
  }
}

// --- counters ----------------------------------------------------------------------------------------------

// Each tag has its own row, and the device has the sum.
MxnetProfiler::State::MemoryRow& MxnetProfiler::State::memoryRow(const std::string& track) {
  const auto known = memory_rows_.find(track);
  if (known != memory_rows_.end()) return known->second;
  const std::string of = track.substr(std::min(track.size(), track.find(": ") + 2));
  MemoryRow row{nullptr, {"Pool Memory", "Pool: " + of}};
  if (track.rfind("memory live", 0) == 0) {
    // "weights" of cpu/0, or "cpu/1 weights"
    const std::size_t blank = of.find('/') == std::string::npos ? std::string::npos : of.find(' ');
    const std::string device = blank == std::string::npos ? "cpu/0" : of.substr(0, blank);
    const std::string tag = blank == std::string::npos ? of : of.substr(blank + 1);
    const DeviceMemory fresh{{"Device Storage", "Memory: " + device}};
    row = {&device_memory_.try_emplace(device, fresh).first->second,
           {"Device Storage", "Memory: " + device + " " + tag}};
  }
  return memory_rows_.emplace(track, std::move(row)).first->second;
}

void MxnetProfiler::State::counters(const Names& names, TrackId track,
                                    std::span<const CounterSample> samples) {
  const ScopedLock lock(mutex);
  if (!running || paused) return;
  const std::string& name = names.trackInfo(track).name;
  if (isMemoryTrack(name)) {
    MemoryRow& row = memoryRow(name);
    for (const CounterSample& s : samples) memory_samples_.push_back({&row, s});
    return;
  }
  const auto own = counter_names.find(name);
  if (own == counter_names.end()) return;
  Series& series =
      own_counters_.try_emplace(name, Series{own->second.first, own->second.second}).first->second;
  for (const CounterSample& s : samples) sample(series, s);
}

void MxnetProfiler::State::sample(Series& series, const CounterSample& sample) {
  if (config.aggregate_stats) {
    if (series.statistics == nullptr) series.statistics = &stats.entry(series.category, series.name);
    series.statistics->addSample(sample.value);
  }
  if (!file.isOpen()) return;
  if (!series.label) series.label = file.counterLabel(series.name, series.category);
  file.counter(*series.label, sample.time_ns, sample.value);
}

void MxnetProfiler::State::countMemory() {
  std::stable_sort(memory_samples_.begin(), memory_samples_.end(),
                   [](const MemorySample& a, const MemorySample& b) { return a.at.time_ns < b.at.time_ns; });
  for (const MemorySample& s : memory_samples_) {
    DeviceMemory* const device = s.row->live_on;
    if (device != nullptr) {
      device->live_bytes += s.at.value - s.row->bytes;
      s.row->bytes = s.at.value;
    }
    if (!config.memory) continue;
    if (device != nullptr) sample(device->series, {s.at.time_ns, device->live_bytes});
    sample(s.row->series, s.at);
  }
  memory_samples_.clear();
}

// MXNet counts when calls begin and end; here calls are known only after they have ended.
void MxnetProfiler::State::countCalls() {
  std::stable_sort(call_edges_.begin(), call_edges_.end(),
                   [](const CallEdge& a, const CallEdge& b) { return a.time_ns < b.time_ns; });
  for (const CallEdge& edge : call_edges_) {
    if (edge.change > 0) sample(calls_, {edge.time_ns, static_cast<double>(++calls)});
    calls_in_progress += edge.change;
    sample(concurrency_, {edge.time_ns, static_cast<double>(calls_in_progress)});
  }
  call_edges_.clear();
}

// --- the file ----------------------------------------------------------------------------------------------

void MxnetProfiler::State::drained() {
  constexpr std::size_t kMostPending = 1 << 20;  // more is written without a dump
  const ScopedLock lock(mutex);
  countMemory();
  countCalls();
  if (!file.isOpen() || !running) return;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto ns = static_cast<Ticks>(now.tv_sec) * 1'000'000'000U + static_cast<Ticks>(now.tv_nsec);
  const bool due =
      config.continuous_dump && static_cast<double>(ns - last_dump) >= config.dump_period_s * 1e9;
  if (!due && file.pendingBytes() < kMostPending) return;
  if (due) last_dump = ns;
  if (Status status = file.flush(); !status.has_value()) file_status = std::move(status);
}

Status MxnetProfiler::State::openFile() {
  clearCaches();
  return file.open(config.filename);
}

Status MxnetProfiler::State::finishFile() {
  if (!file.isOpen()) return {};
  Status status = file.flush();
  file.close();
  return status;
}

void MxnetProfiler::State::clearCaches() {
  kinds_.clear();
  const auto forget = [](Series& series) {
    series.label.reset();
    series.statistics = nullptr;
  };
  for (Series* const series : {&calls_, &concurrency_}) forget(*series);
  for (auto& [device, memory] : device_memory_) forget(memory.series);
  for (auto& [track, row] : memory_rows_) forget(row.series);
  for (auto& [track, series] : own_counters_) forget(series);
}

void MxnetProfiler::State::forgetRecorded() {
  clearCaches();
  memory_samples_.clear();
  memory_rows_.clear();
  device_memory_.clear();
  call_edges_.clear();
  calls = calls_in_progress = 0;
}

}  // namespace pitwall::mxnet
