// Decodes ring records into events of a sink: for the recorder's drain, and to complete a killed recording.
// One per recording, used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/event.h"
#include "db/ring_clock.h"
#include "db/ring_format.h"
#include "db/sink.h"

namespace pitwall::ring {

// The site that a number refers to.
struct SiteFacts {
  std::string name;
  EventKind kind = EventKind::scope;
  std::string
      args;  // of every event of it: members of a JSON object without braces, e.g. "domain":"MXNET_C_API"
};

// The device that a record or a ring names, without its properties.
DeviceInfo deviceOf(std::uint8_t number);

class NameSource {
 public:
  virtual ~NameSource() = default;
  virtual SiteFacts site(std::uint32_t id) const = 0;  // a default one for an unknown id
  virtual OperatorFacts facts(std::uint32_t id) const = 0;
};

// Rows by the recorder's numbers, which are small, unless a file is damaged.
template <class Row>
class ByNumber {
 public:
  // A new one the first time. The next call with another number may move it.
  Row& operator[](std::uint32_t number) {
    if (number >= kDense) return sparse_[number];
    if (number >= dense_.size()) dense_.resize(number + 1);
    return dense_[number];
  }
  // Calls visit(number, row).
  template <class Visit>
  void forEach(Visit visit) {
    for (std::size_t i = 0; i < dense_.size(); ++i) visit(static_cast<std::uint32_t>(i), dense_[i]);
    for (auto& [number, row] : sparse_) visit(number, row);
  }

 private:
  static constexpr std::uint32_t kDense = 1U << 16U;
  std::vector<Row> dense_;
  std::unordered_map<std::uint32_t, Row> sparse_;
};

class RingDecoder {
 public:
  RingDecoder(TraceSink& sink, const NameSource& names, ProcessId process)
      : sink_(sink), names_(names), process_(process) {}

  // Decodes the records [from, to) of the ring at `records` with `capacity` records, a power of two. Invalid
  // records are skipped: continuations without a first record, unknown kinds.
  void decode(const Record* records, std::uint64_t capacity, std::uint64_t from, std::uint64_t to,
              const ClockMap& clock);

  // Adds an operator that was open at `end_ns`: its records without a length. False for invalid records, and for an
  // operator of an earlier recording.
  bool addOpenOperator(const Record& record, const Record& times, TimeNs end_ns, const ClockMap& clock);

  // Adds a scope that was open at `end_ns`. False for one of an earlier recording.
  bool addOpenScope(const OpenScope& scope, std::uint16_t depth, TimeNs end_ns, const ClockMap& clock);

  // Sends the decoded events except the first `skip`, and clears them. Returns how many there were.
  std::uint64_t sendEvents(TrackId track, std::uint64_t skip = 0);
  bool hasEvents() const { return !events_.empty(); }

  // Data that belongs to no ring's track: each a single call of the sink, so that it is stored completely or
  // not at all.
  std::uint64_t sendDependencies();  // returns how many
  void sendCounters();
  void sendIterations();

  // For completing a trace: the trace already has these. Of dependencies, those decoded after the first
  // `count`.
  std::size_t dependencyCount() const { return dependencies_.size(); }
  void skipDependenciesFrom(std::size_t count) {
    dependencies_.erase(dependencies_.begin() + static_cast<std::ptrdiff_t>(count), dependencies_.end());
  }
  void skipIterationsUpTo(std::int64_t index);
  void skipSamplesUpTo(const std::string& track_name, TimeNs time, TrackId track);

 private:
  struct Site {
    StringId name;
    StringId args;
    EventKind kind = EventKind::scope;
    bool known = false;
    TrackId counter_track;
    TimeNs skip_up_to = -1;
    std::vector<CounterSample> samples;
  };
  struct Operator {
    OperatorId id;
    StringId name;
  };
  struct Extras {  // what followed a record
    CorrelationId correlation = 0;
    bool announced = false;
    std::uint64_t pushed = 0, ready = 0;
    std::string args;  // members of a JSON object
  };

  void decodeOne(const Record& record, const Extras& extras, const ClockMap& clock);
  void decodeSpan(const Record& record, const Extras& extras, const ClockMap& clock);
  void decodeOperator(const Record& record, const Extras& extras, const ClockMap& clock);
  void addArgument(const Record& record, std::string& args);
  void finishText(std::string& args);
  void setDepths(std::size_t first);
  Site& siteOf(std::uint32_t id);
  const Operator& operatorOf(std::uint32_t id);
  StringId deviceArguments(std::uint8_t device);

  TraceSink& sink_;
  const NameSource& names_;
  const ProcessId process_;

  ByNumber<Operator> operators_;
  std::array<StringId, 256> device_arguments_{};
  ByNumber<Site> sites_;
  std::vector<Event> events_;
  std::vector<bool> announced_;  // of events_: a scope that counted itself in the depths it encloses
  std::vector<Dependency> dependencies_;
  std::vector<IterationMark> iterations_;
  // State of the text argument that is being read.
  std::string text_;
  std::uint64_t text_left_ = 0;
  bool text_awaited_ = false;
};

}  // namespace pitwall::ring
