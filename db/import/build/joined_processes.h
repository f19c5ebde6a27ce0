// A profile beside a recording of the same program: what a profiler inside the program wrote and what was recorded from
// outside are one process with its threads.
#pragma once

#include <map>
#include <utility>

#include "db/forwarding_sink.h"

namespace pitwall::import {

// Between the readers and the trace. Recordings are read first. A process of a later input that has the id and the rank
// of exactly one recorded process is that process; a thread of it with a known id is that thread.
class JoinedProcesses : public ForwardingSink {
 public:
  explicit JoinedProcesses(TraceSink& next) : ForwardingSink(next) {}

  // The inputs from now on are recordings, or profiles that may belong to them.
  void readingRecordings(bool recordings) { recordings_ = recordings; }

  ProcessId process(const ProcessInfo& info) override;
  ThreadId thread(const ThreadInfo& info) override;

 private:
  using PidAndRank = std::pair<std::int64_t, int>;

  bool recordings_ = true;
  std::map<PidAndRank, ProcessId> recorded_;                            // none where two have the same
  std::map<std::pair<std::uint32_t, std::int64_t>, ThreadId> threads_;  // of recorded processes, by tid
};

}  // namespace pitwall::import
