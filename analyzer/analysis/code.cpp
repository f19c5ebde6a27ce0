// Functions on sampled stacks: analysis_code and analysis_startup.
#include "analyzer/analysis/code.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/native_functions.h"
#include "analyzer/analysis/stack_sums.h"
#include "analyzer/analysis/temp_table.h"
#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kCodeColumns[] = {
    {"process", kInteger, "id", "process number in the trace; 0 = none"},
    {"thread", kText, "", "name of the thread"},
    {"thread_id", kInteger, "id", "thread number in the trace"},
    {"is_main", kInteger, "0 or 1", "1 = the process's first thread"},
    {"is_first_process", kInteger, "0 or 1",
     "1 = the first process of its rank whose functions are known: the program, and not one of its workers"},
    {"function", kText, "", "name with its classes; empty = only the thread's state is known"},
    {"file", kText, "", "source file; of native code its library or program"},
    {"line", kInteger, "number",
     "line that most of the self time is at, else of the total time; 0 = unknown"},
    {"language", kText, "", "'python', 'native'; empty = no function"},
    {"state", kText, "",
     "'running' (on a CPU or ready for one), 'waiting: interpreter lock', 'sleeping' or another 'waiting: "
     "...'"},
    {"samples", kInteger, "count", "stacks whose innermost function it is, in that state"},
    {"self_ns", kInteger, "ns", "time in the function itself"},
    {"total_ns", kInteger, "ns", "time in it or in what it calls; recursion counts once"},
    {"outside_events_ns", kInteger, "ns",
     "of self_ns: the thread is in no operator, call or wait that was recorded otherwise"},
    {"startup_ns", kInteger, "ns", "of total_ns: before the first iteration; 0 without iterations"},
    {"share", kReal, "0..1", "self_ns of the time in which the thread's stack is known"},
};
constexpr Column kStartupColumns[] = {
    {"process", kInteger, "id", "process number in the trace"},
    {"function", kText, "",
     "outermost Python function that is not of Python's own start ('<frozen runpy>'): usually the main "
     "script's "
     "'<module>'"},
    {"file", kText, "", "its source file; '<string>' for python -c"},
    {"line", kInteger, "number", "line that it executes"},
    {"total_ns", kInteger, "ns", "time at that line and in what it calls"},
    {"import_ns", kInteger, "ns", "of total_ns: within Python's import"},
};
constexpr TableDeclaration kCodeTable{
    "analysis_code",
    "A function on the sampled stacks of a thread, in one state. Each sample counts until the next one.",
    kCodeColumns};
constexpr TableDeclaration kStartupTable{"analysis_startup",
                                         "What the first thread of each Python process executed before the "
                                         "trace's first iteration, by line of its "
                                         "outermost function. No rows without iterations.",
                                         kStartupColumns};

namespace {

constexpr char kRunningState[] = "running", kInterpreterLock[] = "waiting: interpreter lock";

struct Function {
  std::string_view name, file, language;
  auto operator<=>(const Function&) const = default;
};

struct CodeRow {
  std::int64_t samples = 0;
  TimeNs self_ns = 0, total_ns = 0, outside_ns = 0, startup_ns = 0;
  std::map<std::int64_t, std::pair<TimeNs, TimeNs>> lines;  // self and total time

