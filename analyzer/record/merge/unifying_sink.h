// A TraceSink that merges the parts of one recording into another sink: rows of two parts for the same
// process (by its id), thread or device become one row, named as in the first part. Rows without a process,
// as from oneDNN's log, belong to the first process. Facts (meta) that only a later part has are kept, and the notes of all.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "db/forwarding_sink.h"

namespace pitwall::record {

// By the numbers of the process and the thread.
using ThreadNames = std::map<std::pair<std::int64_t, std::int64_t>, std::string>;

class UnifyingSink : public ForwardingSink {
 public:
  // The first part has `first_part` processes, each a separate one. `notes` come before those of the parts.
  // Threads that the first part knows by their program's name alone have those of `given`.
  UnifyingSink(TraceSink& inner, std::size_t first_part, std::string notes, ThreadNames given)
      : ForwardingSink(inner), first_part_(first_part), notes_(std::move(notes)), given_(std::move(given)) {}

  ProcessId process(const ProcessInfo& info) override;
  ThreadId thread(const ThreadInfo& info) override;
  DeviceId device(const DeviceInfo& info) override;
  void meta(std::string_view key, std::string_view value) override;

 private:
  std::size_t first_part_;
  std::string notes_;
  ThreadNames given_;
  std::map<std::uint32_t, ProcessInfo> infos_;  // by id
  std::size_t told_ = 0;                        // processes so far
  ProcessId first_;
  // The last of one id: after an exec the same process runs another program, and later parts belong to that
  // one.
  std::map<std::int64_t, ProcessId> processes_;
  std::map<std::pair<std::uint32_t, std::int64_t>, ThreadId> threads_;
  std::map<std::pair<std::string, int>, DeviceId> devices_;
  std::set<std::string, std::less<>> facts_;  // keys so far
};

}  // namespace pitwall::record
