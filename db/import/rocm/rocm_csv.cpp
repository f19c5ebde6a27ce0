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
  std::int64_t number(const Values& values, std::string_view column) const {
    return parseInteger(header_.of(values, column)).value_or(0);
  }
  std::array<std::int64_t, 3> extents(const Values& values, const char* what) const {
    return {number(values, fmt::format("{}_X", what)), number(values, fmt::format("{}_Y", what)),
            number(values, fmt::format("{}_Z", what))};
  }
  ProcessRef process(const Values& values);
  TrackRef stream(const Values& values, std::string_view agent_column);
  void kernel(const Values& values, Event event);
  void copy(const Values& values, Event event);
  void call(const Values& values, Event event);

  Window& window_;
  Builder& builder_;
  CsvHeader header_;
  bool has_header_ = false;
};

ProcessRef RocmCsv::process(const Values& values) {
  const std::string_view id = header_.of(values, "Process_Id");
  return builder_.tracks().process(id.empty() ? std::string_view("program") : id);
}

// "Agent 4", "GPU 3" or "4".
TrackRef RocmCsv::stream(const Values& values, std::string_view agent_column) {
  std::string_view agent = header_.of(values, agent_column);
  agent.remove_prefix(std::min(agent.find_first_of("0123456789"), agent.size()));
  const auto index = parseInteger(agent);
  const DeviceRef gpu =
      builder_.tracks().device("gpu", index && *index >= 0 && *index < 65536 ? static_cast<int>(*index) : 0);
  const std::string_view stream = header_.of(values, "Stream_Id");
  const std::string_view queue = header_.of(values, "Queue_Id");
  return builder_.tracks().stream(process(values), gpu,
                                  !stream.empty() ? std::string(stream) : fmt::format("queue {}", queue));
}

void RocmCsv::kernel(const Values& values, Event event) {
  const std::string_view name = header_.of(values, "Kernel_Name");
  event.kind = isCollective(name) ? EventKind::communication : EventKind::kernel;
  event.name = builder_.names().name(name);
  const char* const group = header_.has("LDS_Block_Size") ? "LDS_Block_Size" : "Group_Segment_Size";
  const char* const scratch = header_.has("Scratch_Size") ? "Scratch_Size" : "Private_Segment_Size";
  event.kernel = builder_.names().kernel(
      rocmKernel(extents(values, "Workgroup_Size"), extents(values, "Grid_Size"),
                 number(values, "VGPR_Count"), number(values, group), number(values, scratch)));
  builder_.add(stream(values, "Agent_Id"), event);
}

void RocmCsv::copy(const Values& values, Event event) {
  const std::string_view direction = header_.of(values, "Direction");
  event.kind = EventKind::copy;
  event.name = builder_.names().name(rocmCopyName(direction));
  const bool from_device = direction.find("DEVICE_TO") != std::string_view::npos;
  builder_.add(stream(values, from_device ? "Source_Agent_Id" : "Destination_Agent_Id"), event);
}

void RocmCsv::call(const Values& values, Event event) {
  const bool marker = header_.of(values, "Domain").starts_with("MARKER");
  const std::string_view name = header_.of(values, "Function");
  event.kind = marker ? EventKind::scope : EventKind::api;
  event.name = builder_.names().name(name);
  builder_.add(builder_.tracks().thread(process(values), header_.of(values, "Thread_Id")), event);
  if (const auto step = marker ? stepNumber(name) : std::nullopt) {
    builder_.mark(*step, event.start_ns);
    builder_.mark(*step + 1, event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
  }
}

void RocmCsv::line(std::string_view text) {
  if (text.find_first_not_of(" \r\t") == std::string_view::npos) return;
  Values values = csvValues(text);
  if (!has_header_) {
    header_ = CsvHeader(std::move(values));
    has_header_ = true;
    return;
  }
  const auto start = parseInteger(header_.of(values, "Start_Timestamp"));
  const auto end = parseInteger(header_.of(values, "End_Timestamp"));
  if (!start || !end || !InputClock::inRange(*start) || !InputClock::inRange(*end)) {
    builder_.tally().dropped("lines without times", fmt::format("{}: {}", window_.place(), quoted(text, 80)));
    return;
  }
  ++builder_.tally().record("lines");
  Event event;
  event.start_ns = *start;
  event.dur_ns = *end - *start;
  if (header_.has("Kernel_Name")) return kernel(values, event);
  if (header_.has("Direction")) return copy(values, event);
  if (header_.has("Function")) return call(values, event);
  builder_.tally().notUnderstood("lines of other tables", quoted(text, 80));
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
  PITWALL_TRY(eachLine(window, static_cast<std::size_t>(options.limits.line_bytes),
                       [&](std::string_view text) { reader.line(text); }));
  reader.end();
  if (!window.source().damage().empty()) builder.tally().damaged(window.source().damage());
  return {};
}

}  // namespace pitwall::import
