// Reads the JSON that rocprofv3 writes (--output-format json): for each process its tables of agents, names and
// kernels, then the records of calls, kernels and copies, which refer to them by number.
//
// The command line and the configuration of a process may hold secrets: they are not read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/import/build/launches.h"
#include "db/import/input/json_stream.h"
#include "db/import/input/text.h"
#include "db/import/kineto/meanings.h"
#include "db/import/readers.h"
#include "db/import/rocm/rocm_names.h"
#include "db/import/rocm/rocm_start.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostNames = std::size_t{1} << 20;  // of each table
constexpr std::size_t kMostMessageBytes = std::size_t{64} << 20;

using Extents = std::array<std::int64_t, 3>;

// Of any kind: what a record does not have stays 0.
struct RocmRecord {
  std::int64_t kind = -1, operation = -1, thread = 0, correlation = 0;
  std::int64_t start = 0, end = 0;
  bool timed = false;
  std::int64_t agent = 0, source = 0, target = 0, queue = 0, stream = -1;  // handles
  std::int64_t kernel = 0, group_bytes = 0, private_bytes = 0, bytes = 0;
  Extents workgroup = {}, grid = {};
};

class RocmJson {
 public:
  RocmJson(JsonStream& json, Builder& builder, Launches& launches)
      : json_(json), builder_(builder), launches_(launches) {}

  void process(std::size_t number);

 private:
  struct Agent {
    bool gpu = false;
    int index = 0;
  };
  struct Kernel {
    StringId name;
    bool collective = false;
    std::int64_t registers = 0;
  };

  std::int64_t number();
  std::string text();
  std::int64_t inside(std::string_view member);  // of an object with one number: {"handle": 5}
  Extents extents();

  void about();
  void agent();
  void names();
  void operationNames(std::vector<std::vector<std::string>>& into);
  void kernelSymbol();
  void records(std::string_view table);
  RocmRecord record();
  void dispatchInfo(RocmRecord& record);
  void add(std::string_view table, const RocmRecord& record);
  std::string operationOf(const RocmRecord& record) const;
  std::uint64_t launchKey(std::int64_t correlation) const {
    if (correlation <= 0) return 0;
    return static_cast<std::uint64_t>(number_ + 1) << 40 |
           (static_cast<std::uint64_t>(correlation) & 0xFFFFFFFFFF);
  }
  TrackRef stream(std::int64_t agent, const RocmRecord& record);
  void call(const RocmRecord& record, bool marker, Event event);
  void kernel(const RocmRecord& record, Event event);
  void copy(const RocmRecord& record, Event event);

  JsonStream& json_;
  Builder& builder_;
  Launches& launches_;
  std::size_t number_ = 0;
  ProcessRef process_;
  std::unordered_map<std::int64_t, Agent> agents_;  // by handle
  int gpus_ = 0;
  std::vector<std::vector<std::string>> operations_;        // by kind and number
  std::unordered_map<std::int64_t, std::string> messages_;  // of markers, by correlation
  std::size_t message_bytes_ = 0;
  std::unordered_map<std::int64_t, Kernel> kernels_;
};

std::int64_t RocmJson::number() {
  const JsonValue value = json_.value();
  return value.type == JsonType::number ? parseInteger(value.text).value_or(0) : 0;
}

std::string RocmJson::text() {
  const JsonValue value = json_.value();
  return value.type == JsonType::string ? unescape(value.text.substr(0, kLongestName)) : std::string();
}

std::int64_t RocmJson::inside(std::string_view member) {
  std::int64_t found = 0;
  json_.members([&](std::string_view name) {
    if (name == member) found = number();
  });
  return found;
}

Extents RocmJson::extents() {
  Extents out = {};
  json_.members([&](std::string_view name) {
    if (name.size() == 1 && name[0] >= 'x' && name[0] <= 'z')
      out[static_cast<std::size_t>(name[0] - 'x')] = number();
  });
  return out;
}

void RocmJson::process(std::size_t number) {
  number_ = number;
  process_ = builder_.tracks().process(fmt::format("process {}", number));
  builder_.tracks().ownerProcess(process_);
  json_.members([&](std::string_view name) {
    if (name == "metadata") about();
    if (name == "agents") json_.elements([&] { agent(); });
    if (name == "strings") names();
    if (name == "kernel_symbols") json_.elements([&] { kernelSymbol(); });
    if (name == "buffer_records") json_.members([&](std::string_view table) { records(table); });
    if (name == "callback_records")
      json_.members([&](std::string_view table) {
        std::int64_t rows = 0;
        json_.elements([&] { ++rows; });
        if (rows == 0) return;
        builder_.tally().record(fmt::format("records {}", table)) += rows;
        builder_.tally().notUnderstood("records that are not read", fmt::format("{} ({})", table, rows));
      });
  });
}

