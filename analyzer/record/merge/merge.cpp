#include "analyzer/record/merge/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/record/merge/unifying_sink.h"
#include "db/import.h"
#include "db/profile_origin.h"
#include "db/reader.h"
#include "db/store.h"
#include "db/try.h"

namespace pitwall::record {

namespace fs = std::filesystem;

std::string partsFolder(const std::string& output) { return output + ".parts"; }

std::string verboseLog(const std::string& output) { return partsFolder(output) + "/onednn.log"; }

std::vector<std::string> findParts(const std::string& output) {
  std::vector<std::string> traces, logs;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(partsFolder(output), none)) {
    if (!entry.is_regular_file(none) || entry.file_size(none) == 0) continue;
    if (entry.path().extension() == ".pitwall") traces.push_back(entry.path().string());
    if (entry.path().extension() == ".log") logs.push_back(entry.path().string());
  }
  std::ranges::sort(traces);
  std::ranges::sort(logs);
  traces.insert(traces.end(), logs.begin(), logs.end());
  return traces;
}

Profiles findProfiles(const std::string& output) {
  std::vector<std::string> abouts;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(partsFolder(output), none)) {
    if (entry.path().extension() == kProfileOriginName) abouts.push_back(entry.path().string());
  }
  std::ranges::sort(abouts);
  Profiles profiles;
  for (const std::string& about : abouts) {
    const auto origin = readProfileOrigin(about);
    if (!origin.has_value()) continue;  // being written when the recording ended
    const std::string& path = origin->path;
    const bool exists = fs::is_regular_file(path, none) && fs::file_size(path, none) > 0;
    profiles.inputs.push_back(about);
    if (exists && std::ranges::find(profiles.inputs, path) == profiles.inputs.end())
      profiles.inputs.push_back(path);
    if (!path.empty() && !exists)
      profiles.missing.push_back(fmt::format(
          "{}'s profile of process {} is missing: it is written when the process ends its session or itself, "
          "and the process was killed or went on after the recording ({})",
          origin->framework, origin->pid, path));
  }
  return profiles;
}

namespace {

// A damaged chunk holds records too: the import keeps the others and names it.
Result<bool> found(const Status& read, bool any) {
  if (read.has_value() || read.error().code == ErrorCode::corruptTrace) return any || !read.has_value();
  return fail(read.error());
}

// Stops at the first that it finds.
Result<bool> hasRecords(Trace& trace) {
  bool any = !trace.iterations().empty() || !trace.losses().empty();
  for (std::uint32_t id = 1; id <= trace.tracks().size() && !any; ++id) {
    EventSelection selection;
    selection.track = TrackId{id};
    selection.fields = EventFields::kStart;
    const Status events = trace.eventColumns(selection, [&](const EventSpans& spans) {
      any = spans.size > 0;
      return !any;
    });
    any = PITWALL_TRY(found(events, any));
    if (any) break;
    const Status counters = trace.visitCounters(TrackId{id}, [&](std::span<const CounterSample> samples) {
      any = !samples.empty();
      return !any;
    });
    any = PITWALL_TRY(found(counters, any));
  }
  return any;
}

// Moves those that cannot be merged from `parts` to the result.
LeftOut separate(std::vector<std::string>& parts) {
  LeftOut left_out;
  std::erase_if(parts, [&](const std::string& part) {
    if (fs::path(part).extension() != ".pitwall") return false;
    auto trace = Trace::open(part);
    const Result<bool> any = trace.has_value() ? hasRecords(**trace) : Result<bool>(fail(trace.error()));
    if (!any.has_value()) {
      left_out.unreadable.push_back("a part of the recording is missing: " + any.error().message);
    } else if (!*any) {
      left_out.empty.push_back(part + ": the process recorded nothing");
    }
    return !any.has_value() || !*any;
  });
  return left_out;
}

std::string joinLines(const LeftOut& left_out) {
  std::string lines;
  for (const auto* sentences : {&left_out.unreadable, &left_out.empty}) {
    for (const std::string& sentence : *sentences) lines += (lines.empty() ? "" : "\n") + sentence;
  }
  return lines;
}

// Names that the programs have given to their threads, with their recorders.
ThreadNames givenNames(const std::vector<std::string>& parts) {
  ThreadNames names;
  for (const std::string& part : parts) {
    if (fs::path(part).extension() != ".pitwall") continue;
    const auto trace = Trace::open(part);
    if (!trace.has_value()) continue;  // the merge reports it
    for (const ThreadInfo& thread : (*trace)->threads()) {
      if (!thread.process || thread.name.empty() || thread.name == "main" || thread.name == "thread")
        continue;
      names.try_emplace({(*trace)->processes()[thread.process.value - 1].pid, thread.tid}, thread.name);
    }
  }
  return names;
}

// Under a temporary name first, so that a failure leaves `output` unchanged.
Status merge(const std::string& output, const std::vector<std::string>& parts, const Profiles& profiles,
             const std::atomic<bool>* cancel, LeftOut& left_out) {
  std::vector<std::string> inputs = {output};
  inputs.insert(inputs.end(), parts.begin(), parts.end());
  inputs.insert(inputs.end(), profiles.inputs.begin(), profiles.inputs.end());
  std::size_t processes = 0;
  {
    auto own = PITWALL_TRY(Trace::open(output));
    processes = own->processes().size();
  }
  const std::string merging = output + ".merging";
  Status status;
  {
    auto sink = PITWALL_TRY(createTrace(merging));
    for (const std::string& sentence : left_out.unreadable) sink->loss({{}, 0, 0, 0, sentence});
    UnifyingSink unifying(*sink, processes, joinLines(left_out), givenNames(parts));
    ImportOptions options;
    options.one_recording = true;
    options.cancel = cancel;
    const auto merged = importTrace(inputs, unifying, options);
    if (!merged.has_value()) status = fail(merged.error());
    if (merged.has_value())
      left_out.unreadable.insert(left_out.unreadable.end(), merged->left_out.begin(), merged->left_out.end());
  }
  std::error_code failed;
  if (status.has_value()) fs::rename(merging, output, failed);
  if (failed) status = fail(ErrorCode::io, output + ": cannot be replaced: " + failed.message());
  if (!status.has_value()) {
    std::error_code none;
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(merging + suffix, none);
  }
  return status;
}

}  // namespace

Result<LeftOut> mergeParts(const std::string& output, bool keep, const std::atomic<bool>* cancel) {
  std::vector<std::string> parts = findParts(output);
  const Profiles profiles = findProfiles(output);
  const bool any = !parts.empty() || !profiles.inputs.empty();
  LeftOut left_out = separate(parts);
  left_out.empty.insert(left_out.empty.end(), profiles.missing.begin(), profiles.missing.end());
  if (any) PITWALL_TRY(merge(output, parts, profiles, cancel, left_out));
  std::error_code none;
  if (keep && any) return left_out;
  if (left_out.unreadable.empty()) {
    fs::remove_all(partsFolder(output), none);
  } else {
    for (const std::string& part : parts) fs::remove(part, none);
  }
  return left_out;
}

}  // namespace pitwall::record
