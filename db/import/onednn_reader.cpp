// Verbose logs of oneDNN and MKL. With timestamps the lines are placed where they say; without, only their
// order is known: they are laid end to end, so that sums are right and gaps mean nothing (the summary and the
// meta key import.timeline say so).
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "db/import/onednn_line.h"
#include "db/import/readers.h"
#include "db/import/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

using Kind = VerboseLine::Kind;

class VerboseLog {
 public:
  VerboseLog(Window& window, const ImportOptions& options, Builder& builder)
      : window_(window), longest_(static_cast<std::size_t>(options.limits.line_bytes)), builder_(builder) {}

  Status run(bool& found) {
    for (;;) {
      const std::string_view view = window_.view();
      const std::size_t newline = view.find('\n');
      if (newline != std::string_view::npos) {
        line(view.substr(0, newline));
        window_.take(newline + 1);
      } else if (window_.atEnd()) {
        if (!view.empty()) line(view);
        window_.take(view.size());
        break;
      } else if (view.size() > longest_) {
        if (!in_long_line_) line(view.substr(0, longest_));
        in_long_line_ = true;
        window_.take(view.size());
        continue;
      } else if (auto more = window_.more(longest_ * 64); !more.has_value()) {
        return more;
      } else {
        continue;
      }
      in_long_line_ = false;
    }
    found = verbose_lines_ > 0;
    if (found) finish();
    return {};
  }

 private:
  void line(std::string_view text) {
    if (in_long_line_) return;  // the tail of a line whose head was read
    if (text.size() > longest_) {
      builder_.repaired("lines that are too long: cut", window_.place());
      text = text.substr(0, longest_);
    }
    constexpr std::string_view kMkl = "MKL_VERBOSE ";
    auto marker = findMarker(text, 0);
    if (!marker) {
      if (const std::size_t at = text.find(kMkl); at != std::string_view::npos) {
        ++verbose_lines_;
        mkl_ = true;
        take(parseMklVerbose(text.substr(at + kMkl.size())), text);
      } else if (text.find_first_not_of(" \t\r") != std::string_view::npos) {
        ++builder_.record("lines other");
      }
      return;
    }
    while (marker) {  // two threads may have written into one line: every marker begins a piece of its own
      const auto next = findMarker(text, marker->fields);
      const std::size_t end = next ? next->at : text.size();
      ++verbose_lines_;
      VerboseLine parsed = parseVerbose(text.substr(marker->fields, end - marker->fields));
      if (next && parsed.kind != Kind::torn && parsed.kind != Kind::information) parsed.kind = Kind::torn;
      take(parsed, text);
      marker = next;
    }
  }

  std::string example(std::string_view text) const {
    return fmt::format("{}: {}", window_.place(), quoted(text, 160));
  }

  void take(const VerboseLine& line, std::string_view text) {
    switch (line.kind) {
      case Kind::information: ++builder_.record("lines info"); return information(line.text);
      case Kind::torn:
        ++builder_.record("lines torn");
        return builder_.dropped("torn lines (two threads wrote at once, or the log is cut)", example(text));
      case Kind::dispatch:
        ++builder_.record("lines dispatch");
        return builder_.notUnderstood("reasons why an implementation was not chosen: no place in a trace",
                                      example(text));
      case Kind::other:
        ++builder_.record("lines other verbose");
        return builder_.notUnderstood("verbose lines of other kinds", example(text));
      case Kind::execution: ++builder_.record("lines exec"); break;
      case Kind::creation: ++builder_.record("lines create"); break;
      case Kind::graph: ++builder_.record("lines graph"); break;
      case Kind::library_call: ++builder_.record("lines MKL"); break;
    }
    if (line.decimal_comma) builder_.repaired("times with a decimal comma", example(text));
    if (!line.dur_ns) builder_.repaired("executions without a time: length taken as 0", example(text));
    place(line);
  }

  void place(const VerboseLine& line) {
    Event event;
    event.dur_ns = line.dur_ns.value_or(0);
    if (line.timestamp_ns) {
      if (!timed_) builder_.wallClock(0);
      timed_ = true;
      cursor_ = std::max(cursor_, *line.timestamp_ns + event.dur_ns);
      event.start_ns = *line.timestamp_ns;
    } else {
      untimed_ = true;
      event.start_ns = cursor_;
      if (cursor_ < kLatestNs - event.dur_ns) cursor_ += event.dur_ns;
    }
    const std::string engine(line.engine.empty() ? "cpu" : line.engine.substr(0, 32));
    const ProcessRef process = builder_.process("verbose log");
    builder_.nameProcess(process, "program of the verbose log");
    if (line.kind == Kind::execution || line.kind == Kind::library_call) {
      event.kind = EventKind::operatorRun;
      event.op = factsOf(line);
    }
    if (line.kind == Kind::creation) {
      event.name = builder_.name(fmt::format("{} {}", line.operation, line.primitive));
      builder_.add(builder_.lane(process, "oneDNN primitives created: " + engine), event);
    } else if (line.kind == Kind::graph) {
      event.name = builder_.name(fmt::format("graph partition {}", line.primitive));
      builder_.add(builder_.lane(process, "oneDNN graph partitions: " + engine), event);
    } else {
      event.name = builder_.name(line.primitive);
      builder_.add(builder_.lane(process, line.kind == Kind::library_call ? "MKL calls"
                                                                          : "oneDNN primitives: " + engine),
                   event);
    }
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
    return builder_.facts(facts);
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
    ImportedInput& input = builder_.input();
    input.format = mkl_ && version_.empty() ? "MKL verbose log" : "oneDNN verbose log";
    input.version = version_;
    if (untimed_ && !timed_) {
      input.clock = "none: the lines carry no timestamps";
      builder_.meta("import.timeline", "order only");
      builder_.note(
          fmt::format("{}: without timestamps (ONEDNN_VERBOSE_TIMESTAMP=1) only the order is known: events "
                      "are laid end to end, "
                      "and gaps mean nothing",
                      input.path));
    } else {
      input.clock = "milliseconds since 1970";
    }
    builder_.meta(meta::kProducer, version_.empty() ? input.format : "oneDNN " + version_);
  }

  Window& window_;
  const std::size_t longest_;
  Builder& builder_;
  std::int64_t verbose_lines_ = 0;
  std::int64_t cursor_ = 0;
  bool in_long_line_ = false;
  bool timed_ = false;
  bool untimed_ = false;
  bool mkl_ = false;
  std::string version_;
};

}  // namespace

Status readOneDnn(Window& window, const ImportOptions& options, Builder& builder, bool& found) {
  auto status = VerboseLog(window, options, builder).run(found);
  if (status.has_value() && !window.source().damage().empty()) builder.damaged(window.source().damage());
  return status;
}

}  // namespace pitwall::import