void RocmJson::about() {
  json_.members([&](std::string_view name) {
    if (name != "pid") return;
    const std::int64_t pid = number();
    builder_.tracks().setPid(process_, pid);
    builder_.tracks().nameProcess(process_, fmt::format("process {}", pid));
  });
}

void RocmJson::agent() {
  std::int64_t handle = 0, index = -1;
  bool gpu = false;
  std::string product, model, name;
  json_.members([&](std::string_view member) {
    if (member == "id") handle = inside("handle");
    if (member == "type") gpu = number() == 2;
    if (member == "logical_node_type_id") index = number();
    if (member == "product_name") product = text();
    if (member == "model_name") model = text();
    if (member == "name") name = text();
  });
  if (!json_.ok() || agents_.size() >= kMostNames) return;
  if (gpu && (index < 0 || index > 65535)) index = gpus_;
  if (gpu) {
    ++gpus_;
    builder_.tracks().nameDevice(builder_.tracks().device("gpu", static_cast<int>(index)),
                                 !product.empty() ? product
                                 : !name.empty()  ? name
                                                  : model,
                                 0);
  }
  agents_[handle] = {gpu, gpu ? static_cast<int>(index) : 0};
}

void RocmJson::operationNames(std::vector<std::vector<std::string>>& into) {
  std::size_t bytes = 0;
  json_.elements([&] {
    std::vector<std::string> operations;
    json_.members([&](std::string_view member) {
      if (member == "operations")
        json_.elements([&] {
          std::string operation = text();
          bytes += operation.size() + sizeof(std::string);
          if (bytes < kMostMessageBytes) operations.push_back(std::move(operation));
        });
    });
    if (into.size() < 4096) into.push_back(std::move(operations));
  });
}

void RocmJson::names() {
  json_.members([&](std::string_view name) {
    if (name == "buffer_records") operationNames(operations_);
    if (name == "marker_api")
      json_.elements([&] {
        std::int64_t key = 0;
        std::string message;
        json_.members([&](std::string_view member) {
          if (member == "key") key = number();
          if (member == "value") message = text();
        });
        message_bytes_ += message.size();
        if (messages_.size() < kMostNames && message_bytes_ < kMostMessageBytes) {
          messages_[key] = std::move(message);
        } else {
          builder_.tally().dropped("texts of markers beyond 1048576 or 64 MiB", message);
        }
      });
  });
}

void RocmJson::kernelSymbol() {
  std::int64_t id = 0, registers = 0;
  std::string best, plain;
  json_.members([&](std::string_view member) {
    if (member == "kernel_id") id = number();
    if (member == "arch_vgpr_count") registers = number();
    if (member == "formatted_kernel_name") best = text();
    if (member == "kernel_name") plain = text();
  });
  if (best.empty()) best = plain;
  if (best.empty() || !json_.ok() || kernels_.size() >= kMostNames) return;
  kernels_[id] = {builder_.names().name(best), isCollective(best), registers};
}

void RocmJson::dispatchInfo(RocmRecord& record) {
  json_.members([&](std::string_view name) {
    if (name == "agent_id") record.agent = inside("handle");
    if (name == "queue_id") record.queue = inside("handle");
    if (name == "kernel_id") record.kernel = number();
    if (name == "private_segment_size") record.private_bytes = number();
    if (name == "group_segment_size") record.group_bytes = number();
    if (name == "workgroup_size") record.workgroup = extents();
    if (name == "grid_size") record.grid = extents();
  });
}

RocmRecord RocmJson::record() {
  RocmRecord record;
  int times = 0;
  json_.members([&](std::string_view name) {
    if (name == "kind") record.kind = number();
    if (name == "operation") record.operation = number();
    if (name == "thread_id") record.thread = number();
    if (name == "correlation_id") record.correlation = inside("internal");
    if (name == "start_timestamp") record.start = number(), ++times;
    if (name == "end_timestamp") record.end = number(), ++times;
    if (name == "dispatch_info") dispatchInfo(record);
    if (name == "stream_id") record.stream = inside("handle");
    if (name == "src_agent_id") record.source = inside("handle");
    if (name == "dst_agent_id") record.target = inside("handle");
    if (name == "bytes") record.bytes = number();
  });
  // 0: not measured.
  record.timed = times == 2 && record.start > 0 && record.end > 0 && InputClock::inRange(record.start) &&
                 InputClock::inRange(record.end);
  return record;
}

