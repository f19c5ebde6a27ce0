// Reads the database that rocprofv3 writes (rocpd). Each process's tables carry its own suffix; the ids in
// them refer to rows of the tables with that suffix, not to the system's processes and threads.
//
// The command line and the environment of a process (rocpd_info_process) may hold secrets: only the program's
// name is read.
#include "db/import/rocm/rocpd.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/import/build/launches.h"
#include "db/import/database_rows.h"
#include "db/import/kineto/meanings.h"
#include "db/import/readers.h"
#include "db/import/rocm/rocm_names.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

using store::ForeignDatabase;
using store::ForeignRow;

constexpr std::string_view kDispatch = "rocpd_kernel_dispatch";
constexpr std::size_t kMostEvents = std::size_t{1} << 23;
// Tables that are read; others with rows are named as not read.
constexpr std::array<std::string_view, 18> kKnown = {
    "metadata",           "string",     "info_node",  "info_process",
    "info_thread",        "info_agent", "info_queue", "info_stream",
    "info_kernel_symbol", "event",      "region",     "kernel_dispatch",
    "memory_copy",        "track",      "arg",        "info_pmc",
    "info_code_object",   "info_region"};

// The tables of one suffix.
class Rocpd {
 public:
  Rocpd(ForeignDatabase& database, const ImportOptions& options, Builder& builder, Launches& launches,
        std::string suffix, std::size_t number)
      : database_(database),
        builder_(builder),
        rows_(database, options, builder),
        launches_(launches),
        suffix_(std::move(suffix)),
        number_(number) {}

  Status read();

 private:
  struct Agent {
    bool gpu = false;
    int index = 0;
    std::string name;
  };
  struct Kernel {
    StringId name;
    bool collective = false;
    std::int64_t registers = 0;
    bool known = false;
  };
  struct Call {
    std::int64_t number = 0;    // the same for a call and the work that it launches
    std::int64_t category = 0;  // a string
  };

  std::string table(std::string_view name) const { return "rocpd_" + std::string(name) + suffix_; }
  template <class Visit>
  Status visit(std::string_view name, std::span<const std::string_view> columns, const Visit& visitor) {
    return rows_.visit(table(name), fmt::format("rocpd_{}", name), columns, visitor);
  }
  Status names();
  Status processes();
  Status agents();
  Status kernelSymbols();
  Status events();
  Status regions();
  Status dispatches();
  Status copies();
  Status unread();

  Call callOf(const ForeignRow& row, std::size_t column) const;
  std::uint64_t launchKey(std::int64_t number) const;
  TrackRef stream(std::int64_t process, std::int64_t agent, const ForeignRow& row, std::size_t stream_column);
  ProcessRef process(std::int64_t row_id);

  ForeignDatabase& database_;
  Builder& builder_;
  DatabaseRows rows_;
  Launches& launches_;
  const std::string suffix_;
  const std::size_t number_;
  DatabaseRows::Strings strings_;
  std::map<std::int64_t, ProcessRef> processes_;
  std::map<std::int64_t, TrackRef> threads_;
  std::map<std::int64_t, Agent> agents_;
  DatabaseRows::Strings streams_;
  std::unordered_map<std::int64_t, Kernel> kernels_;
  std::vector<std::pair<std::int64_t, Call>> events_;  // by id, ascending
};

Status Rocpd::names() {
  PITWALL_TRY(rows_.strings(table("string"), "id", "string", strings_));
  PITWALL_TRY(rows_.strings(table("info_stream"), "id", "name", streams_));
  constexpr std::array<std::string_view, 2> kColumns = {"tag", "value"};
  return visit("metadata", kColumns, [&](const ForeignRow& row) {
    if (row.text(0) == "schema_version")
      builder_.tally().input().version = fmt::format("schema {}", row.text(1).substr(0, 20));
  });
}

ProcessRef Rocpd::process(std::int64_t row_id) {
  if (const auto found = processes_.find(row_id); found != processes_.end()) return found->second;
  return processes_[row_id] = builder_.tracks().process(fmt::format("process {} {}", suffix_, row_id));
}

