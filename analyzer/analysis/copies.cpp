// Copies by kind. Kineto's names tell direction and memory: "Memcpy HtoD (Pageable -> Device)", "Memset
// (Device)".
#include <algorithm>
#include <map>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

std::string directionOf(std::string_view name) {
  for (const char* direction :
       {"UVM HtoD", "UVM DtoH", "UVM DtoD", "HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "HtoA", "AtoH", "AtoA"}) {
    if (name.find(direction) != std::string_view::npos) return direction;
  }
  return name.find("Memset") != std::string_view::npos ? "memset" : "unknown";
}

// Of the host's side.
std::string memoryOf(std::string_view name) {
  if (name.find("Pageable") != std::string_view::npos) return "pageable";
  if (name.find("Pinned") != std::string_view::npos) return "pinned";
  if (name.find("Managed") != std::string_view::npos) return "managed";
  const bool on_device = name.find("DtoD") != std::string_view::npos ||
                         name.find("PtoP") != std::string_view::npos ||
                         name.find("Memset (Device)") != std::string_view::npos;
  return on_device ? "device" : "unknown";
}

struct Sum {
  std::int64_t count = 0, bytes = 0, largest = 0;
  TimeNs total_ns = 0, exposed_ns = 0;
};

}  // namespace

Status writeCopies(Trace& trace, const Context& context) {
  TempTable table(
      "analysis_copy",
      "device TEXT, rank INTEGER, name TEXT, direction TEXT, memory TEXT, count INTEGER, total_ns INTEGER, "
      "bytes INTEGER, bytes_per_second REAL, exposed_ns INTEGER, largest_bytes INTEGER");
  for (const auto& device : context.devices.all) {
    std::map<StringId, Sum> sums;
    CoverCursor computation(device.computation);
    for (const auto* work : device.work) {
      if (work->work != WorkClass::copy) continue;
      auto& sum = sums[work->name];
      const TimeNs length = work->end_ns - work->start_ns;
      ++sum.count;
      sum.bytes += work->value;
      sum.largest = std::max(sum.largest, work->value);
      sum.total_ns += length;
      sum.exposed_ns += length - computation.within(work->start_ns, work->end_ns);
    }
    for (const auto& [id, sum] : sums) {
      const auto& name = trace.string(id);
      const double rate =
          sum.total_ns > 0 ? static_cast<double>(sum.bytes) * 1e9 / static_cast<double>(sum.total_ns) : 0;
      table.row({device.name, static_cast<std::int64_t>(device.rank), name, directionOf(name), memoryOf(name),
                 sum.count, sum.total_ns, sum.bytes, rate, sum.exposed_ns, sum.largest});
    }
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
