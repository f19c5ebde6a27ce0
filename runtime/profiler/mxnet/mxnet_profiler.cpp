#include "runtime/mxnet_profiler.h"

#include <time.h>

#include <algorithm>

#include "db/ring_decoder.h"
#include "runtime/profiler/mxnet/state.h"

namespace pitwall::mxnet {

// --- hearing: on the recorder's drain thread ---------------------------------------------------------------

bool MxnetProfiler::State::wants(const Class& what) const {
  if (!running || paused) return false;
  switch (what.object) {
    case Object::none: return false;
    case Object::op: return config.imperative;  // there is no graph whose operators were symbolic
    case Object::api: return config.api;
    default: return true;
  }
}

std::string MxnetProfiler::State::shapesAndLayer(const Names& names, const pitwall::Event& event) const {
  const OperatorFacts& facts = names.facts(event.op);
  std::string members;
  const auto add = [&members](const char* key, const std::string& value) {
    if (value.empty()) return;
    if (!members.empty()) members += ',';
    members += std::string("\"") + key + "\":" + ring::quoteJson(value);
  };
  add("layer", facts.layer);
  add("shapes", facts.shapes);
  add("dtype", facts.dtype);
  add("implementation", facts.implementation);
  return members;
}

void MxnetProfiler::State::events(const Names& names, TrackId track, std::span<const pitwall::Event> events) {
  const std::scoped_lock lock(mutex);
  if (!running || paused) return;
  for (const pitwall::Event& event : events) {
    const std::uint64_t key = (std::uint64_t{event.name.value} << 36U) ^
                              (std::uint64_t{event.args.value} << 5U) ^
                              static_cast<std::uint64_t>(event.kind);
    const auto [known, fresh] = kinds.try_emplace(key);
    if (fresh) {
      known->second.name = names.text(event.name);
      known->second.what = classify(event.kind, known->second.name, names.text(event.args));
    }
    const Kind& kind = known->second;
    if (!wants(kind.what)) continue;
    if (kind.what.object == Object::api) {
      call_edges.push_back({event.start_ns, 1});
      call_edges.push_back({event.start_ns + event.dur_ns, -1});
    }
    if (config.aggregate_stats) {
      if (kind.what.object == Object::marker) {
        stats.addMarker(kind.what.category);
      } else {
        stats.addDuration(kind.what.category, kind.name, event.dur_ns);
      }
    }
    if (!file.isOpen()) continue;
    write(kind.what, {kind.name, kind.what.category, names.threadOf(track), event.start_ns, event.dur_ns,
                      event.kind == EventKind::operatorRun ? shapesAndLayer(names, event) : ""});
  }
}

void MxnetProfiler::State::write(const Class& what, const ChromeFile::Item& item) {
  switch (what.object) {
    case Object::op: return config.doubled_events ? file.doubled(item) : file.complete(item);
    case Object::api: return config.doubled_events ? file.begunAndEnded(item) : file.complete(item);
    case Object::task: return file.begunAndEnded(item);
    case Object::frame: return file.frame(item);
    case Object::event: return file.complete(item);
    case Object::marker: return file.marker(item, what.scope);
    case Object::none: return;
  }
}

// Memory: each tag has its own row, and the device has the sum. Other counters are MXNet's own.
void MxnetProfiler::State::counters(const Names& names, TrackId track,
                                    std::span<const CounterSample> samples) {
  const std::scoped_lock lock(mutex);
  if (!running || paused) return;
  const std::string& name = names.trackInfo(track).name;
  if (isMemoryTrack(name)) {
    const std::string of = name.substr(std::min(name.size(), name.find(": ") + 2));
    const bool live = name.rfind("memory live", 0) == 0;
    for (const CounterSample& s : samples) memory_samples.push_back({of, live, s});
    return;
  }
  const auto own = counter_names.find(name);
  if (own == counter_names.end()) return;
  for (const CounterSample& s : samples)
    sample({Object::none, own->second.first, 'p'}, own->second.second, s);
}

void MxnetProfiler::State::sample(const Class& what, const std::string& name, const CounterSample& sample) {
  if (config.aggregate_stats) stats.addSample(what.category, name, sample.value);
  if (file.isOpen()) file.counter({name, what.category, 0, sample.time_ns, 0, ""}, sample.value);
}

void MxnetProfiler::State::countMemory() {
  std::stable_sort(memory_samples.begin(), memory_samples.end(),
                   [](const MemorySample& a, const MemorySample& b) { return a.at.time_ns < b.at.time_ns; });
  const Class device{Object::none, "Device Storage", 'p'}, pool{Object::none, "Pool Memory", 'p'};
  for (const MemorySample& s : memory_samples) {
    if (s.live) live_bytes[s.of] = s.at.value;
    if (!config.memory) continue;
    if (!s.live) {
      sample(pool, "Pool: " + s.of, s.at);
      continue;
    }
    double sum = 0;
    for (const auto& [tag, bytes] : live_bytes) sum += bytes;
    sample(device, "Memory: cpu/0", {s.at.time_ns, sum});
    sample(device, "Memory: cpu/0 " + s.of, s.at);
  }
  memory_samples.clear();
}

// MXNet counts as calls begin and end; here they are known when they have ended.
void MxnetProfiler::State::countCalls() {
  std::stable_sort(call_edges.begin(), call_edges.end(),
                   [](const CallEdge& a, const CallEdge& b) { return a.time_ns < b.time_ns; });
  const Class api{Object::none, "MXNET_C_API", 'p'};
  for (const CallEdge& edge : call_edges) {
    if (edge.change > 0) sample(api, "MXNet C API Calls", {edge.time_ns, static_cast<double>(++calls)});
    calls_in_progress += edge.change;
    sample(api, "MXNet C API Concurrency", {edge.time_ns, static_cast<double>(calls_in_progress)});
  }
  call_edges.clear();
}

void MxnetProfiler::State::drained() {
  const std::scoped_lock lock(mutex);
  countMemory();
  countCalls();
  if (!file.isOpen() || !config.continuous_dump || !running) return;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto ns = static_cast<Ticks>(now.tv_sec) * 1'000'000'000U + static_cast<Ticks>(now.tv_nsec);
  if (static_cast<double>(ns - last_dump) < config.dump_period_s * 1e9) return;
  last_dump = ns;
  if (Status status = file.flush(); !status.has_value()) file_status = std::move(status);
}

Status MxnetProfiler::State::finishFile() {
  if (!file.isOpen()) return {};
  Status status = file.flush();
  file.close();
  return status;
}

// --- control ---------------------------------------------------------------------------------------------

MxnetProfiler::MxnetProfiler(Profiler& recorder) : state_(std::make_unique<State>(recorder)) {}

MxnetProfiler::~MxnetProfiler() {
  (void)setState("stop");
  state_->recorder.setTap(nullptr);
  const std::scoped_lock lock(state_->mutex);
  (void)state_->finishFile();
}

Status MxnetProfiler::setConfig(std::span<const std::pair<std::string, std::string>> values) {
  Result<Config> config = parseConfig(values);
  if (!config.has_value()) return fail(config.error());
  State& s = *state_;
  (void)s.recorder.flush();  // what ran so far belongs to the configuration before
  const std::scoped_lock lock(s.mutex);
  Status status = s.finishFile();
  s.config = std::move(config).value();
  s.stats.clear();
  if (s.running) {
    if (Status opened = s.file.open(s.config.filename); !opened.has_value()) return opened;
  }
  return status;
}

Status MxnetProfiler::setState(std::string_view state) {
  if (state != "run" && state != "stop")
    return fail(ErrorCode::invalidInput,
                "profiler: state is '" + std::string(state) + "': 'run' or 'stop' is needed");
  State& s = *state_;
  (void)s.recorder.flush();  // what happened before belongs to the state before
  if (state == "stop") {
    bool stop_recording = false;
    {
      const std::scoped_lock lock(s.mutex);
      s.running = false;
      s.paused = true;
      std::swap(stop_recording, s.own_recording);
    }
    return stop_recording ? s.recorder.stop() : Status();
  }
  Status status;
  {
    const std::scoped_lock lock(s.mutex);
    if (!s.file.isOpen()) status = s.file.open(s.config.filename);
    s.running = s.has_run = s.output = true;
    s.paused = false;
    s.file_status = {};
    s.kinds.clear();  // numbers of an earlier recording
    s.live_bytes.clear();
    s.memory_samples.clear();
    s.call_edges.clear();
    s.calls = s.calls_in_progress = 0;
  }
  s.recorder.setTap(&s);
  if (!s.recorder.isRecording()) {
    if (Status started = s.recorder.startForTap(); !started.has_value()) return started;
    const std::scoped_lock lock(s.mutex);
    s.own_recording = true;
  }
  return status;
}

bool MxnetProfiler::isRunning() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->running;
}

void MxnetProfiler::pause() {
  (void)state_->recorder.flush();
  const std::scoped_lock lock(state_->mutex);
  state_->paused = true;
}

void MxnetProfiler::resume() {
  (void)state_->recorder.flush();
  const std::scoped_lock lock(state_->mutex);
  state_->paused = false;
}

Status MxnetProfiler::dump(bool finished) {
  State& s = *state_;
  (void)s.recorder.flush();
  const std::scoped_lock lock(s.mutex);
  if (!s.has_run)
    return fail(ErrorCode::invalidInput, "Profiler hasn't been run. Config and start profiler first");
  if (!s.file_status.has_value()) return fail(s.file_status.error());
  if (finished) return s.finishFile();
  return s.file.flush();
}

std::string MxnetProfiler::dumps(const DumpsOptions& options) {
  State& s = *state_;
  (void)s.recorder.flush();
  const std::scoped_lock lock(s.mutex);
  if (!s.config.aggregate_stats) return "";
  std::string text = s.stats.print(options);
  if (options.reset) s.stats.clear();
  return text;
}

}  // namespace pitwall::mxnet
