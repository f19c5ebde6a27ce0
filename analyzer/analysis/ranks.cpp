// Ranks of a distributed job: who enters collectives last, and what bandwidth collectives reach.
//
// Collectives of two ranks belong together when they are the same by name and number. A collective ends on
// all ranks at about the same time, so clocks of several hosts are aligned on the ends: starts are compared
// after the median difference of the ends has been taken off.
//
// Algorithm bandwidth is bytes over time; bus bandwidth multiplies it by 2(n-1)/n for an all-reduce and
// (n-1)/n for a gather, scatter or exchange among n ranks, as NCCL's tests do, so that it compares to the
// link's peak.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/statistics.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
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

struct Group {
  const Kind* kind = nullptr;
  std::string name;
  std::int64_t count = 0;
  TimeNs total_ns = 0;
  std::vector<double> bytes;
  double timed_bytes = 0;
  TimeNs timed_ns = 0;
};

using Collectives = std::vector<const DeviceWork*>;

Collectives collectivesOf(const DeviceTimes& device) {
  Collectives result;
  for (const auto* work : device.work) {
    if (work->work == WorkClass::communication) result.push_back(work);
  }
  return result;
}

std::int64_t worldSize(const Trace& trace, const Context& context) {
  if (const auto size = trace.meta("distributed.world_size")) {
    const auto value = std::strtoll(size->c_str(), nullptr, 10);
    if (value > 0) return value;
  }
  return context.devices.all.size() > 1 ? static_cast<std::int64_t>(context.devices.all.size()) : 0;
}

Status writeCollectives(Trace& trace, const Context& context) {
  TempTable table(
      "analysis_collective",
      "device TEXT, rank INTEGER, collective TEXT, name TEXT, group_size INTEGER, count INTEGER, total_ns "
      "INTEGER, bytes INTEGER, median_bytes INTEGER, algorithm_bytes_per_second REAL, bus_bytes_per_second "
      "REAL");
  const auto world = worldSize(trace, context);
  for (const auto& device : context.devices.all) {
    std::map<std::pair<StringId, std::int64_t>, Group> groups;
    for (const auto* work : collectivesOf(device)) {
      const auto size = argument(trace.string(work->args), "group_size").value_or(world);
      auto& group = groups[{work->name, size}];
      if (group.count++ == 0) group.name = trace.string(work->name), group.kind = kindOf(group.name);
      const TimeNs length = work->end_ns - work->start_ns;
      group.total_ns += length;
      if (work->value <= 0) continue;
      group.bytes.push_back(static_cast<double>(work->value));
      group.timed_bytes += static_cast<double>(work->value);
      group.timed_ns += length;
    }
    for (auto& [key, group] : groups) {
      const auto size = static_cast<double>(key.second);
      const double rate =
          group.timed_ns > 0 ? group.timed_bytes * 1e9 / static_cast<double>(group.timed_ns) : 0;
      const double factor =
          group.kind != nullptr && group.kind->factor > 0 ? group.kind->factor * (size - 1) / size : 1;
      table.row({device.name, static_cast<std::int64_t>(device.rank),
                 group.kind != nullptr ? group.kind->name : "other", group.name,
                 key.second > 0 ? SqlValue(key.second) : SqlValue(), group.count, group.total_ns,
                 static_cast<std::int64_t>(group.timed_bytes),
                 static_cast<std::int64_t>(quantile(group.bytes, 0.5)),
                 rate > 0 ? SqlValue(rate) : SqlValue(),
                 rate > 0 && key.second > 1 ? SqlValue(rate * factor) : SqlValue()});
    }
  }
  return table.write(trace);
}

struct Lateness {
  double sum_ns = 0, wait_ns = 0;
  std::int64_t last = 0, compared = 0;
};

// By device: compares the k-th collective of all, as long as their names agree.
std::vector<Lateness> compare(const Devices& devices) {
  std::vector<Lateness> result(devices.all.size());
  std::vector<Collectives> lists;
  for (const auto& device : devices.all) lists.push_back(collectivesOf(device));
  std::size_t shortest = SIZE_MAX;
  for (const auto& list : lists) shortest = std::min(shortest, list.size());
  if (lists.size() < 2 || shortest == 0) return result;
  std::vector<double> offsets(lists.size(), 0);  // of the clock, against the first
  for (std::size_t d = 1; d < lists.size(); ++d) {
    std::vector<double> differences;
    for (std::size_t k = 0; k < shortest; ++k)
      differences.push_back(static_cast<double>(lists[d][k]->end_ns - lists[0][k]->end_ns));
    offsets[d] = quantile(differences, 0.5);
  }
  for (std::size_t k = 0; k < shortest; ++k) {
    bool same = true;
    for (const auto& list : lists) same = same && list[k]->name == lists[0][k]->name;
    if (!same) continue;
    std::vector<double> starts;
    for (std::size_t d = 0; d < lists.size(); ++d)
      starts.push_back(static_cast<double>(lists[d][k]->start_ns) - offsets[d]);
    const auto [first, last] = std::minmax_element(starts.begin(), starts.end());
    for (std::size_t d = 0; d < lists.size(); ++d) {
      ++result[d].compared;
      result[d].sum_ns += starts[d] - *first;
      result[d].wait_ns += *last - starts[d];
    }
    if (*last > *first) ++result[static_cast<std::size_t>(last - starts.begin())].last;
  }
  return result;
}

}  // namespace

Status writeRanks(Trace& trace, const Context& context) {
  if (auto status = writeCollectives(trace, context); !status.has_value()) return status;
  TempTable table(
      "analysis_rank",
      "rank INTEGER, device TEXT, span_ns INTEGER, computation_ns INTEGER, communication_ns INTEGER, "
      "exposed_ns "
      "INTEGER, lateness_mean_ns REAL, last_share REAL, collectives_compared INTEGER, wait_ns REAL");
  const auto lateness = compare(context.devices);
  for (std::size_t i = 0; i < context.devices.all.size(); ++i) {
    const auto& d = context.devices.all[i];
    const auto& l = lateness[i];
    const auto n = static_cast<double>(l.compared);
    table.row({static_cast<std::int64_t>(d.rank), d.name, d.end_ns - d.begin_ns,
               d.parts[static_cast<std::size_t>(DevicePart::computation)], d.communication_ns,
               d.parts[static_cast<std::size_t>(DevicePart::communication)],
               l.compared > 0 ? SqlValue(l.sum_ns / n) : SqlValue(),
               l.compared > 0 ? SqlValue(static_cast<double>(l.last) / n) : SqlValue(), l.compared,
               l.compared > 0 ? SqlValue(l.wait_ns) : SqlValue()});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
