// Reads the CSV files of rocprofv3: kernel_trace, memory_copy_trace, and those of calls and markers. Columns
// are found by name, since they differ between versions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/input/csv.h"
#include "db/import/input/line_reader.h"
#include "db/import/input/text.h"
#include "db/import/kineto/meanings.h"
#include "db/import/readers.h"
#include "db/import/rocm/rocm_names.h"
#include "db/import/rocm/rocm_start.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

using Values = std::vector<std::string>;

class RocmCsv {
 public:
  RocmCsv(Window& window, Builder& builder) : window_(window), builder_(builder) {}

  void line(std::string_view text);
  void end();

 private:
  using Extents = std::array<CsvColumn, 3>;
  struct Columns {
    CsvColumn process, thread, start, end, agent, source_agent, target_agent, stream, queue;
    CsvColumn kernel, direction, function, domain;
    CsvColumn registers, group_bytes, scratch_bytes;
    Extents workgroup, grid;
  };
  static Columns columnsOf(const CsvHeader& header);
  static std::int64_t number(const Values& values, CsvColumn column) {
    return parseInteger(column.of(values)).value_or(0);
  }
  static std::array<std::int64_t, 3> extents(const Values& values, const Extents& columns) {
    return {number(values, columns[0]), number(values, columns[1]), number(values, columns[2])};
  }
  ProcessRef process(const Values& values);
  TrackRef stream(const Values& values, CsvColumn agent_column);
  void kernel(const Values& values, Event event);
  void copy(const Values& values, Event event);
  void call(const Values& values, Event event);

  Window& window_;
  Builder& builder_;
  Columns columns_;
  bool has_header_ = false;
  bool counts_agents_ = false;
};

RocmCsv::Columns RocmCsv::columnsOf(const CsvHeader& header) {
  const auto either = [&](const char* name, const char* older) {
    return header[name] ? header[name] : header[older];
  };
  Columns columns;
  columns.process = header["Process_Id"];
  columns.thread = header["Thread_Id"];
  columns.start = header["Start_Timestamp"];
  columns.end = header["End_Timestamp"];
  columns.agent = header["Agent_Id"];
  columns.source_agent = header["Source_Agent_Id"];
  columns.target_agent = header["Destination_Agent_Id"];
  columns.stream = header["Stream_Id"];
  columns.queue = header["Queue_Id"];
  columns.kernel = header["Kernel_Name"];
  columns.direction = header["Direction"];
  columns.function = header["Function"];
  columns.domain = header["Domain"];
  columns.registers = header["VGPR_Count"];
  columns.group_bytes = either("LDS_Block_Size", "Group_Segment_Size");
  columns.scratch_bytes = either("Scratch_Size", "Private_Segment_Size");
  columns.workgroup = {header["Workgroup_Size_X"], header["Workgroup_Size_Y"], header["Workgroup_Size_Z"]};
  columns.grid = {header["Grid_Size_X"], header["Grid_Size_Y"], header["Grid_Size_Z"]};
  return columns;
}

ProcessRef RocmCsv::process(const Values& values) {
  const std::string_view id = columns_.process.of(values);
  const ProcessRef process = builder_.tracks().process(id.empty() ? std::string_view("program") : id);
  builder_.tracks().keyIsPid(process);
  return process;
}

// "Agent 4" or "4", where CPUs are counted too, or "GPU 3".
TrackRef RocmCsv::stream(const Values& values, CsvColumn agent_column) {
  std::string_view agent = agent_column.of(values);
  counts_agents_ = counts_agents_ || !(agent.empty() || agent.starts_with("GPU") || agent.starts_with("CPU"));
  agent.remove_prefix(std::min(agent.find_first_of("0123456789"), agent.size()));
  const auto index = parseInteger(agent);
  const DeviceRef gpu =
      builder_.tracks().device("gpu", index && *index >= 0 && *index < 65536 ? static_cast<int>(*index) : 0);
  const std::string_view stream = columns_.stream.of(values);
  const std::string_view queue = columns_.queue.of(values);
  return builder_.tracks().stream(process(values), gpu,
                                  !stream.empty() ? std::string(stream) : fmt::format("queue {}", queue));
}

