// Facts of analysis_summary that come from devices, launches, ranks and meta. Shares are of the devices'
// time.
#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <set>
#include <sstream>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/job_ranks.h"
#include "db/meta.h"

namespace pitwall::analysis {
namespace {

SqlValue firstNumber(Trace& trace, const std::string& sql) {
  auto rows = trace.query(sql);
  if (!rows.has_value() || rows.value().rows.empty()) return {};
  return rows.value().rows[0][0];
}

SqlValue typed(const std::optional<std::string>& text) {
  if (!text) return {};
  double real = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, real);
  if (error != std::errc() || stop != end) return *text;
  const auto whole = static_cast<std::int64_t>(std::clamp(real, -9e18, 9e18));
  return static_cast<double>(whole) == real ? SqlValue(whole) : SqlValue(real);
}

// The value of the first of these options on a command line: "--kv-store device", "--kvstore=nccl".
std::string optionOf(const std::string& command_line, std::initializer_list<std::string_view> options) {
  std::istringstream words(command_line);
  for (std::string word; words >> word;) {
    for (const std::string_view option : options) {
      if (word == option) return words >> word ? word : "";
      if (word.size() > option.size() && word.rfind(option, 0) == 0 && word[option.size()] == '=')
        return word.substr(option.size() + 1);
    }
  }
  return {};
}

// The type of MXNet's kvstore: as the trace gives it, as the program's command line asks for it, or as the
// names of its operations show it.
SqlValue kvstoreOf(const Trace& trace, const Activity& activity) {
  if (auto given = trace.meta(meta::kKvStore)) return *given;
  for (const auto& process : trace.processes()) {
    if (auto asked = optionOf(process.command_line, {"--kv-store", "--kvstore", "--kv_store"});
        !asked.empty())
      return asked;
  }
  SqlValue found;
  for (const auto& total : activity.names) {
    const auto& name = trace.string(total.name);
    if (contains(name, "KVStoreDist")) return std::string("dist");
    if (contains(name, "KVStoreNCCL")) return std::string("nccl");
    if (name == "KVStoreReduce") found = std::string("local");  // dist stores reduce so, too
  }
  return found;
}

// Counts of what the devices did.
void addDeviceCounts(const Devices& devices, std::vector<Fact>& facts) {
  std::int64_t carried = 0, work = 0, collectives = 0, copies = 0, kernels = 0;
  std::set<int> ranks;
  for (const auto& d : devices.all) {
    carried += d.carried_in;
    work += d.work;
    ranks.insert(d.rank);
    collectives += d.collectives;
    copies += d.copies;
    kernels += d.kernels;
  }
  facts.push_back({"devices", static_cast<std::int64_t>(devices.all.size())});
  facts.push_back({"ranks", std::max<std::int64_t>(static_cast<std::int64_t>(ranks.size()), 1)});
  facts.push_back({"kernels", kernels});
  facts.push_back({"collectives", collectives});
  facts.push_back({"copies", copies});
  facts.push_back({"carried_in_share", work + carried > 0 ? SqlValue(static_cast<double>(carried) /
                                                                     static_cast<double>(work + carried))
                                                          : SqlValue()});
}

// Where the devices' time went; null without devices.
void addDeviceShares(const Devices& devices, const Breakdown& breakdown, std::vector<Fact>& facts) {
  const bool none = devices.all.empty();
  TimeNs communication = 0, exposed = 0, busy = 0;
  for (const auto& d : devices.all) {
    communication += d.communication_ns;
    exposed += d.parts[static_cast<std::size_t>(DevicePart::communication)];
    busy += d.busy_ns;
  }
  const auto wall = static_cast<double>(breakdown.wall_ns);
  const auto of_wall = [&](TimeNs part) {
    return none || wall <= 0 ? SqlValue() : SqlValue(static_cast<double>(part) / wall);
  };
  facts.push_back({"gpu_busy_share", of_wall(busy)});
  facts.push_back(
      {"gpu_idle_share", none ? SqlValue() : SqlValue(1 - static_cast<double>(busy) / std::max(wall, 1.0))});
  for (const auto& [name, part] :
       {std::pair{"computation_share", DevicePart::computation},
        std::pair{"copies_share", DevicePart::copies}, std::pair{"host_wait_share", DevicePart::hostWait},
        std::pair{"kernel_wait_share", DevicePart::kernelWait},
        std::pair{"synchronisation_share", DevicePart::synchronisation}})
    facts.push_back({name, none ? SqlValue() : SqlValue(breakdown.share(toString(part)))});
  facts.push_back({"communication_total_share", of_wall(communication)});
  facts.push_back({"communication_overlap",
                   communication > 0
                       ? SqlValue(1 - static_cast<double>(exposed) / static_cast<double>(communication))
                       : SqlValue()});
}

// From the tables of launches and threads.
void addLaunchFacts(Trace& trace, std::vector<Fact>& facts) {
  facts.push_back(
      {"short_kernel_share", firstNumber(trace,
                                         "SELECT sum(short_share_of_work * kernel_ns) / sum(kernel_ns) FROM "
                                         "(SELECT l.short_share_of_work, d.computation_ns AS kernel_ns FROM "
                                         "analysis_launch l JOIN analysis_device d USING (device, rank))")});
  facts.push_back({"kernel_p50_ns", firstNumber(trace, "SELECT avg(kernel_p50_ns) FROM analysis_launch")});
  facts.push_back(
      {"launch_delay_p50_ns", firstNumber(trace, "SELECT avg(delay_p50_ns) FROM analysis_launch")});
  facts.push_back({"launches_matched", firstNumber(trace, "SELECT sum(matched) FROM analysis_launch")});
  facts.push_back({"runnable_cpus", firstNumber(trace, "SELECT runnable_mean FROM analysis_threads")});
  facts.push_back({"cpu_samples", firstNumber(trace, "SELECT sampled FROM analysis_threads")});
}

void addMachineFacts(const Trace& trace, std::vector<Fact>& facts) {
  for (const auto& [column, key] :
       {std::pair{"sockets", meta::kSockets}, std::pair{"numa_nodes", meta::kNumaNodes},
        std::pair{"cgroup_cpus", meta::kCgroupCpus}, std::pair{"onednn_version", meta::kOneDnnVersion},
        std::pair{"memory_limit_bytes", meta::kCgroupMemory}, std::pair{"cpu_model", meta::kCpuModel}}) {
    facts.push_back({column, typed(trace.meta(key))});
  }
  facts.push_back({"onednn_isa", typed(trace.meta("onednn.isa"))});
}

}  // namespace

