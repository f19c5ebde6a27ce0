#include "db/import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "db/import/builder.h"
#include "db/import/byte_source.h"
#include "db/import/readers.h"
#include "db/import/recognise.h"
#include "db/import/window.h"
#include "db/store.h"

namespace pitwall {

using import::Builder;
using import::ByteSource;
using import::Format;
using import::Window;

namespace {

constexpr std::size_t kRecogniseBytes = std::size_t{64} << 10;

std::int64_t recordsOf(const ImportSummary& summary) {
  std::int64_t total = 0;
  for (const auto& [what, count] : summary.records) total += count;
  return total;
}

constexpr char kKnownFormats[] =
    "read are Chrome Trace Event JSON, PyTorch Kineto JSON, MXNet profiler JSON and dumps() tables, oneDNN "
    "and MKL "
    "verbose logs, and Nsight Systems SQLite exports";

Failure unknownFormat(const std::string& path, const std::string& why) {
  return fail(ErrorCode::invalidInput, fmt::format("{}: {}; {}", path, why, kKnownFormats));
}

Status readText(Window& window, const std::string& path, const ImportOptions& options, Builder& builder) {
  while (window.view().size() < kRecogniseBytes && !window.atEnd()) {
    if (auto more = window.more(std::size_t{1} << 20); !more.has_value()) return more;
  }
  if (window.view().empty()) {
    const std::string& damage = window.source().damage();
    return fail(ErrorCode::invalidInput, fmt::format("{}: holds nothing that can be read{}{}", path,
                                                     damage.empty() ? "" : ": ", damage));
  }
  const import::Recognised found = import::recognise(window.view().substr(0, kRecogniseBytes));
  switch (found.format) {
    case Format::sqlite:
      if (std::strcmp(window.source().compression(), "none") == 0)
        return import::readNsight(path, options, builder);
      return fail(
          ErrorCode::unsupported,
          fmt::format("{}: a compressed SQLite database; decompress it first, since SQLite reads in place",
                      path));
    case Format::chromeJson:
    case Format::jsonLines: return import::readChrome(window, options, builder);
    case Format::mxnetTable: return import::readMxNetTable(window, options, builder);
    case Format::oneDnnLog:
    case Format::unknown: break;
  }
  // A log may begin with much other output: text of unknown kind is searched for verbose lines to its end.
  if (found.format == Format::unknown && found.why_not.substr(0, 7) != "is text")
    return unknownFormat(path, found.why_not);
  bool verbose = false;
  if (auto status = import::readOneDnn(window, options, builder, verbose); !status.has_value()) return status;
  return verbose ? Status() : Status(unknownFormat(path, found.why_not));
}

Status readInput(const std::string& path, const ImportOptions& options, Builder& builder) {
  ImportSummary& summary = builder.summary();
  summary.inputs.push_back({});
  builder.input().path = path;
  builder.beginInput();
  auto source = ByteSource::open(path, options.limits);
  if (!source.has_value()) return fail(source.error());
  builder.input().compression = (*source)->compression();
  builder.input().file_bytes = (*source)->fileBytes();
  const std::int64_t before = recordsOf(summary);
  Window window(**source, options, path);
  if (auto status = readText(window, path, options, builder); !status.has_value()) return status;
  builder.endInput();
  ImportedInput& input = builder.input();
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

Result<ImportSummary> importTrace(std::span<const std::string> inputs, TraceSink& sink,
                                  const ImportOptions& options) {
  if (inputs.empty()) return fail(ErrorCode::invalidInput, "import: name at least one file");
  ImportSummary summary;
  try {
    Builder builder(sink, summary);
    for (const std::string& path : inputs) {
      if (auto status = readInput(path, options, builder); !status.has_value()) return fail(status.error());
      for (const ImportedInput& input : summary.inputs) {
        if (!input.complete && &input == &summary.inputs.back()) {
          sink.loss({{}, summary.end_ns, summary.end_ns, 0, fmt::format("{}: {}", path, input.damage)});
        }
      }
      if (auto flushed = sink.flush(); !flushed.has_value()) return fail(flushed.error());
    }
    builder.finish();
    sink.meta("import.summary", toText(summary));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::io, "import: out of memory");
  }
  if (auto finished = sink.finish(); !finished.has_value()) return fail(finished.error());
  return summary;
}

namespace {

// Whether `path` may be replaced: it is absent, or createTrace() would replace it too.
Status mayReplace(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};
  char head[72] = {};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail(ErrorCode::io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  const ssize_t got = ::read(file, head, sizeof head);
  ::close(file);
  const bool ours = got == static_cast<ssize_t>(sizeof head) &&
                    std::memcmp(head, "SQLite format 3", 16) == 0 && std::memcmp(head + 68, "Pitw", 4) == 0;
  if (got == 0 || ours) return {};
  return fail(ErrorCode::invalidInput,
              fmt::format("{}: exists and is not a Pitwall trace; choose another name with -o", path));
}

void removeTrace(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::remove((path + suffix).c_str());
}

}  // namespace

Result<ImportSummary> importToFile(std::span<const std::string> inputs, const std::string& output,
                                   const ImportOptions& options) {
  if (auto status = mayReplace(output); !status.has_value()) return fail(status.error());
  const std::string temporary = output + ".tmp";
  if (auto status = mayReplace(temporary); !status.has_value()) return fail(status.error());
  auto sink = createTrace(temporary);
  if (!sink.has_value()) return fail(sink.error());
  auto summary = importTrace(inputs, **sink, options);
  (*sink).reset();  // closes the file
  if (!summary.has_value()) {
    removeTrace(temporary);
    return summary;
  }
  if (std::rename(temporary.c_str(), output.c_str()) != 0) {
    const int reason = errno;
    removeTrace(temporary);
    return fail(ErrorCode::io, fmt::format("{}: cannot be written: {}", output, std::strerror(reason)));
  }
  return summary;
}

}  // namespace pitwall
