#include "db/import/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "db/file_magic.h"
#include "db/import/chrome/json_start.h"
#include "db/import/input/text.h"
#include "db/import/nvprof/nvprof_database.h"
#include "db/import/nvprof/nvprof_start.h"
#include "db/import/ort/ort_start.h"
#include "db/import/other_files.h"
#include "db/import/perf/perf_line.h"
#include "db/import/perfetto/pftrace_start.h"
#include "db/import/readers.h"
#include "db/import/rocm/rocm_start.h"
#include "db/import/rocm/rocpd.h"
#include "db/import/speedscope/speedscope_start.h"
#include "db/import/torch/torch_start.h"
#include "db/import/xla/trace_json.h"
#include "db/import/xla/xplane_start.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

bool looksBinary(std::string_view start) {
  const std::string_view head = start.substr(0, 4096);
  const auto odd = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x09 || (byte > 0x0D && byte < 0x20 && byte != 0x1B);
  });
  return odd * 20 > static_cast<std::ptrdiff_t>(head.size());
}

bool isUtf16(std::string_view start) {
  const std::string_view mark = start.substr(0, 2);
  return mark == "\xFF\xFE" || mark == "\xFE\xFF";
}

// Databases are recognised by the application id in their header.
bool isDatabase(const FileStart& start) { return magic::isSqlite(start.bytes); }

// A reader that seeks in its file: what is compressed or within an archive is copied first.
template <Status (*kRead)(const std::string&, const ImportOptions&, Builder&)>
Status readInPlace(const OpenedInput& input) {
  const bool in_place = !input.file.member && std::strcmp(input.window.source().compression(), "none") == 0;
  if (in_place) return kRead(input.file.path, input.options, input.builder);
  const auto copy = PITWALL_TRY(TemporaryCopy::make(input.window));
  Status status = kRead(copy.path(), input.options, input.builder);
  const std::string& damage = input.window.source().damage();
  if (!damage.empty()) input.builder.tally().damaged(damage);
  return status;
}

template <Status (*kRead)(Window&, const ImportOptions&, Builder&)>
Status readText(const OpenedInput& input) {
  return kRead(input.window, input.options, input.builder);
}

// A log may begin with '[' too ("[worker-0] ..."), so this is asked before the brackets of JSON are.
bool isVerboseLog(const FileStart& start) {
  constexpr const char* kMarks[] = {"nednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,",
                                    "MKL_VERBOSE ",   " NCCL INFO ",   " NCCL WARN "};
  if (start.text.empty() || start.text[0] == '{' || contains(start.text, "\"ph\"")) return false;
  return std::any_of(std::begin(kMarks), std::end(kMarks),
                     [&](const char* mark) { return contains(start.text, mark); });
}

// Which tool wrote a database is known for certain only from its tables; its first bytes nearly always have them.
Status readDatabase(const std::string& path, const ImportOptions& options, Builder& builder) {
  bool nvprof = false;
  bool rocpd = false;
  {
    const auto database = PITWALL_TRY(store::ForeignDatabase::open(path));
    nvprof = isNvprofDatabase(*database);
    rocpd = isRocpd(*database);
  }
  return nvprof  ? readNvprof(path, options, builder)
         : rocpd ? readRocpd(path, options, builder)
                 : readNsight(path, options, builder);
}

