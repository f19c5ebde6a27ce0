#include "db/import/build/joined_processes.h"

namespace pitwall::import {
namespace {

// How far the clocks of two tools on one machine may differ. Not more: in containers, a program that is started
// again has the number that it had before.
constexpr std::int64_t kClocksDifferNs = 1'000'000'000;

bool mayBeSame(const InputOrigin& recording, const InputOrigin& profile, std::string_view host) {
  if (host.empty()) host = profile.host;
  if (!host.empty() && !recording.host.empty() && host != recording.host) return false;
  if (!recording.unix_span || !profile.unix_span) return true;
  return profile.unix_span->first <= recording.unix_span->second + kClocksDifferNs &&
         recording.unix_span->first <= profile.unix_span->second + kClocksDifferNs;
}

}  // namespace

void JoinedProcesses::readingRecording(InputOrigin origin) {
  recordings_ = true;
  origins_.push_back(std::move(origin));
}

void JoinedProcesses::readingProfile(InputOrigin origin) {
  recordings_ = false;
  profile_ = std::move(origin);
}

std::optional<ProcessId> JoinedProcesses::recorded(const ProcessInfo& info, std::string_view host) const {
  const auto candidates = processes_.find({info.pid, info.rank});
  if (recordings_ || info.pid == 0 || candidates == processes_.end()) return std::nullopt;
  std::optional<ProcessId> found;
  for (const Recorded& candidate : candidates->second) {
    if (!mayBeSame(origins_[candidate.recording], profile_, host)) continue;
    if (found) return std::nullopt;
    found = candidate.id;
  }
  return found;
}

ProcessId JoinedProcesses::process(const ProcessInfo& info) {
  const ProcessId id = next().process(info);
  if (recordings_ && !origins_.empty())
    processes_[{info.pid, info.rank}].push_back({id, origins_.size() - 1});
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
