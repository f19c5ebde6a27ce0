// Reads what nvprof --csv prints: the summary, which has sums only, and the tables of --print-gpu-trace and
// --print-api-trace. Lines of nvprof itself begin with "==PID=="; below a table's head is a line of units.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/import/input/csv.h"
#include "db/import/input/line_reader.h"
#include "db/import/input/text.h"
#include "db/import/kineto/meanings.h"
#include "db/import/nvprof/nvprof_start.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

using Values = std::vector<std::string>;

class NvprofCsv {
 public:
  NvprofCsv(Window& window, Builder& builder) : window_(window), builder_(builder) {}

  void line(std::string_view text);
  void end();

 private:
  enum class Table : std::uint8_t { none, summary, trace };
  struct Columns {
    CsvColumn type, name, time, calls, start, duration, device, stream, size;
    CsvColumn registers, static_shared, dynamic_shared;
    std::array<CsvColumn, 3> grid, block;
  };
  static Columns columnsOf(const CsvHeader& header);
  // The value of a column in its unit: times in ns, sizes in bytes. None when it is missing or no number.
  std::optional<std::int64_t> scaled(const Values& values, CsvColumn column) const;
  std::int64_t sizeOf(const Values& values, CsvColumn column) const {
    return std::max<std::int64_t>(0, scaled(values, column).value_or(0));
  }
  ProcessRef process() {
    const ProcessRef made = builder_.tracks().process(pid_);
    builder_.tracks().keyIsPid(made);
    return made;
  }
  KernelId kernelOf(const Values& values);
  TrackRef streamOf(const Values& values);
  void summaryRow(const Values& values);
  void traceRow(const Values& values);

  Window& window_;
  Builder& builder_;
  Table table_ = Table::none;
  Columns columns_;
  Values units_;
  bool units_next_ = false;
  bool has_sums_ = false;
  bool has_times_ = false;
  std::int64_t reached_ns_ = 0;  // of the sums, one after the other
  std::string pid_ = "program";
};

NvprofCsv::Columns NvprofCsv::columnsOf(const CsvHeader& header) {
  Columns columns;
  columns.type = header["Type"];
  columns.name = header["Name"];
  columns.time = header["Time"];
  columns.calls = header["Calls"];
  columns.start = header["Start"];
  columns.duration = header["Duration"];
  columns.device = header["Device"];
  columns.stream = header["Stream"];
  columns.size = header["Size"];
  columns.registers = header["Registers Per Thread"];
  columns.static_shared = header["Static SMem"];
  columns.dynamic_shared = header["Dynamic SMem"];
  columns.grid = {header["Grid X"], header["Grid Y"], header["Grid Z"]};
  columns.block = {header["Block X"], header["Block Y"], header["Block Z"]};
  return columns;
}

std::optional<std::int64_t> NvprofCsv::scaled(const Values& values, CsvColumn column) const {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000},  {"ns", 1}, {"", 1}, {"B", 1},
      {"KB", 1 << 10},      {"MB", 1 << 20},   {"GB", 1 << 30}};
  const std::string_view unit = column.of(units_);
  for (const auto& [name, scale] : kUnits) {
    if (name == unit) return parseScaled(column.of(values), scale);
  }
  return std::nullopt;
}

KernelId NvprofCsv::kernelOf(const Values& values) {
  KernelFacts facts;
  const auto extent = [&](CsvColumn column) {
    const auto number = parseInteger(column.of(values));
    return number && *number > 0 && *number <= INT32_MAX ? static_cast<std::int32_t>(*number) : 0;
  };
  for (std::size_t i = 0; i < 3; ++i) {
    facts.grid[i] = extent(columns_.grid[i]);
    facts.block[i] = extent(columns_.block[i]);
  }
  if (facts.block[0] == 0) return {};
  facts.registers_per_thread = extent(columns_.registers);
  facts.static_shared_bytes = sizeOf(values, columns_.static_shared);
  facts.dynamic_shared_bytes = sizeOf(values, columns_.dynamic_shared);
  return builder_.names().kernel(facts);
}

// "Tesla V100-SXM2-16GB (0)": the device's name and number.
TrackRef NvprofCsv::streamOf(const Values& values) {
  const std::string_view device = columns_.device.of(values);
  const std::size_t open = device.find_last_of('(');
  const auto index = open == std::string_view::npos || !device.ends_with(')')
                         ? std::nullopt
                         : parseInteger(device.substr(open + 1, device.size() - open - 2));
  const bool known = index && *index >= 0 && *index < 65536;
  const DeviceRef gpu = builder_.tracks().device("gpu", known ? static_cast<int>(*index) : 0);
  if (known) builder_.tracks().nameDevice(gpu, device.substr(0, open > 0 ? open - 1 : 0), 0);
  const std::string_view stream = columns_.stream.of(values);
  return builder_.tracks().stream(process(), gpu, stream.empty() ? "0" : stream);
}

