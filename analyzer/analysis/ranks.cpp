// Ranks of a distributed job: who enters collectives last, and what bandwidth collectives reach.
//
// Collectives of two ranks belong together when they are the same by name and number. A collective ends on
// all ranks at about the same time, so clocks of several hosts are aligned on the ends: starts are compared
// after the median difference of the ends is subtracted.
//
// Algorithm bandwidth is bytes over time; bus bandwidth multiplies it by 2(n-1)/n for an all-reduce and
// (n-1)/n for a gather, scatter or exchange among n ranks, as NCCL's tests do, so that it can be compared
// with the link's peak.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/host_ranks.h"
#include "analyzer/analysis/samples.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/time_chunk_analysis.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kCollectiveColumns[] = {
    {"device", kText, "", "'gpu 0'; 'cpu' where threads carry it out and the trace has no device work"},
    {"rank", kInteger, "number", "rank of the process that the device works for, from 0"},
    {"collective", kText, "",
     "'all_reduce', 'reduce_scatter', 'all_gather', 'all_to_all', 'broadcast', 'send_recv', 'reduce' or "
     "'other'"},
    {"name", kText, "", "as the tracer reports it"},
    {"group_size", kInteger, "count", "ranks that take part; null = unknown"},
    {"count", kInteger, "count", "collectives"},
    {"total_ns", kInteger, "ns", "sum of the durations"},
    {"bytes", kInteger, "bytes", "sum of what the rank contributes; 0 = unknown"},
    {"median_bytes", kInteger, "bytes", "median of what the rank contributes to one; 0 = unknown"},
    {"algorithm_bytes_per_second", kReal, "bytes/s",
     "bytes over the time of those whose size is known; of an all-gather what all ranks contribute; null = "
     "unknown"},
    {"bus_bytes_per_second", kReal, "bytes/s",
     "comparable with the link's peak: algorithm_bytes_per_second times 2(n-1)/n for an all-reduce and "
     "(n-1)/n for a gather, scatter or exchange among n ranks, and the same for others; null = unknown"},
};
constexpr Column kRankColumns[] = {
    {"rank", kInteger, "number", "rank of the process that the device works for, from 0"},
    {"device", kText, "", "as in analysis_collective"},
    {"span_ns", kInteger, "ns", "length of the device's window"},
    {"computation_ns", kInteger, "ns", "a kernel or memset runs"},
    {"communication_ns", kInteger, "ns", "communication, with what computation hides"},
    {"exposed_ns", kInteger, "ns", "communication that does not overlap with computation"},
    {"lateness_mean_ns", kReal, "ns",
     "its start of a collective after the first rank's: mean; null = none was compared"},
    {"last_share", kReal, "0..1",
     "of the compared collectives: those that it entered last; null = none was compared"},
    {"collectives_compared", kInteger, "count", "collectives that are the same on all ranks"},
    {"wait_ns", kReal, "ns",
     "time in collectives until the last rank arrived: total, of 'cpu' what computation does not hide; null "
     "= none was compared"},
};

constexpr TableDeclaration kCollectiveTable{
    "analysis_collective",
    "Collectives of one name and group size of a device and rank, in the device's window.",
    kCollectiveColumns};
constexpr TableDeclaration kRankTable{
    "analysis_rank",
    "A rank and device: its communication, in the device's window, and whether it enters collectives late. "
    "Starts on several hosts are compared after their clocks are aligned on the collectives' ends.",
    kRankColumns};

namespace {

struct Kind {
  const char* pattern;  // in the lower-case name without underscores
  const char* name;
  double factor;  // of (n-1)/n
};

constexpr Kind kKinds[] = {{"allreduce", "all_reduce", 2}, {"reducescatter", "reduce_scatter", 1},
                           {"allgather", "all_gather", 1}, {"alltoall", "all_to_all", 1},
                           {"broadcast", "broadcast", 0},  {"sendrecv", "send_recv", 0},
                           {"reduce", "reduce", 0}};

const Kind* kindOf(std::string_view name) {
  std::string lower;
  for (const char c : name) {
    if (c != '_') lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const auto& kind : kKinds) {
    if (lower.find(kind.pattern) != std::string::npos) return &kind;
  }
  return nullptr;
}

}  // namespace

