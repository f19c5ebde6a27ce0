#include "db/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "db/file/output_claim.h"
#include "db/file_magic.h"
#include "db/import/align.h"
#include "db/import/build/builder.h"
#include "db/import/build/joined_processes.h"
#include "db/import/formats.h"
#include "db/import/input/byte_source.h"
#include "db/import/input/input_list.h"
#include "db/import/input/window.h"
#include "db/import/origins.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/sqlite/replace.h"
#include "db/store.h"
#include "db/try.h"
#include "db/unfinished.h"

namespace pitwall {

// A line that begins with "import" is a statement of its own to clang-format 14.
using import::Alignment;
using import::Builder;
using import::ByteSource;
using import::InputFile;
using import::JoinedProcesses;
using import::Window;

namespace {

constexpr int kDeepestNesting = 2;
constexpr std::size_t kRecogniseBytes = std::size_t{64} << 10;

std::int64_t recordsOf(const ImportSummary& summary) {
  std::int64_t total = 0;
  for (const auto& [what, count] : summary.records) total += count;
  return total;
}

Failure unknownFormat(const std::string& path, const std::string& why) {
  return fail(ErrorCode::invalidInput, fmt::format("{}: {}; {}", path, why, import::knownFormats()));
}

Status readText(Window& window, const InputFile& input, const ImportOptions& options, Builder& builder,
                int nested);

// Nested compression, as traces in an archive often have.
Status readNested(Window& window, const InputFile& input, const ImportOptions& options, Builder& builder,
                  int nested) {
  if (nested >= kDeepestNesting) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: is compressed more than {} times over; unpack it yourself", input.shown,
                            kDeepestNesting));
  }
  const auto copy = PITWALL_TRY(import::TemporaryCopy::make(window));
  const std::vector<std::string> paths = {copy.path()};
  std::vector<std::string> notes;
  const auto inside = PITWALL_TRY(import::expandInputs(paths, options, notes));
  if (inside.size() != 1) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: holds an archive of several files; unpack that first", input.shown));
  }
  const auto source = PITWALL_TRY(import::openInput(inside.front(), options.limits));
  builder.tally().input().compression += fmt::format(", {}", source->compression());
  Window inner(*source, options, input.shown);
  InputFile file = inside.front();
  file.shown = input.shown;
  auto status = readText(inner, file, options, builder, nested + 1);
  if (!window.source().damage().empty()) builder.tally().damaged(window.source().damage());
  return status;
}

Status readText(Window& window, const InputFile& input, const ImportOptions& options, Builder& builder,
                int nested) {
  const std::string& path = input.shown;
  while (window.view().size() < kRecogniseBytes && !window.atEnd()) {
    PITWALL_TRY(window.more(std::size_t{1} << 20));
  }
  if (window.view().empty()) {
    const std::string& damage = window.source().damage();
    return fail(ErrorCode::invalidInput, fmt::format("{}: holds nothing that can be read{}{}", path,
                                                     damage.empty() ? "" : ": ", damage));
  }
  if (import::looksCompressed(window.view())) return readNested(window, input, options, builder, nested);
  const import::OpenedInput opened{window, input, options, builder};
  const import::FileStart start = import::fileStart(window.view().substr(0, kRecogniseBytes));
  if (const auto* format = import::formatOf(start)) return format->read(opened);
  const import::Unrecognised unknown = import::unrecognised(start, path);
  bool found = false;
  if (unknown.is_log) PITWALL_TRY(import::readOneDnn(window, options, builder, found));
  return found ? Status() : Status(unknownFormat(path, unknown.why));
}

