#include "tests/fuzz/targets.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "db/check.h"
#include "db/import.h"
#include "db/import/formats.h"
#include "db/import/input/input_list.h"
#include "tests/fuzz/input_file.h"
#include "tests/support/memory_sink.h"

namespace pitwall::fuzz {
namespace {

using import::FormatId;

// One file, written anew for each input, in a folder that goes with the process.
class InputFile {
 public:
  InputFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pitwall-fuzz-XXXXXX").string();
    PITWALL_CHECK(::mkdtemp(pattern.data()) != nullptr, "no temporary folder %s", pattern.c_str());
    folder_ = pattern;
    path_ = folder_ + "/input";
  }
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& write(std::span<const std::uint8_t> bytes) const {
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    PITWALL_CHECK(file != nullptr, "cannot write %s", path_.c_str());
    if (!bytes.empty()) std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    return path_;
  }

 private:
  std::string folder_;
  std::string path_;
};

std::string_view asText(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What a sink must be able to rely on.
void checkEvents(const test::MemorySink& sink, const ImportSummary& summary) {
  for (const auto& [track, event] : sink.all_events) {
    PITWALL_CHECK(track.value >= 1 && track.value <= sink.tracks.size(), "no track %u", track.value);
    PITWALL_CHECK(event.name.value <= sink.strings.size(), "no string %u", event.name.value);
    PITWALL_CHECK(event.op.value <= sink.facts.size(), "no facts %u", event.op.value);
    PITWALL_CHECK(event.dur_ns >= 0, "length %lld", static_cast<long long>(event.dur_ns));
    PITWALL_CHECK(event.start_ns + event.dur_ns <= summary.end_ns, "ends behind the trace's end");
  }
  PITWALL_CHECK(static_cast<std::int64_t>(sink.all_events.size()) == summary.totalEvents(),
                "%zu events, and the summary counts %lld", sink.all_events.size(),
                static_cast<long long>(summary.totalEvents()));
  for (const TrackInfo& track : sink.tracks) {
    PITWALL_CHECK(track.process.value <= sink.processes.size(), "no process %u", track.process.value);
    PITWALL_CHECK(track.device.value <= sink.devices.size(), "no device %u", track.device.value);
    PITWALL_CHECK(track.thread.value <= sink.threads.size(), "no thread %u", track.thread.value);
  }
}

void importBytes(std::span<const std::uint8_t> input) {
  const std::vector<std::string> paths = {asFile(input)};
  ImportOptions options;
  // As in use, but small, so that a bomb is cheap to refuse.
  options.limits.decompressed_bytes = Bytes{4} << 20;
  test::MemorySink sink;
  const auto summary = importTrace(paths, sink, options);
  if (!summary.has_value()) {
    PITWALL_CHECK(!summary.error().message.empty(), "an error without a message");
    PITWALL_CHECK(summary.error().code != ErrorCode::internal, "%s", summary.error().message.c_str());
    return;
  }
  checkEvents(sink, *summary);
  PITWALL_CHECK(!toText(*summary).empty(), "an empty summary");
}

// Only what this reader would be given: the others have their own targets.
template <FormatId kFormat>
void importAs(std::span<const std::uint8_t> input) {
  const auto* format = import::formatOf(import::fileStart(asText(input)));
  if (format != nullptr && format->id == kFormat) importBytes(input);
}

void importLog(std::span<const std::uint8_t> input) {
  const auto* format = import::formatOf(import::fileStart(asText(input)));
  if (format == nullptr || format->id == FormatId::verboseLog) importBytes(input);
}

void importCompressed(std::span<const std::uint8_t> input) {
  if (import::looksCompressed(asText(input)) || asText(input).starts_with("PK")) importBytes(input);
}

constexpr Target kTargets[] = {
    {"chrome_json", importAs<FormatId::chromeJson>},
    {"kineto_json", importAs<FormatId::chromeJson>},
    {"mxnet_json", importAs<FormatId::chromeJson>},
    {"mxnet_table", importAs<FormatId::mxnetTable>},
    {"nccl_dump", importAs<FormatId::ncclInspector>},
    {"ort_json", importAs<FormatId::onnxRuntime>},
    {"xla_json", importAs<FormatId::xlaTraceJson>},
    {"xplane", importAs<FormatId::xplane>},
    {"perfetto", importAs<FormatId::perfetto>},
    {"nvprof_sqlite", importAs<FormatId::nvprofDatabase>},
    {"rocpd", importAs<FormatId::rocpd>},
    {"nvprof_csv", importAs<FormatId::nvprofCsv>},
    {"rocm_csv", importAs<FormatId::rocmCsv>},
    {"rocm_json", importAs<FormatId::rocmJson>},
    {"perf_script", importAs<FormatId::perfScript>},
    {"speedscope", importAs<FormatId::speedscope>},
    {"collapsed", importAs<FormatId::collapsedStacks>},
    {"execution_trace", importAs<FormatId::executionTrace>},
    {"memory_snapshot", importAs<FormatId::memorySnapshot>},
    {"verbose_log", importLog},
    {"nsight_sqlite", importAs<FormatId::nsightSqlite>},
    {"compressed", importCompressed},
    {"pitwall_trace", openTrace},
    {"redact", redactSecrets},
};

}  // namespace

const std::string& asFile(std::span<const std::uint8_t> bytes) {
  static const InputFile file;
  return file.write(bytes);
}

std::span<const Target> targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> result(std::begin(kTargets), std::end(kTargets));
    result.insert(result.end(), graphTargets().begin(), graphTargets().end());
    return result;
  }();
  return all;
}

const Target* findTarget(const char* name) {
  for (const Target& target : targets()) {
    if (std::strcmp(target.name, name) == 0) return &target;
  }
  return nullptr;
}

}  // namespace pitwall::fuzz