std::string frameworkOf(const Trace& trace) {
  const auto producer = trace.meta(meta::kProducer).value_or("");
  if (contains(producer, "PyTorch") || contains(producer, "Kineto")) return "pytorch";
  if (contains(producer, "MXNet")) return "mxnet";
  // `pitwall record` samples any program; a program on Pitwall's runtime names its engine.
  const bool is_sampled = trace.meta(meta::kSampleHz).has_value();
  if (trace.meta(meta::kEngine).has_value() || (producer.rfind("pitwall", 0) == 0 && !is_sampled))
    return "pitwall";
  for (const auto& facts : trace.operatorFacts()) {
    if (facts.name.rfind("aten::", 0) == 0) return "pytorch";
  }
  if (contains(producer, "oneDNN")) return "onednn";
  return "unknown";
}

std::string timelineKindOf(const Trace& trace) {
  if (trace.meta(meta::kSerialisedKernels).has_value()) return "serialised kernels";
  return trace.meta("import.timeline").value_or("");
}

void addDeviceFacts(Trace& trace, const Context& context, std::vector<Fact>& facts) {
  facts.push_back({"framework", frameworkOf(trace)});
  facts.push_back({"timeline_kind", timelineKindOf(trace)});
  addDeviceCounts(context.devices, facts);
  addDeviceShares(context.devices, context.breakdown, facts);
  addLaunchFacts(trace, facts);
  addMachineFacts(trace, facts);
  facts.push_back({"kvstore", kvstoreOf(trace, context.activity)});
  const std::int64_t job = ranksOfJob(trace);
  facts.push_back({"world_size", job > 1 ? SqlValue(job) : typed(trace.meta("distributed.world_size"))});
  facts.push_back({"distributed_backend", typed(trace.meta("distributed.backend"))});
}

}  // namespace pitwall::analysis
