// Native functions that threads execute, whatever called them: analysis_native. Python's functions say which line of the
// program calls a library; these say which library has the time.
#include "analyzer/analysis/native_functions.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kNativeColumns[] = {
    {"process", kInteger, "id", "process number in the trace; 0 = none"},
    {"thread", kText, "", "name of the thread"},
    {"thread_id", kInteger, "id", "thread number in the trace"},
    {"is_main", kInteger, "0 or 1", "1 = the process's first thread"},
    {"function", kText, "", "name; of a library without symbols '[libname.so]'"},
    {"file", kText, "", "its library or program"},
    {"library", kText, "", "base name of that file"},
    {"samples", kInteger, "count",
     "samples in it, while the thread ran; time in the kernel counts for the caller"},
    {"self_ns", kInteger, "ns", "time in the function itself"},
    {"share", kReal, "0..1", "self_ns of the time in which the thread's native function is known"},
};
constexpr TableDeclaration kNativeTable{"analysis_native",
                                        "A native function that a thread executed itself, from the first "
                                        "iteration on, whatever called it, Python "
                                        "included.",
                                        kNativeColumns};

namespace {

struct NativeTime {
  std::int64_t samples = 0;
  TimeNs self_ns = 0;
};
using NativeKey = std::pair<std::string_view, std::string_view>;  // function, file

// The rows of one thread.
void addThread(const Trace& trace, const ThreadStacks& thread, TempTable& table) {
  std::map<NativeKey, NativeTime> times;
  TimeNs all_ns = 0;
  for (const auto& [stack, time] : thread.stacks) {
    const FrameInfo& frame = trace.frames()[trace.stacks()[stack.value - 1].frame.value - 1];
    if (frame.language != "native") continue;
    NativeTime& sum = times[{frame.function, frame.file}];
    sum.samples += time.samples;
    sum.self_ns += time.total_ns - time.startup_ns;
    all_ns += time.total_ns - time.startup_ns;
  }
  const std::string name = thread.thread ? trace.threads()[thread.thread.value - 1].name : "";
  for (const auto& [key, time] : times) {
    const auto& [function, file] = key;
    const std::string_view library = file.substr(file.rfind('/') + 1);
    table.row({std::int64_t{thread.process.value}, name, std::int64_t{thread.thread.value},
               std::int64_t{thread.is_first}, std::string(function), std::string(file), std::string(library),
               time.samples, time.self_ns,
               all_ns > 0 ? static_cast<double>(time.self_ns) / static_cast<double>(all_ns) : 0.0});
  }
}

}  // namespace

Status writeNativeFunctions(Trace& trace, std::span<const ThreadStacks> stacks) {
  TempTable table(kNativeTable);
  const auto of_python = PITWALL_TRY(sumNativeFunctions(trace));
  for (const ThreadStacks& thread : of_python) addThread(trace, thread, table);
  for (const ThreadStacks& thread : stacks) {
    bool known = false;
    for (const ThreadStacks& python : of_python) known |= thread.thread && python.thread == thread.thread;
    if (!known) addThread(trace, thread, table);
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
