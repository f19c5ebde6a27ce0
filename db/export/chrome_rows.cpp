#include "db/export/chrome_rows.h"

#include <fmt/format.h>

namespace pitwall::exporting {

namespace {

// Above every process id of Linux; all numbers stay below 2^31, since viewers may use 32-bit integers.
constexpr std::int64_t kFirstMadeUp = 5'000'000;
constexpr std::int64_t kGreatest = (std::int64_t{1} << 31) - 1;

bool isUsable(std::int64_t number) { return number > 0 && number < kGreatest; }

}  // namespace

std::int64_t ChromeRows::freePid(std::int64_t wanted) {
  if (isUsable(wanted) && pids_.insert(wanted).second) return wanted;
  std::int64_t pid = kFirstMadeUp;
  while (!pids_.insert(pid).second) ++pid;
  return pid;
}

std::int64_t ChromeRows::freeTid(std::int64_t pid, std::int64_t wanted) {
  if (isUsable(wanted) && tids_.insert({pid, wanted}).second) return wanted;
  std::int64_t tid = isUsable(wanted) ? kFirstMadeUp : 1;
  while (!tids_.insert({pid, tid}).second) ++tid;
  return tid;
}

std::size_t ChromeRows::process(const Trace& trace, ProcessId id, DeviceId device) {
  const auto [found, fresh] = by_ids_.try_emplace({id.value, device.value}, processes_.size());
  if (!fresh) return found->second;
  ChromeProcess process;
  std::int64_t wanted = 0;
  if (id && id.value <= trace.processes().size()) {
    const ProcessInfo& info = trace.processes()[id.value - 1];
    process.name = info.name;
    process.rank = info.rank;
    if (!device) wanted = info.pid;
  }
  if (device && device.value <= trace.devices().size()) {
    const DeviceInfo& info = trace.devices()[device.value - 1];
    const std::string owner = process.name.empty() ? "" : fmt::format(" of {}", process.name);
    process.name =
        fmt::format("{} {}{}{}{}", info.kind, info.index, info.name.empty() ? "" : ": ", info.name, owner);
  }
  if (process.name.empty()) process.name = "no process";
  process.pid = freePid(wanted);
  process.sort_index = static_cast<std::int64_t>(processes_.size());
  processes_.push_back(std::move(process));
  return found->second;
}

ChromeRows::ChromeRows(const Trace& trace) : trace_(trace) {
  for (std::size_t i = 0; i < trace.processes().size(); ++i)
    process(trace, ProcessId{static_cast<std::uint32_t>(i + 1)}, {});
  for (const TrackInfo& track : trace.tracks()) {
    const ChromeProcess& owner = processes_[process(
        trace, track.process, track.kind == TrackKind::thread ? DeviceId{} : track.device)];
    ChromeRow row;
    row.pid = owner.pid;
    row.name = track.name;
    std::string thread_name;
    std::int64_t wanted = 0;
    if (track.thread && track.thread.value <= trace.threads().size()) {
      const ThreadInfo& thread = trace.threads()[track.thread.value - 1];
      wanted = thread.tid;
      thread_name = thread.name;
    }
    if (track.kind == TrackKind::counter) {
      // Viewers distinguish counters of a process by name only.
      if (!thread_name.empty()) row.name += " (" + thread_name + ")";
      const std::string name = row.name;
      for (int n = 2; !counters_.insert({row.pid, row.name}).second; ++n)
        row.name = fmt::format("{} ({})", name, n);
      row.tid = static_cast<std::int64_t>(tracks_.size()) + 1;  // identifies the track; viewers ignore it
    } else {
      if (row.name.empty()) row.name = thread_name;
      row.tid = freeTid(row.pid, track.kind == TrackKind::thread ? wanted : 0);
      if (track.kind == TrackKind::thread) threads_.try_emplace(track.thread.value, row);
    }
    tracks_.push_back(std::move(row));
  }
}

ChromeRow ChromeRows::threadOf(TrackId counter) {
  const ThreadId id = trace_.tracks()[counter.value - 1].thread;
  const auto [found, fresh] = threads_.try_emplace(id.value);
  if (!fresh) return found->second;
  ChromeRow& row = found->second;
  row.pid = of(counter).pid;
  const bool known = id && id.value <= trace_.threads().size();
  if (known) row.name = trace_.threads()[id.value - 1].name;
  row.tid = freeTid(row.pid, known ? trace_.threads()[id.value - 1].tid : 0);
  return row;
}

ChromeRow ChromeRows::further(TrackId track, std::size_t number) {
  ChromeRow row = of(track);
  row.tid = freeTid(row.pid, row.tid);
  row.name = fmt::format("{} ({})", row.name, number + 1);
  return row;
}

ChromeRow ChromeRows::extra(const std::string& name) {
  if (processes_.empty()) processes_.push_back({freePid(0), "trace", 0, 0});
  const std::int64_t pid = processes_.front().pid;
  return {pid, freeTid(pid, 0), name};
}

std::size_t Nesting::place(TimeNs start_ns, TimeNs end_ns) {
  for (std::size_t row = 0;; ++row) {
    if (row == open_.size()) open_.emplace_back();
    std::vector<TimeNs>& open = open_[row];
    while (!open.empty() && open.back() <= start_ns) open.pop_back();
    if (!open.empty() && open.back() < end_ns) continue;
    if (end_ns > start_ns) open.push_back(end_ns);
    return row;
  }
}

}  // namespace pitwall::exporting