Status readInput(const InputFile& file, const import::Placement* placement, const ImportOptions& options,
                 Builder& builder) {
  const std::string& path = file.shown;
  ImportSummary& summary = builder.tally().summary();
  summary.inputs.push_back({});
  builder.tally().input().path = path;
  builder.beginInput();
  if (file.origin) builder.origin(*file.origin);
  if (placement != nullptr) builder.place(placement->begin_ns, placement->rank, placement->shows_rank);
  const auto source = PITWALL_TRY(import::openInput(file, options.limits));
  builder.tally().input().compression = source->compression();
  builder.tally().input().file_bytes = source->fileBytes();
  const std::int64_t before = recordsOf(summary);
  Window window(*source, options, path);
  PITWALL_TRY(readText(window, file, options, builder, 0));
  builder.endInput();
  ImportedInput& input = builder.tally().input();
  input.content_bytes =
      window.atEnd() ? window.offset() + static_cast<Bytes>(window.view().size()) : input.file_bytes;
  if (recordsOf(summary) == before) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: recognised as {}, but nothing in it can be read: {}", path, input.format,
                            input.damage.empty() ? "it holds no events" : input.damage));
  }
  return {};
}

}  // namespace

bool ImportSummary::complete() const {
  for (const ImportedInput& input : inputs) {
    if (!input.complete) return false;
  }
  return true;
}

std::int64_t ImportSummary::totalEvents() const {
  std::int64_t total = 0;
  for (const auto& [kind, count] : events) {
    if (kind != "counter samples" && kind != "dependencies" && kind != "iterations") total += count;
  }
  return total;
}

namespace {

// The alignment of the inputs, from reading each one separately. `unreadable` gets an error message, or an empty text, of each.
Alignment align(std::span<const InputFile> inputs, const ImportOptions& options,
                std::vector<std::string>& unreadable) {
  std::vector<std::string> names;
  // A framework's profile belongs to a recorded process: its name says nothing of a rank.
  for (const InputFile& input : inputs) names.push_back(input.origin ? "" : input.shown);
  unreadable.resize(inputs.size());
  const auto read = [&](std::size_t i, TraceSink& sink, ImportSummary& summary) -> Status {
    Builder builder(sink, summary);
    Status status = readInput(inputs[i], nullptr, options, builder);
    if (!status.has_value() && status.error().code != ErrorCode::cancelled)
      unreadable[i] = status.error().message;
    PITWALL_TRY(std::move(status));
    builder.finish();
    return {};
  };
  return import::alignInputs(names, read);
}

// The other parts of a recording do not depend on a framework's profile that cannot be read.
bool isLeftOut(const std::string& unreadable, const InputFile& input, const ImportOptions& options,
               TraceSink& sink, ImportSummary& summary) {
  if (!options.one_recording || !input.origin || unreadable.empty()) return false;
  summary.left_out.push_back("a part of the recording is missing: " + unreadable);
  sink.loss({{}, 0, 0, 0, summary.left_out.back()});
  return true;
}

Status readOne(const InputFile& input, const import::Placement* placement, const ImportOptions& options,
               TraceSink& sink, Builder& builder) {
  ImportSummary& summary = builder.tally().summary();
  Status status = readInput(input, placement, options, builder);
  if (!status.has_value()) {
    const bool no_trace = status.error().code == ErrorCode::invalidInput && input.one_of_many;
    if (!no_trace) return status;
    summary.inputs.pop_back();
    builder.leaveOutInput();
    builder.tally().notUnderstood("files of an archive or folder that are not traces",
                                  status.error().message);
    return {};
  }
  if (!builder.tally().input().complete)
    sink.loss({{},
               summary.end_ns,
               summary.end_ns,
               0,
               fmt::format("{}: {}", input.shown, builder.tally().input().damage)});
  if (placement != nullptr && !placement->note.empty())
    builder.tally().note(fmt::format("{}: {}", input.shown, placement->note));
  return sink.flush();
}

// A trace of Pitwall's own, also a compressed one or one in an archive.
bool isRecording(const InputFile& input, const ImportOptions& options) {
  const auto source = import::openInput(input, options.limits);
  if (!source.has_value()) return false;  // reading it reports the reason
  std::string start(100, '\0');
  return import::readFully(**source, start).has_value() && magic::sqliteProgram(start) == magic::kTraceId;
}

Status readAll(std::vector<InputFile>& inputs, TraceSink& sink, const ImportOptions& options,
               ImportSummary& summary) {
  // Recordings first: the trace takes its facts and settings from them, whatever the order of the names.
  const auto profiles = std::stable_partition(
      inputs.begin(), inputs.end(), [&](const InputFile& input) { return isRecording(input, options); });
  const auto recordings = static_cast<std::size_t>(profiles - inputs.begin());
  const std::string first = inputs.empty() ? "import" : inputs.front().shown;
  const auto notes = import::takeOrigins(inputs);
  if (inputs.empty())
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: describes a profile that is not among the inputs", first));
  Alignment alignment;
  std::vector<std::string> unreadable;
  if (inputs.size() > 1) alignment = align(inputs, options, unreadable);
  JoinedProcesses joined(sink);
  Builder builder(joined, summary);
  builder.tracks().joinWith(joined);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const import::Placement* placement = inputs.size() > 1 ? &alignment.placements[i] : nullptr;
    if (placement != nullptr && isLeftOut(unreadable[i], inputs[i], options, sink, summary)) continue;
    const import::InputOrigin origin = placement != nullptr ? placement->origin : import::InputOrigin{};
    if (i < recordings) {
      joined.readingRecording(origin);
    } else {
      joined.readingProfile(origin);
    }
    PITWALL_TRY(readOne(inputs[i], placement, options, sink, builder));
  }
  if (summary.inputs.empty())
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: no file in it is a trace; {}", first, import::knownFormats()));
  builder.finish();
  if (!notes.empty()) builder.meta(meta::kRecorderNotes, fmt::format("{}", fmt::join(notes, "\n")));
  if (alignment.unix_ns) sink.meta(meta::kTraceStartUnixNs, std::to_string(*alignment.unix_ns));
  sink.meta("import.summary", toText(summary));
  return sink.finish();
}