Status Rocpd::processes() {
  constexpr std::array<std::string_view, 3> kColumns = {"id", "pid", "command"};
  PITWALL_TRY(visit("info_process", kColumns, [&](const ForeignRow& row) {
    const ProcessRef made = process(row.integer(0));
    builder_.tracks().setPid(made, row.integer(1));
    builder_.tracks().ownerProcess(made);
    std::string_view program = row.text(2);
    program = program.substr(0, program.find(' '));
    program.remove_prefix(
        program.find_last_of('/') == std::string_view::npos ? 0 : program.find_last_of('/') + 1);
    builder_.tracks().nameProcess(made,
                                  program.empty() ? fmt::format("process {}", row.integer(1)) : program);
  }));
  constexpr std::array<std::string_view, 4> kThreads = {"id", "pid", "tid", "name"};
  return visit("info_thread", kThreads, [&](const ForeignRow& row) {
    const TrackRef track = builder_.tracks().thread(process(row.integer(1)), std::to_string(row.integer(2)));
    if (!row.text(3).empty()) builder_.tracks().nameThread(track, row.text(3));
    threads_[row.integer(0)] = track;
  });
}

Status Rocpd::agents() {
  constexpr std::array<std::string_view, 6> kColumns = {"id",           "type", "type_index",
                                                        "product_name", "name", "model_name"};
  return visit("info_agent", kColumns, [&](const ForeignRow& row) {
    Agent agent;
    agent.gpu = row.text(1) == "GPU";
    agent.index = row.integer(2) >= 0 && row.integer(2) < 65536 ? static_cast<int>(row.integer(2)) : 0;
    for (const std::size_t column : {3, 4, 5}) {
      if (agent.name.empty()) agent.name = std::string(row.text(column));
    }
    if (agent.gpu) builder_.tracks().nameDevice(builder_.tracks().device("gpu", agent.index), agent.name, 0);
    agents_[row.integer(0)] = agent;
  });
}

Status Rocpd::kernelSymbols() {
  constexpr std::array<std::string_view, 4> kColumns = {"id", "display_name", "kernel_name",
                                                        "arch_vgpr_count"};
  return visit("info_kernel_symbol", kColumns, [&](const ForeignRow& row) {
    const std::string_view name = row.text(1).empty() ? row.text(2) : row.text(1);
    kernels_[row.integer(0)] = {builder_.names().name(name), isCollective(name), row.integer(3), true};
  });
}

// What joins work to its call stands in a separate table, by the event's id.
Status Rocpd::events() {
  constexpr std::array<std::string_view, 4> kColumns = {"id", "stack_id", "correlation_id", "category_id"};
  Status status = visit("event", kColumns, [&](const ForeignRow& row) {
    const std::int64_t id = row.integer(0);
    if (events_.size() < kMostEvents) {
      const Call call{row.integer(1) > 0 ? row.integer(1) : row.integer(2), row.integer(3)};
      events_.emplace_back(id, call);
    } else {
      builder_.tally().dropped(
          fmt::format("rows of events beyond the first {}: calls and work are not joined by them",
                      kMostEvents),
          [&] { return fmt::format("event {}", id); });
    }
  });
  const auto lower = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(events_.begin(), events_.end(), lower))
    std::stable_sort(events_.begin(), events_.end(), lower);
  return status;
}

Rocpd::Call Rocpd::callOf(const ForeignRow& row, std::size_t column) const {
  if (row.isNull(column) || events_.empty()) return {};
  const std::int64_t id = row.integer(column);
  // Ids nearly always follow each other.
  const auto guess = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(events_.front().first);
  if (guess < events_.size() && events_[guess].first == id) return events_[guess].second;
  const auto found =
      std::lower_bound(events_.begin(), events_.end(), id,
                       [](const auto& event, std::int64_t wanted) { return event.first < wanted; });
  return found != events_.end() && found->first == id ? found->second : Call{};
}

std::uint64_t Rocpd::launchKey(std::int64_t number) const {
  if (number <= 0) return 0;
  return static_cast<std::uint64_t>(number_ + 1) << 40 | (static_cast<std::uint64_t>(number) & 0xFFFFFFFFFF);
}

