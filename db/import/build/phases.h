// Infers the training phase of operators for which the file does not give it: operators within the
// optimizer's range, operators that a backward function calls, other operators on autograd's own thread,
// MXNet's operators whose gradient runs too, and those that its backward pass runs in bulk.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "db/event.h"

namespace pitwall::import {

class Names;

class Phases {
 public:
  explicit Phases(Names& names) : names_(names) {}

  // Until then nothing is changed; the input's format determines whether the phases of its operators may be
  // inferred.
  void infer() { infers_ = true; }
  void known(OperatorId id, const OperatorFacts& facts);
  // Operators within ranges of this name belong to the phase, unless they are known to belong to another.
  void range(StringId name, Phase phase);
  // The event with this correlation number is one end of an arrow from a forward operator to its gradient.
  void arrow(CorrelationId event, Phase phase) { arrows_[event] = phase; }
  // An operator "_backward_NAME": the operators NAME are forward ones.
  void gradient(std::string_view name);
  // Several operators that the file names only together. They belong to the backward pass where nothing else runs such bulks.
  void bulk(OperatorId id) { bulk_ = id; }
  enum class BulkOf : std::uint8_t { backward, others };
  void runsBulks(BulkOf pass) {
    (pass == BulkOf::backward ? backward_runs_bulks_ : others_run_bulks_) = true;
  }

  // State of a thread between flushes.
  struct Thread {
    std::vector<Phase> open;  // by depth
    bool backward = false, others = false;
  };
  // Events of one thread in order of time, with their depths.
  void apply(std::span<Event> events, Thread& thread);
  void endFlush() { arrows_.clear(), twins_.clear(); }
  void beginInput();

 private:
  enum class Twin : std::uint8_t { unknown, yes, no };
  struct Known {
    OperatorFacts facts;
    OperatorId in_phase[5] = {};
  };
  Phase ownPhase(const Event& event);
  Phase phaseOf(OperatorId id) const;
  bool hasGradient(OperatorId id);
  void move(Event& event, Phase phase);

  Names& names_;
  bool infers_ = false;
  std::deque<Known> facts_;           // of operators
  std::vector<std::uint32_t> place_;  // by OperatorId.value: in facts_, from 1; 0 = not known
  std::vector<Phase> ranges_;         // by StringId.value
  std::vector<Twin> twins_;           // by OperatorId.value, of this flush
  std::unordered_map<CorrelationId, Phase> arrows_;
  std::unordered_set<std::string> gradients_;
  OperatorId bulk_;  // none = the input has none
  bool backward_runs_bulks_ = false, others_run_bulks_ = false;
};

}  // namespace pitwall::import