void RocmCsv::kernel(const Values& values, Event event) {
  const std::string_view name = columns_.kernel.of(values);
  event.kind = isCollective(name) ? EventKind::communication : EventKind::kernel;
  event.name = builder_.names().name(name);
  event.kernel = builder_.names().kernel(rocmKernel(
      extents(values, columns_.workgroup), extents(values, columns_.grid), number(values, columns_.registers),
      number(values, columns_.group_bytes), number(values, columns_.scratch_bytes)));
  builder_.add(stream(values, columns_.agent), event);
}

void RocmCsv::copy(const Values& values, Event event) {
  const std::string_view direction = columns_.direction.of(values);
  event.kind = EventKind::copy;
  event.name = builder_.names().name(rocmCopyName(direction));
  const bool from_device = direction.find("DEVICE_TO") != std::string_view::npos;
  builder_.add(stream(values, from_device ? columns_.source_agent : columns_.target_agent), event);
}

void RocmCsv::call(const Values& values, Event event) {
  const bool marker = columns_.domain.of(values).starts_with("MARKER");
  const std::string_view name = columns_.function.of(values);
  event.kind = marker ? EventKind::scope : EventKind::api;
  event.name = builder_.names().name(name);
  builder_.add(builder_.tracks().thread(process(values), columns_.thread.of(values)), event);
  if (const auto step = marker ? stepNumber(name) : std::nullopt) {
    builder_.mark(*step, event.start_ns);
    builder_.mark(*step + 1, event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
  }
}

void RocmCsv::line(std::string_view text) {
  if (text.find_first_not_of(" \r\t") == std::string_view::npos) return;
  Values values = csvValues(text);
  if (!has_header_) {
    columns_ = columnsOf(CsvHeader(std::move(values)));
    has_header_ = true;
    return;
  }
  const auto start = parseInteger(columns_.start.of(values));
  const auto end = parseInteger(columns_.end.of(values));
  if (!start || !end || !InputClock::inRange(*start) || !InputClock::inRange(*end)) {
    builder_.tally().dropped("lines without times",
                             [&] { return fmt::format("{}: {}", window_.place(), quotedText(text, 80)); });
    return;
  }
  ++builder_.tally().record("lines");
  Event event;
  event.start_ns = *start;
  event.dur_ns = *end - *start;
  if (columns_.kernel) return kernel(values, event);
  if (columns_.direction) return copy(values, event);
  if (columns_.function) return call(values, event);
  builder_.tally().notUnderstood("lines of other tables", [&] { return quotedText(text, 80); });
}

void RocmCsv::end() {
  ImportedInput& input = builder_.tally().input();
  input.format = "CSV of rocprofv3";
  input.clock = "nanoseconds of the system's clock";
  builder_.meta(meta::kProducer, "rocprofv3");
  builder_.tally().note(
      fmt::format("{}: calls and the work that they launch stand in separate files: they are not "
                  "joined. rocprofv3 --output-format rocpd writes both into one database",
                  input.path));
  if (counts_agents_)
    builder_.tally().note(fmt::format(
        "{}: numbers of devices count the machine's CPUs too, other than in a database of rocprofv3: "
        "rocprofv3 --agent-index type-relative numbers GPUs alone",
        input.path));
}

}  // namespace

bool isRocmCsv(std::string_view start) {
  const std::string_view first = start.substr(0, start.find('\n'));
  const auto has = [&](std::string_view what) { return first.find(what) != std::string_view::npos; };
  return has("\"Start_Timestamp\"") && has("\"End_Timestamp\"") &&
         (has("\"Kernel_Name\"") || has("\"Direction\"") || has("\"Function\""));
}

Status readRocmCsv(Window& window, const ImportOptions& options, Builder& builder) {
  RocmCsv reader(window, builder);
  return readLines(reader, window, options, builder);
}

}  // namespace pitwall::import
