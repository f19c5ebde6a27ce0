#include "runtime/session/trace_facts.h"

#include <string>

#include "db/meta.h"
#include "runtime/devices.h"
#include "runtime/session/host_facts.h"
#include "runtime/session/openmp.h"

namespace pitwall::session {

void writeTraceFacts(TraceSink& sink, const TraceFacts& facts) {
  const auto host = hostFacts();
  for (const auto& [key, value] : host) sink.meta(key, value);
  sink.meta(meta::kProducer, "pitwall " PITWALL_VERSION);
  sink.meta(meta::kOpenMpRuntime, loadedOpenMpRuntimes());
  sink.meta(meta::kOpenMpThreads, std::to_string(facts.openmp_threads));
  sink.meta(meta::kBackend, facts.backend.name());
  sink.meta(meta::kEngine, toString(facts.engine.type()));
  if (const std::string version = facts.backend.libraryVersion(); !version.empty()) {
    sink.meta(meta::kOneDnnVersion, version);
  }
  for (const SettingInEffect& setting : facts.settings.allInEffect()) sink.setting(setting);
}

std::vector<DeviceInfo> traceDevices() {
  const auto host = hostFacts();
  const auto text = [&host](const char* key) {
    const auto found = host.find(key);
    return found == host.end() ? std::string() : found->second;
  };
  const std::string memory = text(meta::kMemoryBytes);
  std::vector<DeviceInfo> devices = {
      {"cpu", 0, text(meta::kCpuModel), memory.empty() ? 0 : std::stoll(memory)}};
  if (const auto gpus = gpuDevices(); gpus.has_value())
    devices.insert(devices.end(), gpus->begin(), gpus->end());
  return devices;
}

}  // namespace pitwall::session
