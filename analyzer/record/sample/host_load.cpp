#include "analyzer/record/sample/host_load.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "db/proc_files.h"

namespace pitwall::record {

std::optional<HostLoad> hostLoad(const std::string& root) {
  const std::string whole = host::readFile(root + "/proc/stat").value_or("");
  std::istringstream text(whole);
  std::string word;
  std::array<std::int64_t, 8> ticks{};  // user nice system idle iowait irq softirq steal
  if (!(text >> word) || word != "cpu") return std::nullopt;
  for (auto& value : ticks) {
    if (!(text >> value)) return std::nullopt;
  }
  const TimeNs tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  HostLoad load{(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * tick_ns, ticks[7] * tick_ns, {}};
  const std::string key = "\nprocs_running ";
  if (const std::size_t at = whole.find(key); at != whole.npos)
    load.runnable = std::atoi(whole.c_str() + at + key.size());
  return load;
}

std::optional<TimeNs> pressureNs(const std::string& resource, const std::string& root) {
  // "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds; a line "full ..." follows.
  const std::string text = host::readFile(root + "/proc/pressure/" + resource).value_or("");
  const std::string key = "total=";
  const std::size_t at = text.find(key);
  if (!text.starts_with("some") || at == text.npos) return std::nullopt;
  return std::strtoll(text.c_str() + at + key.size(), nullptr, 10) * 1000;
}

std::optional<std::int64_t> hugePageFaults(const std::string& root) {
  const std::string text = host::readFile(root + "/proc/vmstat").value_or("");
  const std::string key = "\nthp_fault_alloc ";
  const std::size_t at = text.find(key);
  if (at == text.npos) return std::nullopt;
  return std::strtoll(text.c_str() + at + key.size(), nullptr, 10);
}

}  // namespace pitwall::record
