#include "analyzer/record/sample/sample_log.h"

#include <algorithm>
#include <utility>

namespace pitwall::record {
namespace {

template <class Row>
std::uint32_t lastIndex(const std::vector<Row>& rows) {
  return static_cast<std::uint32_t>(rows.size() - 1);
}

}  // namespace

ProcessRef SampleLog::process(ProcessInfo info) {
  processes_.push_back({std::move(info), {}});
  return {lastIndex(processes_)};
}

ThreadRef SampleLog::thread(ProcessRef process, std::int64_t tid) {
  threads_.push_back({process.index, tid, {}, {}});
  return {lastIndex(threads_)};
}

void SampleLog::nameThread(ThreadRef thread, std::string name) {
  threads_[thread.index].name = std::move(name);
}

DeviceRef SampleLog::device(DeviceInfo info) {
  devices_.push_back({std::move(info), {}});
  return {lastIndex(devices_)};
}

SeriesRef SampleLog::series(ProcessRef process, std::string name, std::string unit) {
  series_.push_back({process.index, kNone, kNone, std::move(name), std::move(unit), {}, {}});
  return {lastIndex(series_)};
}

SeriesRef SampleLog::series(ThreadRef thread, std::string name, std::string unit) {
  const std::uint32_t process = threads_[thread.index].process;
  series_.push_back({process, thread.index, kNone, std::move(name), std::move(unit), {}, {}});
  return {lastIndex(series_)};
}

SeriesRef SampleLog::series(ProcessRef process, DeviceRef device, std::string name, std::string unit) {
  series_.push_back({process.index, kNone, device.index, std::move(name), std::move(unit), {}, {}});
  return {lastIndex(series_)};
}

ProcessId SampleLog::idOf(std::uint32_t process) {
  Process& row = processes_[process];
  if (!row.id) row.id = sink_.process(row.info);
  return row.id;
}

void SampleLog::writeSeries(Series& series) {
  if (series.pending.empty()) return;
  if (!series.id) {
    TrackInfo track;
    track.kind = TrackKind::counter;
    track.process = idOf(series.process);
    track.name = series.name;
    track.unit = series.unit;
    if (series.thread != kNone) {
      Thread& thread = threads_[series.thread];
      if (!thread.id) thread.id = sink_.thread({track.process, thread.tid, thread.name});
      track.thread = thread.id;
    }
    if (series.device != kNone) {
      Device& device = devices_[series.device];
      if (!device.id) device.id = sink_.device(device.info);
      track.device = device.id;
    }
    series.id = sink_.track(track);
  }
  sink_.counters(series.id, series.pending);
  samples_written_ += static_cast<std::int64_t>(series.pending.size());
  series.pending.clear();
}

void SampleLog::forgetBefore(TimeNs time_ns) {
  for (Series& series : series_) {
    const auto kept = std::ranges::find_if(
        series.pending, [time_ns](const CounterSample& sample) { return sample.time_ns >= time_ns; });
    series.pending.erase(series.pending.begin(), kept);
  }
}

void SampleLog::write(TimeNs now_ns) {
  if (window_ns_) return forgetBefore(now_ns - *window_ns_);
  for (std::uint32_t i = 0; i < processes_.size(); ++i) idOf(i);
  for (Series& series : series_) writeSeries(series);
}

void SampleLog::writeAll(TimeNs now_ns) {
  write(now_ns);
  window_ns_.reset();
  write(now_ns);
}

}  // namespace pitwall::record
