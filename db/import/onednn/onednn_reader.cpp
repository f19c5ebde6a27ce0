// Verbose logs of oneDNN and MKL. Lines with timestamps are placed at their time; without, only their order
// is known: they are laid end to end, so that sums are right and gaps mean nothing (the summary and the meta
// key import.timeline say so).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "db/import/input/line_reader.h"
#include "db/import/input/text.h"
#include "db/import/nccl/nccl_log.h"
#include "db/import/onednn/onednn_cache.h"
#include "db/import/onednn/onednn_line.h"
#include "db/import/readers.h"
#include "db/library_log.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

using Kind = VerboseLine::Kind;

class VerboseLog {
 public:
  VerboseLog(Window& window, const ImportOptions& options, Builder& builder)
      : window_(window),
        longest_(static_cast<std::size_t>(options.limits.line_bytes)),
        builder_(builder),
        nccl_(builder) {}

  Status run(bool& found) {
    PITWALL_TRY(eachLine(window_, longest_, [this](std::string_view text) {
      if (!known(text)) line(text);
    }));
    found = verbose_lines_ > 0 || nccl_.found();
    if (found) finish();
    return {};
  }

 private:
  // Splits a line that begins with a marker into the part that is the same for every run of the primitive and
  // the part that changes.
  struct Split {
    std::string_view same;
    std::string_view timestamp;
    std::string_view time;
  };
  static bool split(std::string_view text, Split& out) {
    std::size_t marker = 0;
    for (const std::string_view known : {"onednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,"}) {
      if (text.substr(0, known.size()) == known) marker = known.size();
    }
    if (marker == 0) return false;
    if (text.back() == '\r') text.remove_suffix(1);
    text.remove_prefix(marker);
    if (text.size() > 3 && text[0] == 'v' && text[2] == ',') text.remove_prefix(3);
    const void* last = ::memrchr(text.data(), ',', text.size());
    if (last == nullptr) return false;
    const auto comma = static_cast<std::size_t>(static_cast<const char*>(last) - text.data());
    out.time = text.substr(comma + 1);
    text = text.substr(0, comma);
    out.timestamp = {};
    if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
      const std::size_t end = text.find(',');
      if (end == std::string_view::npos) return false;
      out.timestamp = text.substr(0, end);
      text.remove_prefix(end + 1);
    }
    out.same = text;
    return true;
  }

  bool known(std::string_view text) {
    Split parts;
    if (text.size() < 32 || !split(text, parts)) return false;
    const KnownLine* line = known_.find(parts.same);
    if (line == nullptr) return false;
    const auto dur_ns = parseScaled(parts.time, 1'000'000);
    if (!dur_ns || *dur_ns < 0) return false;
    std::optional<std::int64_t> timestamp_ns;
    if (!parts.timestamp.empty()) {
      timestamp_ns = parseScaled(parts.timestamp, 1'000'000);
      if (!timestamp_ns) return false;
    }
    ++verbose_lines_;
    ++*line->records;
    Event event = line->event;
    event.dur_ns = *dur_ns;
    placeInTime(timestamp_ns, event);
    builder_.add(line->track, event);
    return true;
  }

  void line(std::string_view text) {
    constexpr std::string_view kMkl = "MKL_VERBOSE ";
    auto marker = findMarker(text, 0);
    if (!marker) {
      if (const std::size_t at = text.find(kMkl); at != std::string_view::npos) {
        ++verbose_lines_;
        mkl_ = true;
        take(parseMklVerbose(text.substr(at + kMkl.size())), text);
      } else if (!nccl_.line(text, cursor_) && text.find_first_not_of(" \t\r") != std::string_view::npos) {
        ++other_;
      }
      return;
    }
    const bool alone = marker->at == 0;
    while (marker) {  // two threads may have written into one line: every marker begins a separate record
      const auto next = findMarker(text, marker->fields);
      const std::size_t end = next ? next->at : text.size();
      ++verbose_lines_;
      VerboseLine parsed = parseVerbose(text.substr(marker->fields, end - marker->fields));
      if (next && parsed.kind != Kind::torn && parsed.kind != Kind::information) parsed.kind = Kind::torn;
      taken_.reset();
      take(parsed, text);
      if (Split parts; taken_ && alone && !next && split(text, parts)) known_.add(parts.same, *taken_);
      marker = next;
    }
  }

  std::string example(std::string_view text) const {
    return fmt::format("{}: {}", window_.place(), quotedText(text, 160));
  }

  void take(const VerboseLine& line, std::string_view text) {
    switch (line.kind) {
      case Kind::information: ++builder_.tally().record("lines info"); return information(line.text);
      case Kind::torn:
        ++builder_.tally().record("lines torn");
        return builder_.tally().dropped("torn lines (two threads wrote at once, or the log is cut)",
                                        example(text));
      case Kind::dispatch:
        ++builder_.tally().record("lines dispatch");
        return builder_.tally().notUnderstood(
            "reasons why an implementation was not chosen: no place in a trace", example(text));
      case Kind::other:
        ++builder_.tally().record("lines other verbose");
        return builder_.tally().notUnderstood("verbose lines of other kinds", example(text));
      case Kind::execution:
      case Kind::creation:
      case Kind::graph:
      case Kind::library_call: break;
    }
    if (line.decimal_comma) repair(builder_.tally().repairedCounter("times with a decimal comma"), text);
    if (!line.dur_ns)
      repair(builder_.tally().repairedCounter("executions without a time: length taken as 0"), text);
    place(line);
  }

  void repair(ImportCount& count, std::string_view text) {
    if (count.count++ == 0) count.example = example(text);
  }

  void placeInTime(const std::optional<std::int64_t>& timestamp_ns, Event& event) {
    if (timestamp_ns) {
      if (!timed_) builder_.clock().wallClock(0);
      timed_ = true;
      if (*timestamp_ns < kLatestNs - event.dur_ns) cursor_ = std::max(cursor_, *timestamp_ns + event.dur_ns);
      event.start_ns = *timestamp_ns;
    } else {
      untimed_ = true;
      event.start_ns = cursor_;
      if (cursor_ < kLatestNs - event.dur_ns) cursor_ += event.dur_ns;
    }
  }

  std::int64_t& recordOf(const VerboseLine& line) {
    switch (line.kind) {
      case Kind::creation: return builder_.tally().record("lines create");
      case Kind::graph: return builder_.tally().record("lines graph");
      case Kind::library_call: return builder_.tally().record("lines MKL");
      default: return builder_.tally().record("lines exec");
    }
  }

  void place(const VerboseLine& line) {
    Event event;
    event.dur_ns = line.dur_ns.value_or(0);
    placeInTime(line.timestamp_ns, event);
    const std::string engine(line.engine.empty() ? "cpu" : line.engine.substr(0, 32));
    const ProcessRef process = builder_.tracks().process("verbose log");
    builder_.tracks().nameProcess(process, "program of the verbose log");
    if (line.kind == Kind::execution || line.kind == Kind::library_call) {
      event.kind = EventKind::operatorRun;
      event.op = factsOf(line);
    }
    TrackRef track;
    if (line.kind == Kind::creation) {
      event.name = builder_.names().name(fmt::format("{} {}", line.operation, line.primitive));
      track = builder_.tracks().lane(process, "oneDNN primitives created: " + engine);
    } else if (line.kind == Kind::graph) {
      event.name = builder_.names().name(fmt::format("graph partition {}", line.primitive));
      track = builder_.tracks().lane(process, "oneDNN graph partitions: " + engine);
    } else {
      event.name = builder_.names().name(line.primitive);
      track = builder_.tracks().lane(process, line.kind == Kind::library_call
                                                  ? std::string(kMklCallsTrack)
                                                  : std::string(kOneDnnCallsTrack) + engine);
    }
    std::int64_t& records = recordOf(line);
    ++records;
    builder_.add(track, event);
    if (line.dur_ns && !line.decimal_comma && line.kind != Kind::library_call)
      taken_ = KnownLine{track, event, &records};
  }

  OperatorId factsOf(const VerboseLine& line) {
    OperatorFacts facts;
    facts.name = std::string(line.primitive);
    facts.shapes = std::string(line.problem.substr(0, 512));
    facts.backend = line.kind == Kind::library_call ? "mkl" : "onednn";
    facts.implementation = std::string(line.implementation);
    facts.dtype = dataTypeOf(line.memory);
    if (line.propagation.substr(0, 7) == "forward") facts.phase = Phase::forward;
    if (line.propagation.substr(0, 8) == "backward") facts.phase = Phase::backward;
    return builder_.names().facts(facts);
  }

  // "oneDNN v2.6.3 (commit ...)", "cpu,runtime:OpenMP,nthr:2", "cpu,isa:Intel AVX2"
  void information(std::string_view text) {
    while (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    const auto after = [&](std::string_view what) -> std::string_view {
      const std::size_t at = text.find(what);
      return at == std::string_view::npos ? std::string_view() : text.substr(at + what.size());
    };
    if (mkl_ && version_.empty()) version_ = std::string(text.substr(0, 60));
    for (const std::string_view library : {"oneDNN v", "DNNL v", "MKL-DNN v"}) {
      std::string_view version = after(library);
      version = version.substr(0, version.find_first_of(" ("));
      if (version.empty()) continue;
      version_ = std::string(version);
      builder_.meta(meta::kOneDnnVersion, version);
    }
    if (std::string_view threads = after("nthr:"); !threads.empty() && text.substr(0, 4) == "cpu,") {
      builder_.meta(meta::kOpenMpThreads, threads.substr(0, threads.find(',')));
    }
    if (const std::string_view isa = after("isa:"); !isa.empty()) builder_.meta("onednn.isa", isa);
    if (const std::string_view runtime = after("cpu,runtime:"); !runtime.empty()) {
      builder_.meta("onednn.cpu_runtime", runtime.substr(0, runtime.find(',')));
    }
  }

  void finish() {
    if (other_ > 0) builder_.tally().record("lines other") += other_;
    nccl_.end();
    ImportedInput& input = builder_.tally().input();
    input.format = mkl_ && version_.empty() ? "MKL verbose log" : "oneDNN verbose log";
    input.version = version_;
    if (verbose_lines_ == 0) {
      input.format = "NCCL debug log";
      input.version = nccl_.version();
    }
    if (!timed_ && verbose_lines_ == 0) {
      input.clock = "none: the lines carry no timestamps";
      builder_.meta("import.timeline", "order only");
      builder_.tally().note(
          fmt::format("{}: calls of collectives are known by their order alone", input.path));
    } else if (untimed_ && !timed_) {
      input.clock = "none: the lines carry no timestamps";
      builder_.meta("import.timeline", "order only");
      builder_.tally().note(
          fmt::format("{}: without timestamps (ONEDNN_VERBOSE_TIMESTAMP=1) only the order is known: events "
                      "are laid end to end, "
                      "and gaps mean nothing",
                      input.path));
    } else {
      input.clock = "milliseconds since 1970";
    }
    builder_.meta(meta::kProducer,
                  version_.empty() || verbose_lines_ == 0 ? input.format : "oneDNN " + version_);
  }

  Window& window_;
  const std::size_t longest_;
  Builder& builder_;
  NcclLog nccl_;
  KnownLines known_;
  std::optional<KnownLine> taken_;  // the result of the last line, where the next line may repeat it
  std::int64_t other_ = 0;
  std::int64_t verbose_lines_ = 0;
  std::int64_t cursor_ = 0;
  bool timed_ = false;
  bool untimed_ = false;
  bool mkl_ = false;
  std::string version_;
};

}  // namespace

Status readOneDnn(Window& window, const ImportOptions& options, Builder& builder, bool& found) {
  auto status = VerboseLog(window, options, builder).run(found);
  if (status.has_value() && !window.source().damage().empty())
    builder.tally().damaged(window.source().damage());
  return status;
}

}  // namespace pitwall::import