Status Rocpd::regions() {
  constexpr std::array<std::string_view, 6> kColumns = {"start", "end", "pid", "tid", "name_id", "event_id"};
  return visit("region", kColumns, [&](const ForeignRow& row) {
    const auto times = rows_.times(row);
    if (!times) return;
    Event event = *times;
    const auto name = strings_.find(row.integer(4));
    const std::string shown =
        name == strings_.end() ? fmt::format("region {}", row.integer(4)) : name->second;
    event.name = builder_.names().name(shown);
    const Call call = callOf(row, 5);
    const auto category = strings_.find(call.category);
    // Ranges of the program (roctx) are of the marker's categories; all others are calls of libraries.
    const bool marker = category != strings_.end() && category->second.starts_with("MARKER");
    event.kind = marker ? EventKind::scope : EventKind::api;
    if (!marker && call.number > 0) event.correlation = launches_.host(launchKey(call.number));
    const auto thread = threads_.find(row.integer(3));
    const TrackRef track =
        thread != threads_.end()
            ? thread->second
            : builder_.tracks().thread(process(row.integer(2)), fmt::format("row {}", row.integer(3)));
    if (!builder_.add(track, event) || !marker) return;
    if (const auto step = stepNumber(shown)) {
      builder_.mark(*step, event.start_ns);
      builder_.mark(*step + 1, event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
    }
  });
}

TrackRef Rocpd::stream(std::int64_t process_row, std::int64_t agent, const ForeignRow& row,
                       std::size_t stream_column) {
  const auto found = agents_.find(agent);
  const DeviceRef gpu = builder_.tracks().device("gpu", found == agents_.end() ? 0 : found->second.index);
  // Programs without HIP streams have queues only.
  const std::int64_t stream = row.integer(stream_column);
  const auto name = streams_.find(stream);
  const std::string shown = row.isNull(stream_column)
                                ? fmt::format("queue {}", row.integer(stream_column + 1))
                            : name == streams_.end() || name->second.empty() ? std::to_string(stream)
                                                                             : name->second;
  return builder_.tracks().stream(process(process_row), gpu, shown);
}

Status Rocpd::dispatches() {
  constexpr std::array<std::string_view, 16> kColumns = {"start",
                                                         "end",
                                                         "pid",
                                                         "agent_id",
                                                         "kernel_id",
                                                         "event_id",
                                                         "stream_id",
                                                         "queue_id",
                                                         "workgroup_size_x",
                                                         "workgroup_size_y",
                                                         "workgroup_size_z",
                                                         "grid_size_x",
                                                         "grid_size_y",
                                                         "grid_size_z",
                                                         "group_segment_size",
                                                         "private_segment_size"};
  return visit("kernel_dispatch", kColumns, [&](const ForeignRow& row) {
    const auto times = rows_.times(row);
    if (!times) return;
    Event event = *times;
    Kernel& kernel = kernels_[row.integer(4)];
    if (!kernel.known) {
      const std::string shown = fmt::format("kernel {}", row.integer(4));
      builder_.tally().repaired("kernels without a name: named by their number", shown);
      kernel = {builder_.names().name(shown), false, 0, true};
    }
    event.name = kernel.name;
    event.kind = kernel.collective ? EventKind::communication : EventKind::kernel;
    event.kernel = builder_.names().kernel(rocmKernel({row.integer(8), row.integer(9), row.integer(10)},
                                                      {row.integer(11), row.integer(12), row.integer(13)},
                                                      kernel.registers, row.integer(14), row.integer(15)));
    event.correlation = launches_.device(launchKey(callOf(row, 5).number));
    builder_.add(stream(row.integer(2), row.integer(3), row, 6), event);
  });
}

Status Rocpd::copies() {
  constexpr std::array<std::string_view, 10> kColumns = {
      "start",        "end",      "pid",       "name_id",  "dst_agent_id",
      "src_agent_id", "event_id", "stream_id", "queue_id", "size"};
  return visit("memory_copy", kColumns, [&](const ForeignRow& row) {
    const auto times = rows_.times(row);
    if (!times) return;
    Event event = *times;
    event.kind = EventKind::copy;
    event.value = std::max<std::int64_t>(0, row.integer(9));
    const auto name = strings_.find(row.integer(3));
    event.name =
        builder_.names().name(rocmCopyName(name == strings_.end() ? std::string_view() : name->second));
    event.correlation = launches_.device(launchKey(callOf(row, 6).number));
    const auto target = agents_.find(row.integer(4));
    const bool to_gpu = target != agents_.end() && target->second.gpu;
    builder_.add(stream(row.integer(2), to_gpu ? row.integer(4) : row.integer(5), row, 7), event);
  });
}

Status Rocpd::unread() {
  for (const std::string& name : database_.tables()) {
    if (!name.starts_with("rocpd_") || !name.ends_with(suffix_) || suffix_.size() + 6 > name.size()) continue;
    const std::string kind = name.substr(6, name.size() - 6 - suffix_.size());
    if (std::find(kKnown.begin(), kKnown.end(), kind) != kKnown.end()) continue;
    const std::int64_t rows = PITWALL_TRY(database_.rows(name));
    if (rows == 0) continue;
    builder_.tally().record(fmt::format("rows rocpd_{}", kind)) += rows;
    builder_.tally().notUnderstood("tables that are not read", fmt::format("rocpd_{} ({} rows)", kind, rows));
  }
  return {};
}

Status Rocpd::read() {
  using Step = Status (*)(Rocpd&);
  constexpr Step kSteps[] = {
      [](Rocpd& r) { return r.names(); },      [](Rocpd& r) { return r.processes(); },
      [](Rocpd& r) { return r.agents(); },     [](Rocpd& r) { return r.kernelSymbols(); },
      [](Rocpd& r) { return r.events(); },     [](Rocpd& r) { return r.regions(); },
      [](Rocpd& r) { return r.dispatches(); }, [](Rocpd& r) { return r.copies(); },
      [](Rocpd& r) { return r.unread(); }};
  return readTables(*this, kSteps, builder_.tally());
}

// What follows the tables' names; "" where they have none.
std::vector<std::string> suffixesOf(const ForeignDatabase& database) {
  std::vector<std::string> suffixes;
  for (const std::string& name : database.tables()) {
    if (name.starts_with(kDispatch)) suffixes.push_back(name.substr(kDispatch.size()));
  }
  return suffixes;
}

Status expectStart(ForeignDatabase& database, const std::vector<std::string>& suffixes, Builder& builder) {
  std::optional<std::int64_t> earliest;
  for (const std::string& suffix : suffixes) {
    for (const char* table : {"rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy"}) {
      const auto first = PITWALL_TRY(database.minimum(table + suffix, "start", 0));  // 0: not measured
      if (first && (!earliest || *first < *earliest)) earliest = *first;
    }
  }
  if (earliest) builder.clock().expectFrom(*earliest);
  return {};
}

}  // namespace

bool isRocpd(const ForeignDatabase& database) { return !suffixesOf(database).empty(); }

bool isRocpdStart(std::string_view start) { return start.find("rocpd_") != std::string_view::npos; }

Status readRocpd(const std::string& path, const ImportOptions& options, Builder& builder) {
  auto database = PITWALL_TRY(ForeignDatabase::open(path));
  ImportedInput& input = builder.tally().input();
  input.format = "rocpd database of rocprofv3";
  input.clock = "nanoseconds of the system's clock";
  builder.meta(meta::kProducer, "rocprofv3");
  const std::vector<std::string> suffixes = suffixesOf(*database);
  if (Status status = expectStart(*database, suffixes, builder); !status.has_value())
    builder.tally().damaged(status.error().message);
  Launches launches(builder);
  for (std::size_t i = 0; i < suffixes.size(); ++i)
    PITWALL_TRY(Rocpd(*database, options, builder, launches, suffixes[i], i).read());
  launches.end();
  return {};
}

}  // namespace pitwall::import