Failure outOfMemory() { return fail(ErrorCode::io, "import: out of memory"); }

Result<std::vector<InputFile>> inputsOf(std::span<const std::string> paths, const ImportOptions& options,
                                        std::vector<std::string>& notes) {
  if (paths.empty()) return fail(ErrorCode::invalidInput, "import: name at least one file");
  try {
    return import::expandInputs(paths, options, notes);
  } catch (const std::bad_alloc&) {
    return outOfMemory();
  }
}

Status importInputs(std::vector<InputFile>& inputs, TraceSink& sink, const ImportOptions& options,
                    ImportSummary& summary) {
  try {
    return readAll(inputs, sink, options, summary);
  } catch (const std::bad_alloc&) {
    return outOfMemory();
  }
}

}  // namespace

Result<ImportSummary> importTrace(std::span<const std::string> paths, TraceSink& sink,
                                  const ImportOptions& options) {
  ImportSummary summary;
  auto inputs = PITWALL_TRY(inputsOf(paths, options, summary.notes));
  PITWALL_TRY(importInputs(inputs, sink, options, summary));
  return summary;
}

Result<ImportSummary> importToFile(std::span<const std::string> paths, const std::string& output,
                                   const ImportOptions& options) {
  const std::string target = PITWALL_TRY(replaceableTrace(output));
  ImportOptions with_output = options;
  with_output.output = target;
  ImportSummary summary;
  auto inputs =
      PITWALL_TRY(inputsOf(paths, with_output, summary.notes));  // before anything is made at the output
  const auto claim = PITWALL_TRY(OutputClaim::take(target));
  PITWALL_TRY(replaceableTrace(target + ".tmp"));
  const Unfinished temporary(target + ".tmp");
  auto sink = PITWALL_TRY(createTrace(temporary.path(), {.most_pending_rows = kPendingRowsOfAnImport}));
  PITWALL_TRY(importInputs(inputs, *sink, with_output, summary));
  sink.reset();                           // closes the file
  PITWALL_TRY(replaceableTrace(target));  // a recording may have begun to write it
  PITWALL_TRY(store::moveIntoPlace(temporary.path(), target));
  return summary;
}

}  // namespace pitwall