// A row becomes one event as long as its sum, as rows of MXNet's tables do.
void NvprofCsv::summaryRow(const Values& values) {
  const auto total = scaled(values, columns_.time);
  const auto calls = parseInteger(columns_.calls.of(values));
  const std::string_view name = columns_.name.of(values);
  if (!total || !calls || name.empty()) {
    builder_.tally().dropped("rows without a time, a number of calls or a name",
                             [&] { return window_.place(); });
    return;
  }
  has_sums_ = true;
  ++builder_.tally().record("rows of the summary");
  Event event;
  event.start_ns = reached_ns_;
  event.dur_ns = *total;
  event.value = *calls;
  event.name = builder_.names().name(name);
  const ProcessRef owner = process();
  TrackRef row;
  if (columns_.type.of(values) == "API calls") {
    event.kind = EventKind::api;
    row = builder_.tracks().lane(owner, "API calls: sums");
  } else {
    const bool copies = name.starts_with("[CUDA mem");
    event.kind = copies ? EventKind::copy : isCollective(name) ? EventKind::communication : EventKind::kernel;
    if (copies) event.value = 0;  // of a copy the bytes, which the summary does not give
    row = builder_.tracks().stream(owner, builder_.tracks().device("gpu", 0), "sums");
  }
  if (builder_.add(row, event)) reached_ns_ += std::max<std::int64_t>(0, *total);
}

void NvprofCsv::traceRow(const Values& values) {
  const auto start = scaled(values, columns_.start);
  const auto duration = scaled(values, columns_.duration);
  if (!start || !duration) {
    builder_.tally().dropped("rows without a start or a duration", [&] { return window_.place(); });
    return;
  }
  has_times_ = true;
  ++builder_.tally().record("rows of a trace");
  Event event;
  event.start_ns = *start;
  event.dur_ns = *duration;
  std::string_view name = columns_.name.of(values);
  if (!columns_.stream) {  // of calls
    event.kind = EventKind::api;
    event.name = builder_.names().name(name);
    builder_.add(builder_.tracks().lane(process(), "API calls"), event);
    return;
  }
  if (name.starts_with("[CUDA mem")) {
    event.kind = EventKind::copy;
    event.value = sizeOf(values, columns_.size);
  } else {
    event.kind = isCollective(name) ? EventKind::communication : EventKind::kernel;
    event.kernel = kernelOf(values);
    const std::size_t number = name.ends_with(']') ? name.rfind(" [") : std::string_view::npos;
    if (number != std::string_view::npos) name = name.substr(0, number);  // "gemm [123]": of the launch
  }
  event.name = builder_.names().name(name);
  builder_.add(streamOf(values), event);
}

void NvprofCsv::line(std::string_view text) {
  if (text.starts_with("==")) {
    table_ = Table::none;
    const std::string_view id = text.substr(2, text.find("==", 2) - 2);
    if (parseInteger(id)) pid_ = std::string(id);
    if (text.find("Warning") != std::string_view::npos) {
      const std::string note = fmt::format("{}: {}", builder_.tally().input().path, quotedText(text, 200));
      builder_.tally().note(note);
    }
    return;
  }
  if (text.starts_with("\"Type\",\"Time") || text.starts_with("\"Start\",\"Duration\"")) {
    table_ = text[1] == 'T' ? Table::summary : Table::trace;
    columns_ = columnsOf(CsvHeader(csvValues(text)));
    units_next_ = true;
    return;
  }
  if (table_ == Table::none || text.find(',') == std::string_view::npos) return;
  Values values = csvValues(text);
  if (units_next_) {
    units_ = std::move(values);
    units_next_ = false;
  } else if (table_ == Table::summary) {
    summaryRow(values);
  } else {
    traceRow(values);
  }
}

void NvprofCsv::end() {
  ImportedInput& input = builder_.tally().input();
  input.format = has_times_ ? "nvprof CSV, trace" : "nvprof CSV, summary";
  input.clock = has_times_ ? "since the recording's start" : "none: sums only";
  if (has_sums_ && !has_times_) builder_.meta("import.timeline", "sums only");
  builder_.meta(meta::kProducer, "nvprof");
}

}  // namespace

bool isNvprofCsv(std::string_view start) {
  const auto has = [&](std::string_view what) { return start.find(what) != std::string_view::npos; };
  return has("\"Type\",\"Time(%)\",\"Time\",\"Calls\"") ||
         (has("\"Start\",\"Duration\",") && has("\"Name\""));
}

Status readNvprofCsv(Window& window, const ImportOptions& options, Builder& builder) {
  NvprofCsv reader(window, builder);
  return readLines(reader, window, options, builder);
}

}  // namespace pitwall::import
