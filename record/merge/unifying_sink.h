// A TraceSink before another one, for parts of one recording: what two parts say of the same process (by its
// id), thread or device becomes one row, named as the first part did. What knows no process, as oneDNN's log,
// belongs to the first process. Facts (meta) that only a later part tells are the trace's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "db/forwarding_sink.h"

namespace pitwall::record {

class UnifyingSink : public ForwardingSink {
 public:
  // The first part tells of `first_part` processes, each of them one of its own.
  UnifyingSink(TraceSink& inner, std::size_t first_part) : ForwardingSink(inner), first_part_(first_part) {}

  ProcessId process(const ProcessInfo& info) override;
  ThreadId thread(const ThreadInfo& info) override;
  DeviceId device(const DeviceInfo& info) override;
  void meta(std::string_view key, std::string_view value) override;

 private:
  std::size_t first_part_;
  std::size_t told_ = 0;  // processes so far
  ProcessId first_;
  // The last of one id: an exec makes another program of the same process, and later parts tell of that one.
  std::map<std::int64_t, ProcessId> processes_;
  std::map<std::pair<std::uint32_t, std::int64_t>, ThreadId> threads_;
  std::map<std::pair<std::string, int>, DeviceId> devices_;
  std::set<std::string, std::less<>> facts_;  // keys told so far
};

}  // namespace pitwall::record