const char* collectiveOf(std::string_view name) {
  const Kind* kind = kindOf(name);
  return kind != nullptr ? kind->name : "other";
}

namespace {

// The integer after "key": in a flat JSON object.
std::optional<std::int64_t> argument(std::string_view json, std::string_view key) {
  const auto at = json.find("\"" + std::string(key) + "\"");
  if (at == std::string_view::npos) return std::nullopt;
  auto begin = json.find(':', at);
  if (begin == std::string_view::npos) return std::nullopt;
  ++begin;
  while (begin < json.size() && (json[begin] == ' ' || json[begin] == '"')) ++begin;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(json.data() + begin, json.data() + json.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

struct RankGroup {
  const Kind* kind = nullptr;
  std::string name;
  std::int64_t count = 0;
  TimeNs total_ns = 0;
  Samples bytes;  // of those that give it
  TimeNs timed_ns = 0;
};

struct Collective {
  TimeNs start_ns = 0, end_ns = 0;
  StringId name;
};

// By device.
struct Collectives {
  std::map<std::pair<StringId, std::int64_t>, RankGroup> groups;  // by name and number of ranks
  std::vector<Collective> all;  // in order of time; empty for one device alone
};

struct Lateness {
  double sum_ns = 0, wait_ns = 0;
  std::int64_t last = 0, compared = 0;
};

std::int64_t worldSize(const Trace& trace, std::size_t devices) {
  if (const auto size = trace.meta("distributed.world_size")) {
    const auto value = std::strtoll(size->c_str(), nullptr, 10);
    if (value > 0) return value;
  }
  return devices > 1 ? static_cast<std::int64_t>(devices) : 0;
}

// Compares the k-th collective of all devices, as long as their names agree and there is a moment at which
// all take part: else they are not one collective, but of other groups, or of recordings that lost some.
std::vector<Lateness> compare(std::span<const Collectives> devices) {
  std::vector<Lateness> result(devices.size());
  std::size_t shortest = SIZE_MAX;
  for (const auto& device : devices) shortest = std::min(shortest, device.all.size());
  if (devices.size() < 2 || shortest == 0) return result;
  std::vector<double> offsets(devices.size(), 0);  // of the clock, against the first
  for (std::size_t d = 1; d < devices.size(); ++d) {
    Samples differences;
    for (std::size_t k = 0; k < shortest; ++k)
      differences.add(devices[d].all[k].end_ns - devices[0].all[k].end_ns);
    offsets[d] = differences.quantile(0.5);
  }
  std::vector<double> starts(devices.size());
  for (std::size_t k = 0; k < shortest; ++k) {
    bool same = true;
    for (const auto& device : devices) same = same && device.all[k].name == devices[0].all[k].name;
    if (!same) continue;
    for (std::size_t d = 0; d < devices.size(); ++d)
      starts[d] = static_cast<double>(devices[d].all[k].start_ns) - offsets[d];
    const auto [first, last] = std::minmax_element(starts.begin(), starts.end());
    double end = INFINITY;
    for (std::size_t d = 0; d < devices.size(); ++d)
      end = std::min(end, static_cast<double>(devices[d].all[k].end_ns) - offsets[d]);
    if (end <= *last) continue;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      ++result[d].compared;
      result[d].sum_ns += starts[d] - *first;
      result[d].wait_ns += *last - starts[d];
    }
    if (*last > *first) ++result[static_cast<std::size_t>(last - starts.begin())].last;
  }
  return result;
}

class Ranks final : public TimeChunkAnalysis {
 public:
  Ranks(const Trace& trace, std::size_t devices)
      : trace_(trace), world_(worldSize(trace, devices)), devices_(devices) {}

  void add(const TimeChunkView& now) override {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (const auto* work : now.devices[d].work) {
        if (work->work == WorkClass::communication) add(*work, devices_[d]);
      }
    }
  }

  Status write(Trace& trace, const Context& context) override {
    TempTable collectives(kCollectiveTable), ranks(kRankTable);
    addCollectives(context.devices, collectives);
    addRanks(context.devices, ranks);
    PITWALL_TRY(addHostRanks(trace, context, collectives, ranks));
    PITWALL_TRY(collectives.write(trace));
    return ranks.write(trace);
  }

 private:
  void add(const DeviceWork& work, Collectives& device) const {
    const auto size = argument(trace_.string(work.args), "group_size").value_or(world_);
    auto& group = device.groups[{work.name, size}];
    if (group.count++ == 0) group.name = trace_.string(work.name), group.kind = kindOf(group.name);
    const TimeNs length = work.end_ns - work.start_ns;
    group.total_ns += length;
    if (work.value > 0) group.bytes.add(work.value), group.timed_ns += length;
    if (devices_.size() > 1) device.all.push_back({work.start_ns, work.end_ns, work.name});
  }

  void addCollectives(const Devices& devices, TempTable& table) const {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (const auto& [key, group] : devices_[d].groups) {
        const auto size = static_cast<double>(key.second);
        const auto bytes = static_cast<double>(group.bytes.sum());
        // By NCCL's convention what all ranks together have in the end; the record gives what one rank
        // contributes.
        const bool gathers = group.kind != nullptr && std::string_view(group.kind->name) == "all_gather";
        const double whole = gathers ? bytes * size : bytes;  // 0 where the size is unknown
        const double rate = group.timed_ns > 0 ? whole * 1e9 / static_cast<double>(group.timed_ns) : 0;
        const double factor =
            group.kind != nullptr && group.kind->factor > 0 ? group.kind->factor * (size - 1) / size : 1;
        table.row({devices.all[d].name, static_cast<std::int64_t>(devices.all[d].rank),
                   group.kind != nullptr ? group.kind->name : "other", group.name,
                   key.second > 0 ? SqlValue(key.second) : SqlValue(), group.count, group.total_ns,
                   group.bytes.sum(), static_cast<std::int64_t>(group.bytes.quantile(0.5)),
                   rate > 0 ? SqlValue(rate) : SqlValue(),
                   rate > 0 && key.second > 1 ? SqlValue(rate * factor) : SqlValue()});
      }
    }
  }

  void addRanks(const Devices& devices, TempTable& table) const {
    const auto lateness = compare(devices_);
    for (std::size_t i = 0; i < devices.all.size(); ++i) {
      const auto& d = devices.all[i];
      const auto& l = lateness[i];
      const auto n = static_cast<double>(l.compared);
      table.row({static_cast<std::int64_t>(d.rank), d.name, d.end_ns - d.begin_ns,
                 d.parts[static_cast<std::size_t>(DevicePart::computation)], d.communication_ns,
                 d.parts[static_cast<std::size_t>(DevicePart::communication)],
                 l.compared > 0 ? SqlValue(l.sum_ns / n) : SqlValue(),
                 l.compared > 0 ? SqlValue(static_cast<double>(l.last) / n) : SqlValue(), l.compared,
                 l.compared > 0 ? SqlValue(l.wait_ns) : SqlValue()});
    }
  }

  const Trace& trace_;
  const std::int64_t world_;
  std::vector<Collectives> devices_;
};

}  // namespace

std::unique_ptr<TimeChunkAnalysis> analyzeRanks(const Trace& trace, std::size_t devices) {
  return std::make_unique<Ranks>(trace, devices);
}

}  // namespace pitwall::analysis
