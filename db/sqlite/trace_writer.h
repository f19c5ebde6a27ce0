// The sink that createTrace() returns: its calls fill a batch, a separate thread writes batches.
//
// The producer and the writer share the batch under one mutex, held for a copy or a swap, never during a
// write. Ids are assigned, and strings and facts deduplicated, on the producer's side, so that a call need
// not wait.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "db/mutex.h"
#include "db/sink.h"
#include "db/sqlite/batch.h"
#include "db/sqlite/batch_writer.h"
#include "db/sqlite/dimensions.h"
#include "db/store.h"

namespace pitwall::store {

class TraceWriter final : public TraceSink {
 public:
  TraceWriter(std::unique_ptr<BatchWriter> writer, std::string path,
              std::size_t most_pending_rows = static_cast<std::size_t>(StoreOptions().most_pending_rows));
  // For a trace that is not empty; before the first call.
  void continueAt(const Dimensions& there);
  // Writes pending rows; the trace stays marked incomplete unless finish() was called.
  ~TraceWriter() override;

  StringId string(std::string_view text) override;
  ProcessId process(const ProcessInfo& process) override;
  ThreadId thread(const ThreadInfo& thread) override;
  DeviceId device(const DeviceInfo& device) override;
  TrackId track(const TrackInfo& track) override;
  OperatorId operatorFacts(const OperatorFacts& facts) override;
  KernelId kernelFacts(const KernelFacts& facts) override;
  FrameId frame(const FrameInfo& frame) override;
  StackId stack(const StackInfo& stack) override;
  void meta(std::string_view key, std::string_view value) override;
  void setting(const SettingInEffect& setting) override;
  void tunable(const TunableInEffect& tunable) override;
  void iteration(const IterationMark& mark) override;
  void loss(const Loss& loss) override;
  void events(TrackId track, std::span<const Event> events) override;
  void dependencies(std::span<const Dependency> dependencies) override;
  void counters(TrackId track, std::span<const CounterSample> samples) override;
  Status flush() override;
  Status finish() override;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct FactsHash {
    std::size_t operator()(const OperatorFacts& facts) const;
    std::size_t operator()(const KernelFacts& facts) const;
    std::size_t operator()(const FrameInfo& frame) const;
    std::size_t operator()(const StackInfo& stack) const;
  };
  enum class End : std::uint8_t { running, abandoned, finished };

  // Runs `add` on the pending batch, which then holds `rows` more rows, of which `events` are events.
  template <class Add>
  void append(std::size_t rows, std::size_t events, Add add);
  bool accepts(TrackId track);  // else keeps an error: the producer used an unknown track
  void end(End how);

  void writeLoop(std::unique_ptr<BatchWriter> writer);
  void writeUntilEnd(BatchWriter& writer);
  // Waits for pending rows and moves them to `taken`; `flush` is the last flush that they answer. False: the end, and
  // nothing pending.
  bool takeWork(Batch& taken, std::uint64_t& flush) PITWALL_EXCLUDES(mutex_);
  bool isUrgent() const PITWALL_REQUIRES(mutex_);
  void keepFailure(Error error) PITWALL_REQUIRES(mutex_);

  // --- constant after construction
  const std::string path_;
  const std::size_t most_pending_rows_;  // a producer that is this far ahead waits
  const std::size_t commit_events_;      // number of events that triggers a commit

  // --- the producer's alone
  std::unordered_map<std::string, StringId, TextHash, std::equal_to<>> string_ids_;
  std::unordered_map<OperatorFacts, OperatorId, FactsHash> facts_ids_;
  std::unordered_map<KernelFacts, KernelId, FactsHash> kernel_ids_;
  std::unordered_map<FrameInfo, FrameId, FactsHash> frame_ids_;
  std::unordered_map<StackInfo, StackId, FactsHash> stack_ids_;
  std::uint32_t processes_ = 0, threads_ = 0, devices_ = 0, tracks_ = 0;

  // --- shared by both
  Mutex mutex_;
  ConditionVariable work_;  // the writer waits for it
  ConditionVariable done_;  // the producer waits for it
  Batch pending_ PITWALL_GUARDED_BY(mutex_);
  std::uint64_t flushes_asked_ PITWALL_GUARDED_BY(mutex_) = 0;
  std::uint64_t flushes_done_ PITWALL_GUARDED_BY(mutex_) = 0;
  End end_ PITWALL_GUARDED_BY(mutex_) = End::running;
  std::optional<Error> failure_ PITWALL_GUARDED_BY(mutex_);  // the first

  std::thread thread_;  // last: starts after all other members are initialised
};

}  // namespace pitwall::store
