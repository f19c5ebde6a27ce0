#include "analyzer/record/merge/unifying_sink.h"

#include "db/meta.h"

namespace pitwall::record {

ProcessId UnifyingSink::process(const ProcessInfo& info) {
  if (told_++ >= first_part_) {
    if (info.pid == 0 && first_) return first_;
    if (const auto known = processes_.find(info.pid); known != processes_.end()) return known->second;
  }
  const ProcessId id = next().process(info);
  if (!first_) first_ = id;
  processes_.insert_or_assign(info.pid, id);
  infos_.try_emplace(id.value, info);
  return id;
}

// importTrace names a fact of the second input "input.2.KEY".
void UnifyingSink::meta(std::string_view key, std::string_view value) {
  constexpr std::string_view kLater = "input.";
  if (key.substr(0, kLater.size()) == kLater) {
    const std::size_t dot = key.find('.', kLater.size());
    if (dot == key.npos) return next().meta(key, value);
    key.remove_prefix(dot + 1);
    if (key != meta::kRecorderNotes && facts_.contains(key)) return;
  }
  facts_.emplace(key);
  if (key == meta::kRecorderNotes) {
    if (!value.empty()) notes_ += (notes_.empty() ? "" : "\n") + std::string(value);
    return next().meta(key, notes_);
  }
  next().meta(key, value);
}

ThreadId UnifyingSink::thread(const ThreadInfo& info) {
  // Without an id of the system there is nothing to match.
  if (info.tid == 0) return next().thread(info);
  const auto [known, fresh] = threads_.try_emplace({info.process.value, info.tid});
  if (!fresh) return known->second;
  ThreadInfo named = info;
  const ProcessInfo& process = infos_[info.process.value];
  const auto given = given_.find({process.pid, info.tid});
  // The system truncates names, and calls every thread of Python as the interpreter.
  if (given != given_.end() && process.name.starts_with(info.name)) named.name = given->second;
  known->second = next().thread(named);
  return known->second;
}

DeviceId UnifyingSink::device(const DeviceInfo& info) {
  const auto [known, fresh] = devices_.try_emplace({info.kind, info.index});
  if (fresh) known->second = next().device(info);
  return known->second;
}

}  // namespace pitwall::record
