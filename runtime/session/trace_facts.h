// The facts that a trace has before the first event: host, process, libraries, devices, settings in effect.
#pragma once

#include <vector>

#include "db/settings.h"
#include "db/sink.h"
#include "runtime/backend.h"
#include "runtime/engine.h"

namespace pitwall::session {

struct TraceFacts {
  const Settings& settings;
  const Backend& backend;
  const Engine& engine;
  int openmp_threads;
};
void writeTraceFacts(TraceSink& sink, const TraceFacts& facts);

// cpu 0 and the GPUs, with their properties.
std::vector<DeviceInfo> traceDevices();

}  // namespace pitwall::session
