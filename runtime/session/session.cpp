#include "runtime/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "db/launched_rank.h"
#include "db/meta.h"
#include "db/ring_format.h"
#include "db/store.h"
#include "db/try.h"
#include "runtime/gpu/device_memory.h"
#include "runtime/mxnet_profiler.h"
#include "runtime/profiler/trace_path.h"
#include "runtime/session/device_storages.h"
#include "runtime/session/gpu_recording.h"
#include "runtime/session/gpus.h"
#include "runtime/session/openmp.h"
#include "runtime/session/trace_facts.h"

namespace pitwall {

namespace {

// Prints a warning for the program's user.
void warn(const std::string& text) { std::fprintf(stderr, "pitwall: %s\n", text.c_str()); }

ProfilerOptions profilerOptions() {
  ProfilerOptions options;
  options.rank = launchedRank(&std::getenv).value_or(0);
  return options;
}

Result<Settings> readSettings(const SessionOptions& options) {
  auto settings = PITWALL_TRY(Settings::fromEnvironment());
  for (const auto& [name, value] : options.settings) {
    PITWALL_TRY(settings.set(name, value));
  }
  return settings;
}

// Where the trace's reader expects it: beside the file itself, not beside a link to it.
std::string ringPathFor(const std::string& trace_path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(trace_path, error);
  return ring::filePath(error ? trace_path : target.string());
}

std::string chooseBackend(const SessionOptions& options, const Settings& settings) {
  if (const std::string_view named = settings.text("PITWALL_BACKEND"); !named.empty())
    return std::string(named);
  if (!options.backend.empty()) return options.backend;
  const bool by_other_name =
      settings.isSet("MXNET_ONEDNN_ENABLED") && !settings.isSet("MXNET_MKLDNN_ENABLED");
  const bool onednn = settings.boolean(by_other_name ? "MXNET_ONEDNN_ENABLED" : "MXNET_MKLDNN_ENABLED");
  for (const std::string_view name : backendNames()) {
    if (onednn || name != "onednn") return std::string(name);
  }
  return "reference";
}

// "" = none.
std::string tracePathAsked(const Settings& settings, const SessionOptions& options) {
  const std::string named(settings.text("PITWALL_TRACE"));
  return named.empty() ? options.trace_path : named;
}

}  // namespace

// Destroyed in reverse order: the engine first, while its operators can still use the other members.
struct Session::State {
  State(Settings chosen, const SessionOptions& options)
      : settings(std::move(chosen)),
        trace_path(tracePathAsked(settings, options)),
        gpus(settings, options.gpus) {}

  Status openStorages();
  void startRecording();
  void warnOnceOfTrace(const Status& status);
  Status startMxnetProfiler();
  void finishMxnetProfiler();

  const Settings settings;
  std::string trace_path;  // "" = none
  Profiler profiler{profilerOptions()};
  mxnet::MxnetProfiler mxnet_profiler{profiler};
  session::GpuRecording gpu_recording{profiler, cupti::extentOf(settings.text("PITWALL_RECORD_GPU")),
                                      !trace_path.empty()};
  session::Gpus gpus;
  session::DeviceStorages storages{profiler};
  session::GpusClosed gpus_closed{gpus};  // before the storages, from which their workspaces come
  std::unique_ptr<Backend> backend;       // of the cpu devices
  std::unique_ptr<Engine> engine;
  int openmp_threads = 1;

  bool trace_failed = false;
  bool finished = false;
  std::int64_t next_iteration = 0;
};

Status Session::State::openStorages() {
  session::DeviceStorages::Options options;
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::gpu, DeviceKind::pinned})
    options[static_cast<std::size_t>(kind)] = PITWALL_TRY(StorageOptions::fromSettings(settings, kind));
  gpus.setStorages([this](Device device) { return storages.of(device); });
  return storages.open(options, [this](Device device) -> Result<std::shared_ptr<SystemMemory>> {
    GpuDriver* const driver = PITWALL_TRY(gpus.driver(device));
    return gpuMemory(*driver, device, [this] { return gpus.waitForFrees(); });
  });
}

void Session::State::startRecording() {
  if (trace_path.empty()) return;
  // A template gives each process its own file; another recorder of this process may already use that name.
  const int rank = launchedRank(&std::getenv).value_or(0);
  if (const std::string named = expandTracePath(trace_path, getpid(), rank); named != trace_path)
    trace_path = freeTracePath(named);
  auto sink = createTrace(trace_path);
  if (!sink.has_value()) {
    warn(fmt::format("nothing is recorded into {}: {} (the program itself is not affected)", trace_path,
                     sink.error().message));
    trace_path.clear();
    return;
  }
  session::writeTraceFacts(**sink, {settings, *backend, *engine, openmp_threads});
  const std::vector<DeviceInfo> devices = session::traceDevices();
  const Status started = profiler.start(std::move(sink).value(), {.ring_path = ringPathFor(trace_path)});
  PITWALL_CHECK(started.has_value(), "%s", started.error().message.c_str());
  // Through the profiler, which then knows them: the tracks of workers name theirs. No operator runs yet.
  profiler.withSink([&devices](TraceSink& started_sink) {
    for (const DeviceInfo& device : devices) started_sink.device(device);
  });
}

