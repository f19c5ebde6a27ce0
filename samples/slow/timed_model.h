// A model whose operators take a fixed time and no CPU, as operators of an accelerator do: the bottleneck of
// programs that train it does not depend on the speed or load of the machine.
#pragma once

#include <functional>
#include <memory>

#include "samples/slow/slow.h"

namespace slow {

// A session whose backend computes nothing, so that OpenMP and oneDNN have no influence.
inline std::unique_ptr<Session> openTimed(SettingList settings = {}) {
  SessionOptions options;
  options.backend = "null";
  options.settings = std::move(settings);
  return must(Session::open(options));
}

class TimedModel {
 public:
  // `branches` do not depend on each other; operators of one branch run one after the other.
  explicit TimedModel(Session& session, int branches = 1) : session_(session) {
    for (int i = 0; i < branches; ++i) variables_.push_back(session.engine().newVariable());
  }
  ~TimedModel() {
    for (const Variable variable : variables_) session_.engine().deleteVariable(variable);
  }
  TimedModel(const TimedModel&) = delete;
  TimedModel& operator=(const TimedModel&) = delete;

  // Pushes an operator of the first layer; `work` runs in addition to its fixed time.
  void push(
      const char* name, Phase phase, Milliseconds time, std::size_t branch = 0,
      std::function<void()> work = [] {}) {
    OperatorFacts facts;
    facts.name = name, facts.layer = "layer1", facts.phase = phase, facts.backend = "null";
    const Variable writes[] = {variables_.at(branch)};
    auto run = [time, work = std::move(work)](const RunContext&) -> Status {
      work();
      sleepFor(time);
      return {};
    };
    session_.engine().push(
        {.run = std::move(run), .writes = writes, .facts = session_.profiler().operatorFacts(facts)});
  }

  // A step of 10 ms.
  void pushStep() {
    push("Layer", Phase::forward, Milliseconds(4));
    push("Layer", Phase::backward, Milliseconds(5));
    push("sgd_update", Phase::update, Milliseconds(1));
  }

  void wait() {
    for (const Variable variable : variables_) must(session_.engine().waitForVariable(variable));
  }

 private:
  Session& session_;
  std::vector<Variable> variables_;
};

constexpr int kTimedSteps = 20;

}  // namespace slow
