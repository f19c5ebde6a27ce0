#include "db/import/build/joined_processes.h"

namespace pitwall::import {

ProcessId JoinedProcesses::process(const ProcessInfo& info) {
  const auto known = recorded_.find({info.pid, info.rank});
  if (!recordings_ && info.pid != 0 && known != recorded_.end() && known->second) return known->second;
  const ProcessId id = next().process(info);
  if (recordings_) {
    const auto [entry, fresh] = recorded_.try_emplace({info.pid, info.rank}, id);
    if (!fresh) entry->second = {};
  }
  return id;
}

ThreadId JoinedProcesses::thread(const ThreadInfo& info) {
  const auto known = threads_.find({info.process.value, info.tid});
  if (!recordings_ && info.tid != 0 && known != threads_.end()) return known->second;
  const ThreadId id = next().thread(info);
  if (recordings_) threads_.try_emplace({info.process.value, info.tid}, id);
  return id;
}

}  // namespace pitwall::import
