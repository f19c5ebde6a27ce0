#include "analyzer/emit/code_section.h"

#include <algorithm>

#include "analyzer/emit/cells.h"

namespace pitwall::emit {
namespace {

constexpr std::size_t kShownFunctions = 10, kShownLines = 5;

void writeFunctions(const CodeReport& code, Emitter& emitter) {
  bool locks = false, waits = false, inside = false;
  for (const CodeRow& row : code.rows) {
    inside |= row.outside_events_ns < row.self_ns;
    locks |= row.lock_ns > 0;
    waits |= row.waiting_ns > 0;
  }
  const auto when = [](bool condition, const char* title) { return condition ? title : ""; };
  Table table{{{"function", "function"},
               {"", "at"},
               {"file", ""},
               {"line", ""},
               {"language", ""},
               {"self_ns", "self", Align::right},
               {"outside_events_ns", when(inside, "outside"), Align::right},
               {"running_ns", when(locks || waits, "running"), Align::right, true, true},
               {"interpreter_lock_ns", when(locks, "GIL"), Align::right, true, true},
               {"waiting_ns", when(waits, "waiting"), Align::right, true, true},
               {"wait", ""},
               {"total_ns", "total", Align::right, true, true},
               {"share", "share", Align::right}}};
  table.text_rows = kShownFunctions;
  table.gap = 1;
  for (const CodeRow& row : code.rows) {
    const double part =
        code.self_ns > 0 ? static_cast<double>(row.self_ns) / static_cast<double>(code.self_ns) : 0;
    table.rows.push_back({text(row.function), textOnly(sourcePlace(row.file, row.line)), jsonOnly(row.file),
                          jsonOnly(row.line), jsonOnly(row.language), duration(row.self_ns),
                          duration(row.outside_events_ns), duration(row.running_ns), duration(row.lock_ns),
                          duration(row.waiting_ns), jsonOnly(row.wait), duration(row.total_ns), share(part)});
  }
  emitter.table("functions", "", table);
}

void writeStartup(const CodeReport& code, Emitter& emitter) {
  std::string lines;
  const std::size_t shown = std::min(kShownLines, code.startup.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const StartupRow& row = code.startup[i];
    if (!lines.empty()) lines += ", ";
    lines += fmt::format("{} {}{}", sourcePlace(row.file, row.line),
                         showDuration(static_cast<double>(row.total_ns)), row.imports ? " (imports)" : "");
  }
  if (shown > 0) {
    const std::string which =
        code.startup_processes > 1 ? fmt::format(" (slowest of {} processes)", code.startup_processes) : "";
    emitter.paragraph(fmt::format("Before the first iteration, {}{}: {}{}.",
                                  showDuration(static_cast<double>(code.startup_ns)), which, lines,
                                  code.startup.size() > shown ? ", ..." : ""));
  }
  Table table{{{"function", ""}, {"file", ""}, {"line", ""}, {"total_ns", ""}, {"imports", ""}}};
  for (const StartupRow& row : code.startup) {
    table.rows.push_back({jsonOnly(row.function), jsonOnly(row.file), jsonOnly(row.line),
                          jsonOnly(row.total_ns), jsonOnly(row.imports)});
  }
  table.text_rows = 0;
  emitter.table("startup", "", table);
}

}  // namespace

std::string sourcePlace(const std::string& file, std::int64_t line) {
  std::string text = file.substr(file.rfind('/') + 1);
  if (line > 0) text += fmt::format(":{}", line);
  return text;
}

void writeCodeSection(const CodeReport& code, Emitter& emitter) {
  if (code.rows.empty()) return;
  emitter.heading("FUNCTIONS, by the time that they take themselves");
  emitter.beginObject("code");
  emitter.field("samples", "", jsonOnly(code.samples));
  writeFunctions(code, emitter);
  TimeNs outside = 0;
  for (const CodeRow& row : code.rows) outside += row.outside_events_ns;
  std::string sentence = fmt::format(
      "From {} sampled stacks: time on a CPU or waiting for Python's interpreter lock (GIL), and waits of "
      "the "
      "program's first thread in Python functions.",
      showCount(code.samples));
  if (outside < code.self_ns) {
    sentence += fmt::format(" Of {}, {} are outside recorded operators, calls and waits.",
                            showDuration(static_cast<double>(code.self_ns)),
                            showDuration(static_cast<double>(outside)));
  }
  emitter.paragraph(sentence);
  writeStartup(code, emitter);
  emitter.endObject();
}

}  // namespace pitwall::emit