void RocmJson::records(std::string_view table) {
  const std::string name(table);
  const bool known = name == "kernel_dispatch" || name == "memory_copy" || name.ends_with("_api");
  std::int64_t& count = builder_.tally().record(fmt::format("records {}", name));
  std::int64_t unread = 0;
  json_.elements([&] {
    ++count;
    if (known) {
      const RocmRecord read = record();
      if (json_.ok()) add(name, read);
    } else {
      ++unread;
    }
  });
  if (unread > 0)
    builder_.tally().notUnderstood("records that are not read", fmt::format("{} ({})", name, unread));
}

void RocmJson::add(std::string_view table, const RocmRecord& record) {
  if (!record.timed) return builder_.tally().dropped("records without times", [&] { return json_.place(); });
  Event event;
  event.start_ns = record.start;
  event.dur_ns = record.end - record.start;
  if (table == "kernel_dispatch") return kernel(record, event);
  if (table == "memory_copy") return copy(record, event);
  call(record, table == "marker_api", event);
}

std::string RocmJson::operationOf(const RocmRecord& record) const {
  const auto kind = static_cast<std::size_t>(record.kind);
  const auto operation = static_cast<std::size_t>(record.operation);
  if (kind < operations_.size() && operation < operations_[kind].size() &&
      !operations_[kind][operation].empty())
    return operations_[kind][operation];
  return fmt::format("operation {} of kind {}", record.operation, record.kind);
}

void RocmJson::call(const RocmRecord& record, bool marker, Event event) {
  const auto message = messages_.find(record.correlation);
  const std::string name = marker && message != messages_.end() ? message->second : operationOf(record);
  event.kind = marker ? EventKind::scope : EventKind::api;
  event.name = builder_.names().name(name);
  if (!marker && record.correlation > 0) event.correlation = launches_.host(launchKey(record.correlation));
  const TrackRef thread = builder_.tracks().thread(process_, std::to_string(record.thread));
  if (!builder_.add(thread, event) || !marker) return;
  if (const auto step = stepNumber(name)) {
    builder_.mark(*step, event.start_ns);
    builder_.mark(*step + 1, event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
  }
}

// Programs without HIP streams have queues only.
TrackRef RocmJson::stream(std::int64_t agent, const RocmRecord& record) {
  const auto found = agents_.find(agent);
  const DeviceRef gpu = builder_.tracks().device("gpu", found == agents_.end() ? 0 : found->second.index);
  return builder_.tracks().stream(
      process_, gpu,
      record.stream >= 0 ? std::to_string(record.stream) : fmt::format("queue {}", record.queue));
}

void RocmJson::kernel(const RocmRecord& record, Event event) {
  auto found = kernels_.find(record.kernel);
  if (found == kernels_.end()) {
    const std::string shown = fmt::format("kernel {}", record.kernel);
    builder_.tally().repaired("kernels without a name: named by their number", shown);
    if (kernels_.size() >= kMostNames) kernels_.clear();
    found = kernels_.try_emplace(record.kernel, Kernel{builder_.names().name(shown), false, 0}).first;
  }
  event.name = found->second.name;
  event.kind = found->second.collective ? EventKind::communication : EventKind::kernel;
  event.kernel = builder_.names().kernel(rocmKernel(record.workgroup, record.grid, found->second.registers,
                                                    record.group_bytes, record.private_bytes));
  event.correlation = launches_.device(launchKey(record.correlation));
  builder_.add(stream(record.agent, record), event);
}

void RocmJson::copy(const RocmRecord& record, Event event) {
  event.kind = EventKind::copy;
  event.value = std::max<std::int64_t>(0, record.bytes);
  event.name = builder_.names().name(rocmCopyName(operationOf(record)));
  event.correlation = launches_.device(launchKey(record.correlation));
  const auto target = agents_.find(record.target);
  const bool to_gpu = target != agents_.end() && target->second.gpu;
  builder_.add(stream(to_gpu ? record.target : record.source, record), event);
}

}  // namespace

bool isRocmJson(std::string_view start) {
  return start.starts_with('{') && start.substr(0, 256).find("\"rocprofiler-sdk-tool\"") != start.npos;
}

Status readRocmJson(Window& window, const ImportOptions& options, Builder& builder) {
  ImportedInput& input = builder.tally().input();
  input.format = "JSON of rocprofv3";
  input.clock = "nanoseconds of the system's clock";
  builder.meta(meta::kProducer, "rocprofv3");
  JsonStream json(window, options.limits.record_bytes);
  Launches launches(builder);
  std::size_t number = 0;
  json.members([&](std::string_view name) {
    if (name != "rocprofiler-sdk-tool") return;
    json.elements([&] { RocmJson(json, builder, launches).process(number++); });
  });
  launches.end();
  return json.finish(builder.tally());
}

}  // namespace pitwall::import
