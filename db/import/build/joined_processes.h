// A profile beside a recording of the same program: what a profiler inside the program wrote and what was recorded from
// outside are one process with its threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/forwarding_sink.h"

namespace pitwall::import {

// Where and when an input's processes ran, as far as it is known.
struct InputOrigin {
  std::string host;  // its name; "" = unknown
  // The first and last time of an event, ns since 1970.
  std::optional<std::pair<std::int64_t, std::int64_t>> unix_span;
};

// Between the readers and the trace. Recordings are read first. A process of a later input whose number is the system's
// is the recorded one of the same number and rank, if exactly one may be it: hosts of different names and times that do not
// overlap exclude that. A thread of it with a known id is that thread.
class JoinedProcesses : public ForwardingSink {
 public:
  explicit JoinedProcesses(TraceSink& next) : ForwardingSink(next) {}

  // The input that is read from now on.
  void readingRecording(InputOrigin origin);
  void readingProfile(InputOrigin origin);

  // The recorded process that this one is, by a number that is the system's; none where it is another one.
  // `host`: where the input gives it for the process.
  std::optional<ProcessId> recorded(const ProcessInfo& info, std::string_view host) const;

  ProcessId process(const ProcessInfo& info) override;
  ThreadId thread(const ThreadInfo& info) override;

 private:
  struct Recorded {
    ProcessId id;
    std::size_t recording = 0;
  };

  bool recordings_ = true;
  std::vector<InputOrigin> origins_;  // of the recordings
  InputOrigin profile_;
  std::map<std::pair<std::int64_t, int>, std::vector<Recorded>> processes_;  // recorded ones, by pid and rank
  std::map<std::pair<std::uint32_t, std::int64_t>, ThreadId> threads_;       // of recorded processes, by tid
};

}  // namespace pitwall::import