  std::int64_t line() const {
    const auto most = std::ranges::max_element(
        lines, {}, [](const auto& line) { return std::pair(line.second.first, line.second.second); });
    return most == lines.end() ? 0 : most->first;
  }
};

// A stack's frames, innermost first, and its state.
struct Unfolded {
  std::vector<const FrameInfo*> frames;
  std::string_view state = kRunningState;
};

Unfolded unfold(const Trace& trace, StackId stack) {
  constexpr std::size_t kMostFrames = 1024;  // the recorder's limit; a damaged file may have more
  Unfolded unfolded;
  for (; stack && unfolded.frames.size() < kMostFrames; stack = trace.stacks()[stack.value - 1].caller) {
    const FrameInfo& frame = trace.frames()[trace.stacks()[stack.value - 1].frame.value - 1];
    if (frame.language == kStateLanguage) {
      unfolded.state = frame.function;
    } else {
      unfolded.frames.push_back(&frame);
    }
  }
  return unfolded;
}

// Whether it has frames and their innermost one has a name.
bool isNamed(const Unfolded& unfolded) {
  return !unfolded.frames.empty() && !unfolded.frames.front()->function.empty();
}

// The first process of each rank whose functions are known, and for a time comparable to the longest: a shell that
// starts the program is not the program, nor are the workers that it starts.
std::set<ProcessId> firstProcesses(const Trace& trace, const std::vector<ThreadStacks>& threads) {
  std::map<ProcessId, TimeNs> named_ns;
  for (const ThreadStacks& thread : threads) {
    if (!thread.is_first) continue;
    for (const auto& [stack, time] : thread.stacks) {
      if (isNamed(unfold(trace, stack))) named_ns[thread.process] += time.total_ns;
    }
  }
  const auto rankOf = [&](ProcessId process) { return trace.processes()[process.value - 1].rank; };
  std::map<int, TimeNs> longest;
  for (const auto& [process, time] : named_ns)
    longest[rankOf(process)] = std::max(longest[rankOf(process)], time);
  std::set<int> ranks;
  std::set<ProcessId> first;
  for (const auto& [process, time] : named_ns) {
    const int rank = rankOf(process);
    if (time >= longest[rank] / 2 && ranks.insert(rank).second) first.insert(process);
  }
  return first;
}

class CodeTables {
 public:
  explicit CodeTables(Trace& trace) : trace_(trace), code_(kCodeTable), startup_(kStartupTable) {}

  Status write() {
    const auto threads = PITWALL_TRY(sumStacks(trace_));
    first_processes_ = firstProcesses(trace_, threads);
    tree_.emplace_back();
    for (const ThreadStacks& thread : threads) addThread(thread);
    writeStartup();
    PITWALL_TRY(writeNativeFunctions(trace_, threads));
    PITWALL_TRY(code_.write(trace_));
    return startup_.write(trace_);
  }

  std::vector<CodeNode> takeTree() { return std::move(tree_); }

  void addWaits(CodeReport& report) const {
    for (const auto& [place, total_ns] : waits_) {
      report.waiting_ns += total_ns;
      if (total_ns <= report.longest_wait.total_ns) continue;
      const auto& [function, file, line, state] = place;
      report.longest_wait = {.function = std::string(function),
                             .file = std::string(file),
                             .line = line,
                             .state = std::string(state),
                             .total_ns = total_ns};
    }
  }

 private:
  using Key = std::tuple<Function, std::string_view>;  // and the state

  void addThread(const ThreadStacks& thread) {
    std::map<Key, CodeRow> rows;
    for (const auto& [stack, time] : thread.stacks) {
      const Unfolded unfolded = unfold(trace_, stack);
      addStack(unfolded, time, rows);
      addToTree(thread, unfolded, time.total_ns);
      addWait(thread, unfolded, time.total_ns);
      if (thread.is_first && time.startup_ns > 0) addStartup(thread.process, unfolded, time.startup_ns);
    }
    const std::string name = thread.thread ? trace_.threads()[thread.thread.value - 1].name : "";
    for (const auto& [key, row] : rows) {
      const auto& [function, state] = key;
      const double share = thread.sampled_ns > 0
                               ? static_cast<double>(row.self_ns) / static_cast<double>(thread.sampled_ns)
                               : 0;
      code_.row({std::int64_t{thread.process.value}, name, std::int64_t{thread.thread.value},
                 std::int64_t{thread.is_first}, std::int64_t{first_processes_.contains(thread.process)},
                 std::string(function.name), std::string(function.file), row.line(),
                 std::string(function.language), std::string(state), row.samples, row.self_ns, row.total_ns,
                 row.outside_ns, row.startup_ns, share});
    }
  }