// MXNET_PROFILER_AUTOSTART. Without MXNET_PROFILER_MODE everything is recorded: MXNet's default leaves out
// imperative operators.
Status Session::State::startMxnetProfiler() {
  if (!settings.boolean("MXNET_PROFILER_AUTOSTART")) return {};
  std::vector<std::pair<std::string, std::string>> config;
  if (settings.isSet("MXNET_PROFILER_MODE")) {
    const auto mode =
        PITWALL_TRY(mxnet::parseProfilerMode(std::to_string(settings.integer("MXNET_PROFILER_MODE"))));
    warn(mode.explanation);
    const auto add = [&config](const char* key, bool on) { config.emplace_back(key, on ? "1" : "0"); };
    add("profile_symbolic", mode.symbolic);
    add("profile_imperative", mode.imperative);
    add("profile_api", mode.api);
    add("profile_memory", mode.memory);
  }
  PITWALL_TRY(mxnet_profiler.setConfig(config));
  if (Status status = mxnet_profiler.setState("run"); !status.has_value())
    warn(status.error().message + " (the program itself is not affected)");
  return {};
}

void Session::State::finishMxnetProfiler() {
  if (!mxnet_profiler.isRunning()) return;
  if (Status status = mxnet_profiler.dump(); !status.has_value()) warn(status.error().message);
  (void)mxnet_profiler.setState("stop");
}

void Session::State::warnOnceOfTrace(const Status& status) {
  if (status.has_value() || trace_failed) return;
  trace_failed = true;
  warn(fmt::format("the trace {} is not complete: {} (the program itself is not affected)", trace_path,
                   status.error().message));
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Session>> Session::open(SessionOptions options) {
  auto settings = PITWALL_TRY(readSettings(options));
  auto state = std::make_unique<State>(std::move(settings), options);
  const Settings& chosen = state->settings;

  PITWALL_TRY(state->openStorages());

  state->backend = PITWALL_TRY(openBackend(chooseBackend(options, chosen), chosen));

  auto engine_options = PITWALL_TRY(EngineOptions::fromSettings(chosen));
  // The number of threads of a parallel region is a property of the thread that opens it: workers set their
  // own, and with the naive engine the program's thread is the worker.
  const int openmp_threads = session::workerOpenMpThreads(chosen);
  state->openmp_threads = openmp_threads;
  engine_options.on_worker_start = [openmp_threads] { session::setOpenMpThreads(openmp_threads); };
  engine_options.before_gpu_operator = [gpus = &state->gpu_recording] { gpus->onGpuOperator(); };
  engine_options.streams = &state->gpus;
  if (engine_options.type == EngineType::naive) session::setOpenMpThreads(openmp_threads);
  state->engine = PITWALL_TRY(Engine::open(engine_options, state->profiler));

  state->startRecording();
  PITWALL_TRY(state->startMxnetProfiler());
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

Session::~Session() {
  if (const Status status = finish(); !status.has_value()) {
    warn("an operator failed and no wait reported it: " + status.error().message);
  }
}

Status Session::finish() {
  State& s = *state_;
  if (s.finished) return {};
  s.finished = true;
  Status status = s.engine->waitForAll();
  s.storages.sample();
  meta(meta::kPeakBytes, std::to_string(s.storages.hostPeakBytes()));
  s.finishMxnetProfiler();
  s.gpu_recording.end();
  s.warnOnceOfTrace(s.profiler.stop());
  return status;
}

const Settings& Session::settings() const { return state_->settings; }
mxnet::MxnetProfiler& Session::mxnetProfiler() { return state_->mxnet_profiler; }
Profiler& Session::profiler() { return state_->profiler; }
Storage& Session::storage() { return **state_->storages.of(cpu(0)); }
Backend& Session::backend() { return *state_->backend; }
Result<Storage*> Session::storage(Device device) { return state_->storages.of(device); }
Engine& Session::engine() { return *state_->engine; }
int Session::operatorThreads() const { return state_->openmp_threads; }

Result<Backend*> Session::backend(Device device) {
  PITWALL_TRY(checkDevice(device));
  if (device.kind != DeviceKind::gpu) return state_->backend.get();
  return state_->gpus.backend(device);
}

Result<GpuWork*> Session::gpuWork(Device device) { return state_->gpus.work(device); }
Result<GpuExchange*> Session::gpuExchange() { return state_->gpus.exchange(); }

std::int64_t Session::tunable(std::string_view name, std::int64_t value, TunableRange range) {
  std::string refused;
  const TunableInEffect in_effect = state_->settings.chosen(
      {std::string(name), value, value, range.minimum, range.maximum, SettingSource::program}, refused);
  if (!refused.empty()) warn(refused);
  state_->profiler.withSink([&in_effect](TraceSink& sink) { sink.tunable(in_effect); });
  return in_effect.value;
}

void Session::markIteration(std::int64_t items) {
  State& s = *state_;
  constexpr std::int64_t kLookEvery = 64;  // iterations between checks of the trace's status
  if (s.next_iteration % kLookEvery == 0) s.warnOnceOfTrace(s.profiler.sinkStatus());
  s.profiler.iteration(s.next_iteration++, items);
  s.storages.sample();
}

void Session::meta(std::string_view key, std::string_view value) {
  state_->profiler.withSink([&](TraceSink& sink) { sink.meta(key, value); });
}

}  // namespace pitwall
