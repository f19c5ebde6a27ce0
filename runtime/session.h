// A Session owns what a program needs to train or infer: settings, profiler, a storage per device, a backend
// per kind of device, engine. A program opens one first and closes it last.
//
// With PITWALL_TRACE=FILE in the environment, or SessionOptions::trace_path, everything is recorded into
// FILE.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "db/result.h"
#include "db/settings.h"
#include "runtime/backend.h"
#include "runtime/engine.h"
#include "runtime/gpu.h"
#include "runtime/memory.h"
#include "runtime/profiler.h"

namespace pitwall {

class GpuExchange;  // runtime/gpu/exchange.h
class GpuWork;      // runtime/gpu/work.h
namespace mxnet {
class MxnetProfiler;
}

struct SessionOptions {
  std::string trace_path;  // record into this file; PITWALL_TRACE wins; both empty = no recording
  std::string backend;  // "" = the best that this build and MXNET_MKLDNN_ENABLED allow; PITWALL_BACKEND wins
  // The program's own choices of settings (MXNET_ENGINE_TYPE, ...); the environment wins.
  std::vector<std::pair<std::string, std::string>> settings;
  std::shared_ptr<GpuPlatform> gpus = nullptr;  // null = those of this build, opened when first used
};

struct TunableRange {
  std::int64_t minimum = 1;
  std::int64_t maximum = INT64_MAX;
};

class Session {
 public:
  // Errors: invalidInput for a bad setting. A trace that cannot be written is not an error: the session warns
  // on standard error, naming path and reason, and continues without recording.
  static Result<std::unique_ptr<Session>> open(SessionOptions options = {});
  ~Session();  // finish(), with errors on standard error

  // Waits for all operators, finishes the trace. Returns the first operator error that no wait has reported,
  // else ok. Trace failures are warnings on standard error ("the training is not affected").
  Status finish();

  const Settings& settings() const;
  Profiler& profiler();
  mxnet::MxnetProfiler& mxnetProfiler();  // runs from the start with MXNET_PROFILER_AUTOSTART=1
  Storage& storage();                     // of cpu(0)
  Backend& backend();                     // of the cpu devices

  // Those of a device, opened when first used; they live as long as the session. Any thread. Errors:
  // unsupported when this build or machine has none for the kind of device, invalidInput for an index out of range; both
  // name the device.
  Result<Storage*> storage(Device device);
  Result<Backend*> backend(Device device);

  Engine& engine();

  // What puts work on the GPUs. Errors: as storage().
  Result<GpuWork*> gpuWork(Device device);
  // What sums between GPUs. Errors: unsupported or notFound where there is no GPU, or no library for it.
  Result<GpuExchange*> gpuExchange();

  // OpenMP threads that an operator on a cpu device may use (OMP_NUM_THREADS, MXNET_OMP_MAX_THREADS).
  int operatorThreads() const;

  // Declares a number that the program chooses. PITWALL_TUNE_<name>=value in the environment replaces it; for
  // a value that is out of range or not an integer an error is printed on standard error and the default is
  // used. Recorded in the trace with its value, default and range. Names: letters, digits, '_'.
  std::int64_t tunable(std::string_view name, std::int64_t value, TunableRange range = {});

  // Marks the boundary before the next iteration, of `items` samples. Call at the top of the training loop.
  void markIteration(std::int64_t items);

  // A fact for the trace's meta table (db/meta.h).
  void meta(std::string_view key, std::string_view value);

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pitwall