constexpr Format kFormats[] = {
    {FormatId::pitwallTrace, "Pitwall traces", "*.pitwall",
     [](const FileStart& start) { return magic::sqliteProgram(start.bytes) == magic::kTraceId; },
     readInPlace<readTrace>},
    {FormatId::pitwallRows, "Pitwall exports of rows", "*.sqlite *.db",
     [](const FileStart& start) { return magic::sqliteProgram(start.bytes) == "PitR"; },
     readInPlace<readRows>},
    {FormatId::nvprofDatabase, "nvprof and Visual Profiler databases", "*.nvvp *.nvprof *.sqlite",
     [](const FileStart& start) { return isDatabase(start) && isNvprofStart(start.bytes); },
     readInPlace<readDatabase>},
    {FormatId::rocpd, "rocpd databases of rocprofv3", "*.db",
     [](const FileStart& start) { return isDatabase(start) && isRocpdStart(start.bytes); },
     readInPlace<readDatabase>},
    {FormatId::nsightSqlite, "Nsight Systems SQLite exports", "*.sqlite *.db", isDatabase,
     readInPlace<readDatabase>},
    {FormatId::xplane, "XPlane files of JAX and TensorFlow", "*.xplane.pb",
     [](const FileStart& start) { return isXplane(start.bytes); }, readInPlace<readXplane>},
    {FormatId::perfetto, "Perfetto traces", "*.pftrace *.perfetto-trace",
     [](const FileStart& start) { return isPftrace(start.bytes); }, readText<readPftrace>},
    {FormatId::verboseLog, "oneDNN and MKL verbose logs, NCCL debug logs", "*.log *.txt", isVerboseLog,
     [](const OpenedInput& input) {
       bool found = false;
       return readOneDnn(input.window, input.options, input.builder, found);
     }},
    {FormatId::mxnetTable, "MXNet dumps() tables", "*.txt",
     [](const FileStart& start) {
       return contains(start.text, "Profile Statistics") && contains(start.text, "Total Count");
     },
     readText<readMxNetTable>},
    {FormatId::ncclInspector, "NCCL inspector dumps", "*.log *.jsonl",
     [](const FileStart& start) {
       return start.text.starts_with('{') && contains(start.text.substr(0, 8192), "\"coll_perf\"");
     },
     readText<readNcclInspector>},
    {FormatId::nvprofCsv, "nvprof CSV output", "*.csv",
     [](const FileStart& start) { return isNvprofCsv(start.text); }, readText<readNvprofCsv>},
    {FormatId::rocmCsv, "rocprofv3 CSV traces", "*.csv",
     [](const FileStart& start) { return isRocmCsv(start.text); }, readText<readRocmCsv>},
    {FormatId::rocmJson, "rocprofv3 JSON traces", "*_results.json",
     [](const FileStart& start) { return isRocmJson(start.text); }, readText<readRocmJson>},
    {FormatId::memorySnapshot, "PyTorch memory snapshots", "*.pickle *.pkl",
     [](const FileStart& start) { return isMemorySnapshot(start.bytes); }, readText<readMemorySnapshot>},
    {FormatId::executionTrace, "PyTorch execution traces", "*.json",
     [](const FileStart& start) { return isExecutionTrace(start.text); }, readText<readExecutionTrace>},
    {FormatId::onnxRuntime, "ONNX Runtime profiles", "*.json",
     [](const FileStart& start) { return isOrtProfile(start.text); }, readText<readOrt>},
    {FormatId::xlaTraceJson, "Trace JSON of JAX and TensorFlow", "*.trace.json.gz",
     [](const FileStart& start) { return isXlaTraceJson(start.text); }, readText<readXlaTraceJson>},
    {FormatId::speedscope, "Profiles of speedscope, which py-spy and other samplers write",
     "*.speedscope.json *.json", [](const FileStart& start) { return isSpeedscope(start.text); },
     readInPlace<readSpeedscope>},
    {FormatId::perfScript, "Output of perf script", "*.perf *.txt",
     [](const FileStart& start) { return isPerfScript(start.text); }, readText<readPerfScript>},
    {FormatId::collapsedStacks, "Collapsed stacks, from which flame graphs are drawn",
     "*.folded *.collapsed *.txt", [](const FileStart& start) { return isCollapsed(start.text); },
     readText<readCollapsed>},
    {FormatId::chromeJson, "Chrome Trace Event JSON, also PyTorch Kineto's and MXNet's profiles", "*.json",
     [](const FileStart& start) { return jsonStart(start.text).is_trace; }, readText<readChrome>}};

}  // namespace

FileStart fileStart(std::string_view bytes) {
  FileStart start{bytes, {}};
  if (isDatabase(start) || isUtf16(bytes) || looksBinary(bytes)) return start;
  std::string_view text = bytes;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  start.text = text;
  return start;
}

std::span<const Format> formats() { return kFormats; }

std::string knownFormats() {
  std::string names;
  for (const Format& format : kFormats) names += fmt::format("{}{}", names.empty() ? "" : "; ", format.name);
  return "formats that can be read: " + names;
}

const Format* formatOf(const FileStart& start) {
  const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const Format& format) { return format.recognise(start); });
  return found == std::end(kFormats) ? nullptr : found;
}

Unrecognised unrecognised(const FileStart& start, std::string_view path) {
  if (std::string known = otherFile(start.text.empty() ? start.bytes : start.text, path); !known.empty())
    return {std::move(known)};
  if (isUtf16(start.bytes)) return {"is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8 IN > OUT"};
  if (start.bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) return {"holds nothing but spaces"};
  if (start.text.empty())
    return {fmt::format("is binary data of an unknown kind, beginning {}", quotedText(start.bytes, 12))};
  if (auto problem = jsonStart(start.text).problem; !problem.empty()) return {std::move(problem)};
  return {fmt::format("is text of an unknown kind, beginning {}", quotedText(start.text, 40)), true};
}

}  // namespace pitwall::import

namespace pitwall {

std::vector<ImportFormat> importFormats() {
  std::vector<ImportFormat> result;
  for (const auto& format : import::formats()) result.push_back({format.name, format.files});
  return result;
}

}  // namespace pitwall