  static void addStack(const Unfolded& unfolded, const StackTime& time, std::map<Key, CodeRow>& rows) {
    std::set<Function> seen;  // recursion counts once
    const auto add = [&](const Function& function, std::int64_t line, bool is_self) {
      if (!seen.insert(function).second) return;
      CodeRow& row = rows[{function, unfolded.state}];
      row.total_ns += time.total_ns;
      row.startup_ns += time.startup_ns;
      row.lines[line].second += time.total_ns;
      if (!is_self) return;
      row.samples += time.samples;
      row.self_ns += time.total_ns;
      row.outside_ns += time.outside_ns;
      row.lines[line].first += time.total_ns;
    };
    if (unfolded.frames.empty()) add({}, 0, true);
    for (std::size_t i = 0; i < unfolded.frames.size(); ++i) {
      const FrameInfo& frame = *unfolded.frames[i];
      add({frame.function, frame.file, frame.language}, frame.line, i == 0);
    }
  }

  static bool runs(const Unfolded& unfolded) {
    return unfolded.state == kRunningState || unfolded.state == kInterpreterLock;
  }
  bool isMain(const ThreadStacks& thread) const {
    return thread.is_first && first_processes_.contains(thread.process);
  }

  void addWait(const ThreadStacks& thread, const Unfolded& unfolded, TimeNs time_ns) {
    if (!isNamed(unfolded) || runs(unfolded) || !isMain(thread)) return;
    const auto own = std::ranges::find_if_not(unfolded.frames, [](const FrameInfo* frame) {
      return frame->file.starts_with("<frozen ") || frame->file.find("/lib/python") != std::string::npos;
    });
    const FrameInfo& frame = own != unfolded.frames.end() ? **own : *unfolded.frames.front();
    waits_[{frame.function, frame.file, frame.line, unfolded.state}] += time_ns;
  }

  // The stacks that kShown selects.
  void addToTree(const ThreadStacks& thread, const Unfolded& unfolded, TimeNs time_ns) {
    if (!isNamed(unfolded) || (!runs(unfolded) && !isMain(thread))) return;
    std::size_t at = 0;
    tree_[0].total_ns += time_ns;
    const auto enter = [&](std::string_view name, std::string_view language) {
      const auto [found, fresh] = places_.try_emplace({at, name, language}, tree_.size());
      if (fresh)
        tree_.push_back({.name = std::string(name), .language = std::string(language), .parent = at});
      at = found->second;
      tree_[at].total_ns += time_ns;
    };
    for (auto frame = unfolded.frames.rbegin(); frame != unfolded.frames.rend(); ++frame)
      enter((*frame)->function, (*frame)->language);
    if (unfolded.state != kRunningState) enter(unfolded.state, kStateLanguage);
  }

  void addStartup(ProcessId process, const Unfolded& unfolded, TimeNs time_ns) {
    bool imports = false;
    const FrameInfo* outermost = nullptr;
    for (const FrameInfo* frame : unfolded.frames) {
      imports |= frame->file.starts_with("<frozen importlib");
      if (frame->language == "python" && !frame->file.starts_with("<frozen ")) outermost = frame;
    }
    if (outermost == nullptr) return;
    auto& row = startup_rows_[{process, outermost->function, outermost->file, outermost->line}];
    row.first += time_ns;
    if (imports) row.second += time_ns;
  }

  void writeStartup() {
    for (const auto& [place, times] : startup_rows_) {
      const auto& [process, function, file, line] = place;
      startup_.row({std::int64_t{process.value}, std::string(function), std::string(file), line, times.first,
                    times.second});
    }
  }

