// The calls that launched device work: those that a launch dependency leads from, or of the same correlation.
// Looked up for some work at a time.
#pragma once

#include <span>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

class LaunchIndex {
 public:
  // The activity must outlive it.
  explicit LaunchIndex(const Activity& activity) : activity_(&activity) {}

  // Finds the launches of the work with these correlations, and forgets those of other work. Of several
  // calls of one correlation it takes the one of the first track, there the first. Reads the chunks that hold
  // these correlations, which in most traces are together. Errors: corruptTrace.
  Status load(Trace& trace, std::vector<CorrelationId> work);
  Status load(Trace& trace, std::span<const DeviceWork> work);

  // Finds the operators that launch dependencies lead from to the calls that were loaded; until then none is known.
  // Errors: corruptTrace.
  Status loadOperators(Trace& trace);
  // Correlation of the operator that made a call which find() returned; 0 = none or unknown.
  CorrelationId operatorOf(const HostCall& call) const {
    const auto place = static_cast<std::size_t>(&call - calls_.data());
    return place < operators_.size() ? operators_[place] : 0;
  }

  // nullptr when the trace has no such call, or when the work is not among what was loaded. Valid until the
  // next load.
  const HostCall* find(CorrelationId correlation) const;

 private:
  // Numbers in ascending order, each with its place among them.
  class Numbers {
   public:
    static constexpr std::uint32_t kNone = 0xffffffff;
    // In any order, some perhaps more than once.
    void assign(std::vector<CorrelationId> numbers);
    std::uint32_t place(CorrelationId number) const;
    std::span<const CorrelationId> all() const { return numbers_; }

   private:
    // Numbers that are at most this much sparser than they are many are looked up in a table by number.
    static constexpr std::uint64_t kSpread = 16;
    std::vector<CorrelationId> numbers_;
    std::vector<std::uint32_t> table_;  // by number from the first: its place; empty where they are sparse
  };
  struct Lead {
    std::uint32_t work = 0;  // place in work_
    CorrelationId source = 0;
  };

  Status readLeads(Trace& trace);
  Status readCalls(Trace& trace);

  const Activity* activity_;
  Numbers work_, sources_;
  std::vector<Lead> leads_;               // as recorded
  std::vector<HostCall> calls_;           // by place in sources_; correlation 0: none
  std::vector<CorrelationId> operators_;  // by place in calls_; shorter: not loaded
  std::vector<std::uint32_t> launch_;     // by place in work_: place in calls_
};

}  // namespace pitwall::analysis
