// Imports the rows of a Pitwall trace from another format: ids are remapped, times are shifted to align with
// the other inputs, and all else is passed to the sink unchanged. Ids come from a file: an id without a row
// is treated as none.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "db/import/build/builder.h"

namespace pitwall::import {

class RowImport {
 public:
  explicit RowImport(Builder& builder) : builder_(builder), sink_(builder.sink()) {}

  struct Extent {
    TimeNs first_ns = 0;
    TimeNs last_ns = 0;
    CorrelationId greatest = 0;  // correlation id
  };
  // Before the first event, sample, mark or loss.
  void begin(const Extent& extent);

  void process(std::int64_t number, ProcessInfo process);
  void thread(std::int64_t number, ThreadInfo thread, std::int64_t process);
  void device(std::int64_t number, const DeviceInfo& device);
  struct TrackOwners {
    std::int64_t process = 0, thread = 0, device = 0;
  };
  void track(std::int64_t number, TrackInfo track, const TrackOwners& owners);
  void operatorFacts(std::int64_t number, const OperatorFacts& facts);
  void kernelFacts(std::int64_t number, const KernelFacts& facts);
  void frame(std::int64_t number, const FrameInfo& frame);
  // `caller` and `frame` are of earlier rows; a stack without a frame is none.
  void stack(std::int64_t number, std::int64_t caller, std::int64_t frame);

  void meta(std::string_view key, std::string_view value);
  void setting(const SettingInEffect& setting);
  void tunable(const TunableInEffect& tunable);
  void iteration(IterationMark mark);
  void loss(Loss loss, std::int64_t track);

  struct EventTexts {
    std::string_view name, args;
    std::int64_t track = 0, op = 0, kernel = 0;
  };
  // The event has its original times.
  void event(Event event, const EventTexts& texts);
  void sample(std::int64_t track, TimeNs time_ns, double value);
  void dependency(Dependency dependency);

  // Sends buffered rows.
  void end();

 private:
  template <class IdType>
  using Numbers = std::unordered_map<std::int64_t, IdType>;
  template <class IdType>
  static IdType mapped(const Numbers<IdType>& numbers, std::int64_t number) {
    const auto found = numbers.find(number);
    return found == numbers.end() ? IdType{} : found->second;
  }
  // Counts a row whose times are out of range as dropped.
  bool fits(std::initializer_list<std::int64_t> times_ns);
  CorrelationId correlation(CorrelationId id);
  TrackId trackOf(std::int64_t number);
  void send(TrackId track);
  void sendSamples(TrackId track);

  Builder& builder_;
  TraceSink& sink_;
  TimeNs shift_ = 0;
  bool takes_marks_ = false;
  std::optional<int> aligned_rank_;  // of the input, before its processes give theirs
  CorrelationId base_ = 0;
  CorrelationId greatest_ = 0;
  std::unordered_map<CorrelationId, CorrelationId> others_;  // greater than the extent that the file declared
  Numbers<ProcessId> processes_;
  Numbers<ThreadId> threads_;
  Numbers<DeviceId> devices_;
  Numbers<TrackId> tracks_;
  Numbers<OperatorId> operators_;
  Numbers<KernelId> kernels_;
  Numbers<FrameId> frames_;
  Numbers<StackId> stacks_;
  std::unordered_set<std::int64_t> of_stacks_;  // tracks whose samples are stacks
  TrackId held_track_, held_sample_track_;
  std::vector<Event> events_;
  std::vector<CounterSample> samples_;
  std::vector<Dependency> dependencies_;
};

}  // namespace pitwall::import
