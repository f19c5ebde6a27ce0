#include "analyzer/record/sample/thread_probe.h"

#include <algorithm>
#include <utility>

#include "db/proc_files.h"

namespace pitwall::record {
namespace {

constexpr TimeNs kLateNs = 20'000'000;  // two ticks of the slowest kernel clock

std::string& scratch() {
  thread_local std::string text;
  return text;
}

double perSecond(std::int64_t count, TimeNs from_ns, TimeNs to_ns) {
  return to_ns > from_ns ? static_cast<double>(count) * 1e9 / static_cast<double>(to_ns - from_ns) : 0;
}

}  // namespace

double ThreadProbe::Share::over(TimeNs from_ns, TimeNs to_ns) {
  const TimeNs length = to_ns - from_ns;
  if (length <= 0) return 0;
  const TimeNs reported = std::clamp<TimeNs>(total_ns - reported_ns, 0, length);
  reported_ns = std::max(reported_ns + reported, total_ns - kLateNs);
  last = static_cast<double>(reported) / static_cast<double>(length);
  return last;
}

bool ThreadProbe::read(host::RepeatedFile& file, int task_folder, const char* name, std::string& text) const {
  return file.readInto(task_folder, (std::to_string(tid_) + name).c_str(), text);
}

bool ThreadProbe::readSwitches(int task_folder) {
  std::string& text = scratch();
  if (!read(status_, task_folder, "/status", text)) return false;
  voluntary_ = host::fieldOf(text, "voluntary_ctxt_switches").value_or(voluntary_);
  forced_ = host::fieldOf(text, "nonvoluntary_ctxt_switches").value_or(forced_);
  return true;
}

ThreadRef ThreadProbe::row(int task_folder, ProcessRef process, SampleLog& log) {
  if (thread_) return *thread_;
  thread_ = log.thread(process, tid_);
  std::string& text = scratch();
  if (host::readFileInto(task_folder, (std::to_string(tid_) + "/comm").c_str(), text))
    log.nameThread(*thread_, text.substr(0, text.find('\n')));
  return *thread_;
}

void ThreadProbe::makeTracks(int task_folder, ProcessRef process, SampleLog& log) {
  const ThreadRef thread = row(task_folder, process, log);
  series_.cpu = log.series(thread, "cpu", "share");
  series_.waiting = log.series(thread, "waiting for a cpu", "share");
  series_.forced = log.series(thread, "forced switches", "1/s");
  series_.voluntary = log.series(thread, "voluntary switches", "1/s");
  series_.cpu_number = log.series(thread, "cpu number", "");
  series_.state = log.series(thread, "state", "");
}

// The system call may be read only for own descendants; where even that is forbidden, the state letter is
// used.
void ThreadProbe::readState(int task_folder, char letter, LockAddresses& locks) {
  std::string& text = scratch();
  const bool waits = letter == 'S' || letter == 'D';
  if (waits && syscall_readable_) {
    syscall_readable_ = read(syscall_, task_folder, "/syscall", text);
  }
  state_ =
      locks.stateOf(tid_, letter, waits && syscall_readable_ ? std::string_view(text) : std::string_view());
}

void ThreadProbe::startNow(int task_folder) {
  std::string& text = scratch();
  if (read(schedstat_, task_folder, "/schedstat", text)) {
    if (const auto sched = parseSchedStat(text)) {
      run_.total_ns = run_.reported_ns = sched->run_ns;
      wait_.reported_ns = sched->wait_ns;
    }
  }
  readSwitches(task_folder);
  reported_voluntary_ = voluntary_;
  reported_forced_ = forced_;
}

bool ThreadProbe::sample(int task_folder, const TraceClock& clock, ProcessRef process, LockAddresses& locks,
                         SampleLog& log) {
  std::string& text = scratch();
  if (!read(schedstat_, task_folder, "/schedstat", text)) return false;
  const auto sched = parseSchedStat(text);
  if (!sched) return false;
  const TimeNs now = clock.now();
  // A thread that has not run since then cannot have switched, moved or faulted: one read is enough.
  const bool moved = sched->timeslices != timeslices_ || sched->run_ns != run_.total_ns;
  ran_ns_ = sched->run_ns - run_.total_ns;
  run_.total_ns = sched->run_ns;
  wait_.total_ns = sched->wait_ns;
  if (moved) {
    if (!read(stat_, task_folder, "/stat", text)) return false;
    const auto stat = parseStat(text);
    if (!stat) return false;
    cpu_ = stat->cpu;
    readState(task_folder, stat->state, locks);
    if (sched->timeslices != timeslices_ && !readSwitches(task_folder)) return false;
    timeslices_ = sched->timeslices;
    if (++times_seen_ == 2) makeTracks(task_folder, process, log);
    if (hasTracks() && !name_kept_) log.nameThread(*thread_, stat->name);
  } else if (++times_seen_ == 2) {
    makeTracks(task_folder, process, log);
  }
  if (!hasTracks()) return true;  // its first interval is counted with the second
  log.add(series_.cpu, since_ns_, run_.over(since_ns_, now));
  log.add(series_.waiting, since_ns_, wait_.over(since_ns_, now));
  log.add(series_.forced, since_ns_, perSecond(forced_ - reported_forced_, since_ns_, now));
  log.add(series_.voluntary, since_ns_, perSecond(voluntary_ - reported_voluntary_, since_ns_, now));
  log.add(series_.cpu_number, now, cpu_);
  log.add(series_.state, now, static_cast<double>(state_));
  reported_forced_ = forced_;
  reported_voluntary_ = voluntary_;
  since_ns_ = now;
  return true;
}

void ThreadProbe::keepName(std::string name, SampleLog& log) {
  if (!thread_) return;
  log.nameThread(*thread_, std::move(name));
  name_kept_ = true;
}

double ThreadProbe::wouldRunNs(TimeNs now_ns) const {
  return hasTracks() ? run_.last * static_cast<double>(std::max<TimeNs>(now_ns - since_ns_, 0)) : 0;
}

void ThreadProbe::end(TimeNs now_ns, double lived, SampleLog& log) {
  if (!hasTracks()) return;
  const auto length = static_cast<double>(std::max<TimeNs>(now_ns - since_ns_, 0));
  const TimeNs end = since_ns_ + static_cast<TimeNs>(length * lived);
  for (const SeriesRef series : {series_.cpu, series_.waiting, series_.forced, series_.voluntary}) {
    log.add(series, end, 0);
  }
}

}  // namespace pitwall::record
