// Copies by kind. Kineto's names give direction and memory: "Memcpy HtoD (Pageable -> Device)", "Memset
// (Device)".
#include <algorithm>
#include <map>
#include <unordered_set>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/time_chunk_analysis.h"

namespace pitwall::analysis {

constexpr Column kCopyColumns[] = {
    {"device", kText, "", "'gpu 0'"},
    {"rank", kInteger, "number", "rank of the process that the device works for, from 0"},
    {"name", kText, "", "as the tracer reports it: 'Memcpy HtoD (Pageable -> Device)'"},
    {"direction", kText, "", "'HtoD', 'DtoH', 'DtoD', 'PtoP', ...; 'memset', 'unknown'"},
    {"memory", kText, "", "of the host's side: 'pageable', 'pinned', 'managed', 'device' or 'unknown'"},
    {"count", kInteger, "count", "copies"},
    {"total_ns", kInteger, "ns", "sum of the durations"},
    {"bytes", kInteger, "bytes", "sum of the sizes"},
    {"bytes_per_second", kReal, "bytes/s", "bytes over total_ns; 0 = unknown"},
    {"exposed_ns", kInteger, "ns", "part of total_ns that does not overlap with computation"},
    {"largest_bytes", kInteger, "bytes", "largest copy"},
    {"sizes", kInteger, "count", "how many different sizes, at most 4096"},
};
constexpr TableDeclaration kCopyTable{
    "analysis_copy", "Copies of one name of a device and rank, in the device's window.", kCopyColumns};

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

struct CopySum {
  static constexpr std::size_t kMostSizes = 4096;
  std::int64_t count = 0, bytes = 0, largest = 0;
  TimeNs total_ns = 0, exposed_ns = 0;
  std::unordered_set<std::int64_t> sizes;

  void add(const DeviceWork& work) {
    ++count;
    bytes += work.value;
    largest = std::max(largest, work.value);
    total_ns += work.end_ns - work.start_ns;
    if (sizes.size() < kMostSizes) sizes.insert(work.value);
  }
};

// Of one device.
struct Copies {
  struct Open {
    StringId name;
    TimeNs end_ns = 0;
  };
  std::map<StringId, CopySum> sums;
  std::vector<Open> open;  // copies that last beyond the time chunks so far

  void add(const DeviceChunk& now) {
    // Earlier copies continue from the time chunk's begin.
    CoverCursor computation(now.computation);
    std::vector<Open> before;
    before.swap(open);
    for (const auto& copy : before) expose({now.from_ns, copy.end_ns}, copy.name, now, computation);
    for (const auto* work : now.work) {
      if (work->work != WorkClass::copy) continue;
      sums[work->name].add(*work);
      expose({work->start_ns, work->end_ns}, work->name, now, computation);
    }
  }

 private:
  void expose(Interval copy, StringId name, const DeviceChunk& now, CoverCursor& computation) {
    if (copy.end_ns > now.to_ns) open.push_back({name, copy.end_ns});
    copy.end_ns = std::min(copy.end_ns, now.to_ns);
    sums[name].exposed_ns += copy.end_ns - copy.start_ns - computation.within(copy.start_ns, copy.end_ns);
  }
};

class CopyAnalysis final : public TimeChunkAnalysis {
 public:
  explicit CopyAnalysis(std::size_t devices) : devices_(devices) {}

  void add(const TimeChunkView& now) override {
    for (std::size_t d = 0; d < devices_.size(); ++d) devices_[d].add(now.devices[d]);
  }

  Status write(Trace& trace, const Context& context) override {
    TempTable table(kCopyTable);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const auto& device = context.devices.all[d];
      for (const auto& [id, sum] : devices_[d].sums) {
        const auto& name = trace.string(id);
        const double rate =
            sum.total_ns > 0 ? static_cast<double>(sum.bytes) * 1e9 / static_cast<double>(sum.total_ns) : 0;
        table.row({device.name, static_cast<std::int64_t>(device.rank), name, directionOf(name),
                   memoryOf(name), sum.count, sum.total_ns, sum.bytes, rate, sum.exposed_ns, sum.largest,
                   static_cast<std::int64_t>(sum.sizes.size())});
      }
    }
    return table.write(trace);
  }

 private:
  std::vector<Copies> devices_;
};

}  // namespace

std::unique_ptr<TimeChunkAnalysis> analyzeCopies(std::size_t devices) {
  return std::make_unique<CopyAnalysis>(devices);
}

}  // namespace pitwall::analysis