  Trace& trace_;
  TempTable code_, startup_;
  std::set<ProcessId> first_processes_;
  std::vector<CodeNode> tree_;
  std::map<std::tuple<std::size_t, std::string_view, std::string_view>, std::size_t> places_;  // in tree_
  std::map<std::tuple<ProcessId, std::string_view, std::string_view, std::int64_t>, std::pair<TimeNs, TimeNs>>
      startup_rows_;
  std::map<std::tuple<std::string_view, std::string_view, std::int64_t, std::string_view>, TimeNs> waits_;
};

// Rows of analysis_code of which the report consists. Waits of other threads and processes are mostly waits for work.
constexpr char kShown[] =
    "function <> '' AND (state IN ('running', 'waiting: interpreter lock') OR (is_main AND "
    "is_first_process))";

Status addFunctions(Trace& trace, CodeReport& report) {
  const auto rows = PITWALL_TRY(trace.query(fmt::format(
      "WITH part AS (SELECT *, state = 'running' AS runs, state = 'waiting: interpreter lock' AS locked FROM "
      "analysis_code WHERE {}) "
      "SELECT function, file, language, max(line) FILTER (WHERE rank = 1), sum(self_ns) AS self, "
      "sum(self_ns * runs), sum(self_ns * locked), sum(self_ns * (1 - runs - locked)), sum(total_ns), "
      "sum(outside_events_ns), max(state) FILTER (WHERE rank_waiting = 1 AND NOT runs AND self_ns > 0), "
      "sum(samples) FROM "
      "(SELECT *, row_number() OVER (PARTITION BY function, file ORDER BY self_ns DESC, total_ns DESC) AS "
      "rank, row_number() OVER (PARTITION BY function, file ORDER BY runs, self_ns DESC) AS rank_waiting "
      "FROM part) GROUP BY function, file, language HAVING self > 0 ORDER BY self DESC, function, file",
      kShown)));
  for (const auto& row : rows.rows) {
    report.rows.push_back({.function = textOf(row[0]),
                           .file = textOf(row[1]),
                           .language = textOf(row[2]),
                           .line = integerOf(row[3]),
                           .self_ns = integerOf(row[4]),
                           .running_ns = integerOf(row[5]),
                           .lock_ns = integerOf(row[6]),
                           .waiting_ns = integerOf(row[7]),
                           .total_ns = integerOf(row[8]),
                           .outside_events_ns = integerOf(row[9]),
                           .wait = textOf(row[10])});
    report.self_ns += report.rows.back().self_ns;
    report.busy_ns += report.rows.back().busyNs();
    report.samples += integerOf(row[11]);
  }
  return {};
}

Status addStartup(Trace& trace, CodeReport& report) {
  const auto startup = PITWALL_TRY(trace.query(
      "WITH process AS (SELECT process, count(*) OVER () AS processes FROM analysis_startup GROUP BY process "
      "ORDER BY sum(total_ns) DESC, process LIMIT 1) "
      "SELECT function, file, line, total_ns, import_ns, processes FROM analysis_startup JOIN process USING "
      "(process) ORDER BY total_ns DESC, file, line"));
  for (const auto& row : startup.rows) {
    report.startup.push_back({.function = textOf(row[0]),
                              .file = textOf(row[1]),
                              .line = integerOf(row[2]),
                              .total_ns = integerOf(row[3]),
                              .imports = 2 * integerOf(row[4]) > integerOf(row[3])});
    report.startup_ns += integerOf(row[3]);
    report.startup_processes = integerOf(row[5]);
  }
  if (!trace.iterations().empty()) report.first_iteration_ns = trace.iterations().front().time_ns;
  return {};
}

}  // namespace

Result<CodeReport> writeCode(Trace& trace) {
  CodeReport report;
  CodeTables tables(trace);
  PITWALL_TRY(tables.write());
  report.tree = tables.takeTree();
  tables.addWaits(report);
  PITWALL_TRY(addFunctions(trace, report));
  PITWALL_TRY(addStartup(trace, report));
  return report;
}

}  // namespace pitwall::analysis
