#include "runtime/engine.h"

#include <fmt/format.h>

#include "db/check.h"
#include "db/try.h"
#include "runtime/engine/naive_engine.h"
#include "runtime/engine/threaded_engine.h"

namespace pitwall {

const char* toString(EngineType type) {
  switch (type) {
    case EngineType::naive: return "NaiveEngine";
    case EngineType::threaded: return "ThreadedEngine";
    case EngineType::threadedPerDevice: return "ThreadedEnginePerDevice";
  }
  PITWALL_CHECK(false, "engine type %d", static_cast<int>(type));
}

Result<EngineOptions> EngineOptions::fromSettings(const Settings& settings) {
  EngineOptions options;
  const std::string_view name = settings.text("MXNET_ENGINE_TYPE");
  bool known = name.empty();
  for (const EngineType type : {EngineType::naive, EngineType::threaded, EngineType::threadedPerDevice}) {
    if (name != toString(type)) continue;
    options.type = type;
    known = true;
  }
  if (!known) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format("MXNET_ENGINE_TYPE={}: must be NaiveEngine, ThreadedEngine or ThreadedEnginePerDevice",
                    name));
  }
  const auto count = [&settings](std::string_view variable) {
    return static_cast<int>(settings.integer(variable));
  };
  options.cpu_workers = count("MXNET_CPU_WORKER_NTHREADS");
  options.cpu_priority_workers = count("MXNET_CPU_PRIORITY_NTHREADS");
  options.gpu_workers = count("MXNET_GPU_WORKER_NTHREADS");
  options.gpu_copy_workers = count("MXNET_GPU_COPY_NTHREADS");
  options.prints_waits = settings.boolean("MXNET_ENGINE_INFO");
  PITWALL_TRY(engine::checkWorkerCounts(options));
  return options;
}

Result<std::unique_ptr<Engine>> Engine::open(const EngineOptions& options, Profiler& profiler) {
  PITWALL_TRY(engine::checkWorkerCounts(options));
  if (options.type == EngineType::naive) {
    return std::unique_ptr<Engine>(std::make_unique<engine::NaiveEngine>(options, profiler));
  }
  return engine::ThreadedEngine::open(options, profiler);
}

}  // namespace pitwall
