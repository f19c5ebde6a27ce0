#include "db/sqlite/trace_writer.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <utility>

namespace pitwall::store {

namespace {

constexpr auto kCommitInterval = std::chrono::milliseconds(250);
constexpr std::size_t kCommitEvents = 1'000'000;

}  // namespace

std::size_t TraceWriter::FactsHash::operator()(const OperatorFacts& facts) const {
  std::size_t hash = 0;
  const auto mix = [&hash](std::size_t part) { hash = (hash ^ part) * 0x9e3779b97f4a7c15; };
  for (const std::string* text :
       {&facts.name, &facts.layer, &facts.shapes, &facts.dtype, &facts.implementation})
    mix(std::hash<std::string>{}(*text));
  mix(static_cast<std::size_t>(facts.phase));
  mix(static_cast<std::size_t>(facts.flop));
  return hash;
}

std::size_t TraceWriter::FactsHash::operator()(const KernelFacts& facts) const {
  std::size_t hash = std::hash<double>{}(facts.theoretical_occupancy);
  const auto mix = [&hash](std::int64_t part) {
    hash = (hash ^ static_cast<std::size_t>(part)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  for (const auto& extent : {facts.grid, facts.block}) {
    for (const std::int32_t part : extent) mix(part);
  }
  mix(facts.registers_per_thread);
  mix(facts.static_shared_bytes);
  mix(facts.dynamic_shared_bytes);
  mix(facts.local_bytes);
  return hash;
}

std::size_t TraceWriter::FactsHash::operator()(const FrameInfo& frame) const {
  std::size_t hash = static_cast<std::size_t>(frame.line);
  for (const std::string* text : {&frame.function, &frame.file, &frame.language})
    hash = (hash ^ std::hash<std::string>{}(*text)) * 0x9e3779b97f4a7c15;
  return hash;
}

std::size_t TraceWriter::FactsHash::operator()(const StackInfo& stack) const {
  return ((std::size_t{stack.caller.value} << 32) ^ stack.frame.value) * 0x9e3779b97f4a7c15;
}

TraceWriter::TraceWriter(std::unique_ptr<BatchWriter> writer, std::string path, std::size_t most_pending_rows)
    : path_(std::move(path)),
      most_pending_rows_(most_pending_rows),
      commit_events_(std::min(kCommitEvents, most_pending_rows)),
      thread_([this, w = std::move(writer)]() mutable { writeLoop(std::move(w)); }) {}

void TraceWriter::continueAt(const Dimensions& there) {
  const auto number = [](std::size_t rows) { return static_cast<std::uint32_t>(rows); };
  for (const std::string& text : there.strings)
    string_ids_.emplace(text, StringId{number(string_ids_.size() + 1)});
  for (const OperatorFacts& facts : there.facts)
    facts_ids_.emplace(facts, OperatorId{number(facts_ids_.size() + 1)});
  for (const KernelFacts& facts : there.kernels)
    kernel_ids_.emplace(facts, KernelId{number(kernel_ids_.size() + 1)});
  for (const FrameInfo& frame : there.frames)
    frame_ids_.emplace(frame, FrameId{number(frame_ids_.size() + 1)});
  for (const StackInfo& stack : there.stacks)
    stack_ids_.emplace(stack, StackId{number(stack_ids_.size() + 1)});
  processes_ = number(there.processes.size());
  threads_ = number(there.threads.size());
  devices_ = number(there.devices.size());
  tracks_ = number(there.tracks.size());
}

TraceWriter::~TraceWriter() { end(End::abandoned); }

template <class Add>
void TraceWriter::append(std::size_t rows, std::size_t events, Add add) {
  if (rows == 0) return;
  bool wake = false;
  {
    const ScopedLock lock(mutex_);
    while (pending_.rows >= most_pending_rows_ && !failure_.has_value() && end_ == End::running)
      done_.wait(mutex_);
    if (failure_.has_value() || end_ != End::running) return;
    wake = pending_.rows == 0 ||
           (pending_.events_in_all < commit_events_ && pending_.events_in_all + events >= commit_events_);
    add(pending_);
    pending_.rows += rows;
    pending_.events_in_all += events;
    wake = wake || pending_.rows >= most_pending_rows_;
  }
  if (wake) work_.notifyOne();
}

StringId TraceWriter::string(std::string_view text) {
  const auto found = string_ids_.find(text);
  if (found != string_ids_.end()) return found->second;
  const StringId id{static_cast<std::uint32_t>(string_ids_.size() + 1)};
  string_ids_.emplace(std::string(text), id);
  append(1, 0, [&](Batch& batch) { batch.strings.emplace_back(text); });
  return id;
}

ProcessId TraceWriter::process(const ProcessInfo& process) {
  append(1, 0, [&](Batch& batch) { batch.processes.push_back(process); });
  return ProcessId{++processes_};
}

ThreadId TraceWriter::thread(const ThreadInfo& thread) {
  append(1, 0, [&](Batch& batch) { batch.threads.push_back(thread); });
  return ThreadId{++threads_};
}

DeviceId TraceWriter::device(const DeviceInfo& device) {
  append(1, 0, [&](Batch& batch) { batch.devices.push_back(device); });
  return DeviceId{++devices_};
}

TrackId TraceWriter::track(const TrackInfo& track) {
  append(1, 0, [&](Batch& batch) { batch.tracks.push_back(track); });
  return TrackId{++tracks_};
}

OperatorId TraceWriter::operatorFacts(const OperatorFacts& facts) {
  const auto found = facts_ids_.find(facts);
  if (found != facts_ids_.end()) return found->second;
  const OperatorId id{static_cast<std::uint32_t>(facts_ids_.size() + 1)};
  facts_ids_.emplace(facts, id);
  append(1, 0, [&](Batch& batch) { batch.facts.push_back(facts); });
  return id;
}

KernelId TraceWriter::kernelFacts(const KernelFacts& facts) {
  const auto found = kernel_ids_.find(facts);
  if (found != kernel_ids_.end()) return found->second;
  const KernelId id{static_cast<std::uint32_t>(kernel_ids_.size() + 1)};
  kernel_ids_.emplace(facts, id);
  append(1, 0, [&](Batch& batch) { batch.kernels.push_back(facts); });
  return id;
}

FrameId TraceWriter::frame(const FrameInfo& frame) {
  const auto found = frame_ids_.find(frame);
  if (found != frame_ids_.end()) return found->second;
  const FrameId id{static_cast<std::uint32_t>(frame_ids_.size() + 1)};
  frame_ids_.emplace(frame, id);
  append(1, 0, [&](Batch& batch) { batch.frames.push_back(frame); });
  return id;
}

StackId TraceWriter::stack(const StackInfo& stack) {
  const auto found = stack_ids_.find(stack);
  if (found != stack_ids_.end()) return found->second;
  const StackId id{static_cast<std::uint32_t>(stack_ids_.size() + 1)};
  stack_ids_.emplace(stack, id);
  append(1, 0, [&](Batch& batch) { batch.stacks.push_back(stack); });
  return id;
}

void TraceWriter::meta(std::string_view key, std::string_view value) {
  append(1, 0, [&](Batch& batch) { batch.meta.emplace_back(key, value); });
}

void TraceWriter::setting(const SettingInEffect& setting) {
  append(1, 0, [&](Batch& batch) { batch.settings.push_back(setting); });
}

void TraceWriter::tunable(const TunableInEffect& tunable) {
  append(1, 0, [&](Batch& batch) { batch.tunables.push_back(tunable); });
}

void TraceWriter::iteration(const IterationMark& mark) {
  append(1, 0, [&](Batch& batch) { batch.iterations.push_back(mark); });
}

void TraceWriter::loss(const Loss& loss) {
  append(1, 0, [&](Batch& batch) { batch.losses.push_back(loss); });
}

bool TraceWriter::accepts(TrackId track) {
  if (track.value >= 1 && track.value <= tracks_) return true;
  const ScopedLock lock(mutex_);
  keepFailure(
      {ErrorCode::internal, fmt::format("cannot write trace '{}': its producer used track {}, which it did "
                                        "not create; please report this",
                                        path_, track.value)});
  return false;
}

void TraceWriter::events(TrackId track, std::span<const Event> events) {
  if (!accepts(track)) return;
  append(events.size(), events.size(), [&](Batch& batch) {
    if (batch.events.size() < tracks_) batch.events.resize(tracks_);
    batch.events[track.value - 1].append(events, batch.spare_blocks);
  });
}

void TraceWriter::dependencies(std::span<const Dependency> dependencies) {
  append(dependencies.size(), 0, [&](Batch& batch) {
    batch.dependencies.insert(batch.dependencies.end(), dependencies.begin(), dependencies.end());
  });
}

void TraceWriter::counters(TrackId track, std::span<const CounterSample> samples) {
  if (!accepts(track)) return;
  append(samples.size(), 0, [&](Batch& batch) {
    if (batch.counters.size() < tracks_) batch.counters.resize(tracks_);
    auto& of_track = batch.counters[track.value - 1];
    of_track.insert(of_track.end(), samples.begin(), samples.end());
  });
}

Status TraceWriter::flush() {
  const ScopedLock lock(mutex_);
  if (end_ == End::running) {
    const std::uint64_t ticket = ++flushes_asked_;
    work_.notifyOne();
    while (flushes_done_ < ticket && !failure_.has_value()) done_.wait(mutex_);
  }
  if (failure_.has_value()) return fail(*failure_);
  return {};
}

Status TraceWriter::finish() {
  end(End::finished);
  const ScopedLock lock(mutex_);
  if (failure_.has_value()) return fail(*failure_);
  return {};
}

void TraceWriter::end(End how) {
  {
    const ScopedLock lock(mutex_);
    if (end_ == End::running) end_ = how;
  }
  work_.notifyOne();
  if (thread_.joinable()) thread_.join();
}

void TraceWriter::keepFailure(Error error) {
  if (!failure_.has_value()) failure_ = std::move(error);
  pending_ = {};  // later rows are ignored: release the memory
  done_.notifyAll();
}

bool TraceWriter::isUrgent() const {
  return end_ != End::running || flushes_asked_ > flushes_done_ || pending_.events_in_all >= commit_events_ ||
         pending_.rows >= most_pending_rows_;
}

bool TraceWriter::takeWork(Batch& taken, std::uint64_t& flush) {
  taken.clear();
  const ScopedLock lock(mutex_);
  while (pending_.empty() && !isUrgent()) work_.wait(mutex_);
  const auto commit_at = std::chrono::steady_clock::now() + kCommitInterval;
  while (!isUrgent() && work_.waitUntil(mutex_, commit_at)) {
  }
  if (end_ != End::running && pending_.empty()) return false;
  std::swap(taken, pending_);
  flush = flushes_asked_;
  return true;
}

void TraceWriter::writeUntilEnd(BatchWriter& writer) {
  Batch taken;
  std::uint64_t flush = 0;
  while (takeWork(taken, flush)) {
    done_.notifyAll();  // there is space again
    Status status;
    if (!taken.empty()) status = writer.write(taken);
    const ScopedLock lock(mutex_);
    if (!status.has_value()) return keepFailure(status.error());
    flushes_done_ = flush;
    done_.notifyAll();
  }
  const ScopedLock lock(mutex_);
  if (end_ != End::finished || failure_.has_value()) return;
  Status status;
  {
    const ScopedUnlock unlocked(mutex_);
    status = writer.finish();
  }
  if (!status.has_value()) keepFailure(status.error());
}

void TraceWriter::writeLoop(std::unique_ptr<BatchWriter> writer) {
  // The program's threads handle the program's signals.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), "pitwall store");
  try {
    writeUntilEnd(*writer);
  } catch (const std::bad_alloc&) {
    const ScopedLock lock(mutex_);
    keepFailure(
        {ErrorCode::io, fmt::format("cannot write trace '{}': not enough memory; close other programs or "
                                    "record less",
                                    path_)});
  }
}

}  // namespace pitwall::store
