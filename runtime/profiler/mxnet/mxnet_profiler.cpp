#include "runtime/mxnet_profiler.h"

#include "db/try.h"
#include "runtime/profiler/mxnet/state.h"

namespace pitwall::mxnet {

// --- control ---------------------------------------------------------------------------------------------

MxnetProfiler::MxnetProfiler(Profiler& recorder) : state_(std::make_unique<State>(recorder)) {}

MxnetProfiler::~MxnetProfiler() {
  (void)setState("stop");
  state_->recorder.setListener(nullptr);
  const ScopedLock lock(state_->mutex);
  (void)state_->finishFile();
}

Status MxnetProfiler::setConfig(std::span<const std::pair<std::string, std::string>> values) {
  Config config = PITWALL_TRY(parseConfig(values));
  State& s = *state_;
  (void)s.recorder.flush();  // earlier events belong to the previous configuration
  const ScopedLock lock(s.mutex);
  Status status = s.finishFile();
  s.config = std::move(config);
  s.stats.clear();
  s.clearCaches();
  if (s.running) {
    PITWALL_TRY(s.openFile());
  }
  return status;
}

Status MxnetProfiler::setState(std::string_view state) {
  if (state != "run" && state != "stop")
    return fail(ErrorCode::invalidInput,
                "profiler: state is '" + std::string(state) + "': 'run' or 'stop' is needed");
  State& s = *state_;
  (void)s.recorder.flush();  // earlier events belong to the previous state
  if (state == "stop") {
    bool stop_recording = false;
    {
      const ScopedLock lock(s.mutex);
      s.running = false;
      s.paused = true;
      std::swap(stop_recording, s.own_recording);
    }
    return stop_recording ? s.recorder.stop() : Status();
  }
  Status status;
  {
    const ScopedLock lock(s.mutex);
    if (!s.file.isOpen()) status = s.openFile();
    s.running = s.has_run = true;
    s.paused = false;
    s.file_status = {};
    s.forgetRecorded();  // also numbers of an earlier recording
  }
  s.recorder.setListener(&s);
  if (!s.recorder.isRecording()) {
    PITWALL_TRY(s.recorder.startForListener());
    const ScopedLock lock(s.mutex);
    s.own_recording = true;
  }
  return status;
}

bool MxnetProfiler::isRunning() const {
  const ScopedLock lock(state_->mutex);
  return state_->running;
}

void MxnetProfiler::pause() {
  (void)state_->recorder.flush();
  const ScopedLock lock(state_->mutex);
  state_->paused = true;
}

void MxnetProfiler::resume() {
  (void)state_->recorder.flush();
  const ScopedLock lock(state_->mutex);
  state_->paused = false;
}

Status MxnetProfiler::dump(bool finished) {
  State& s = *state_;
  (void)s.recorder.flush();
  const ScopedLock lock(s.mutex);
  if (!s.has_run)
    return fail(ErrorCode::invalidInput, "Profiler hasn't been run. Config and start profiler first");
  PITWALL_TRY(s.file_status);
  if (finished) return s.finishFile();
  return s.file.flush();
}

std::string MxnetProfiler::dumps(const DumpsOptions& options) {
  State& s = *state_;
  (void)s.recorder.flush();
  const ScopedLock lock(s.mutex);
  if (!s.config.aggregate_stats) return "";
  std::string text = s.stats.print(options);
  if (options.reset) {
    s.stats.clear();
    s.clearCaches();
  }
  return text;
}

}  // namespace pitwall::mxnet
