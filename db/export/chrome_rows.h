// The numbers of processes and rows in a Chrome trace, where a row is a pair of pid and tid.
//
// The operating system's numbers are kept where they are unique. Streams and counters of a device get a
// separate process, as in other profilers. Events that overlap on a row without nesting go to further rows of
// the same track, since viewers draw (and keep) only nested events.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/reader.h"

namespace pitwall::exporting {

struct ChromeRow {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string name;
};

struct ChromeProcess {
  std::int64_t pid = 0;
  std::string name;
  int rank = 0;
  std::int64_t sort_index = 0;
};

class ChromeRows {
 public:
  explicit ChromeRows(const Trace& trace);

  const std::vector<ChromeProcess>& processes() const { return processes_; }
  // First row of a track; of a counter only the pid and the name to show.
  const ChromeRow& of(TrackId track) const { return tracks_[track.value - 1]; }
  // Of a counter of a thread: the thread's row, which need not have a track.
  ChromeRow threadOf(TrackId counter);
  // A further row of the track's process.
  ChromeRow further(TrackId track, std::size_t number);
  // A row without a track, in the first process.
  ChromeRow extra(const std::string& name);

 private:
  std::size_t process(const Trace& trace, ProcessId id, DeviceId device);
  std::int64_t freePid(std::int64_t wanted);
  std::int64_t freeTid(std::int64_t pid, std::int64_t wanted);

  std::vector<ChromeProcess> processes_;
  std::vector<ChromeRow> tracks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_ids_;
  const Trace& trace_;
  std::map<std::uint32_t, ChromeRow> threads_;  // by ThreadId.value
  std::set<std::int64_t> pids_;
  std::set<std::pair<std::int64_t, std::int64_t>> tids_;
  std::set<std::pair<std::int64_t, std::string>> counters_;
};

// The row among those of one track on which a range nests, starting with 0. Ranges come ordered by start.
class Nesting {
 public:
  std::size_t place(TimeNs start_ns, TimeNs end_ns);

 private:
  std::vector<std::vector<TimeNs>> open_;  // ends of the open ranges, by row
};

}  // namespace pitwall::exporting
