// What the programs on our runtime share: results or the end, and an operator that takes a fixed time and no
// CPU.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "runtime/pitwall.h"
#include "tests/truth/programs/program.h"

namespace truth {

using namespace pitwall;
using Milliseconds = std::chrono::duration<double, std::milli>;

template <class T>
T must(Result<T> result) {
  if (!result.has_value()) std::fprintf(stderr, "%s\n", result.error().message.c_str()), std::exit(2);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

inline void sleepFor(Milliseconds time) { std::this_thread::sleep_for(time); }

// A session whose backend computes nothing, and one chain of operators.
class TimedProgram {
 public:
  TimedProgram() : session_(open()), variable_(session_->engine().newVariable()) {}
  ~TimedProgram() { session_->engine().deleteVariable(variable_); }
  TimedProgram(const TimedProgram&) = delete;
  TimedProgram& operator=(const TimedProgram&) = delete;

  Session& session() { return *session_; }

  void push(const std::string& name, Phase phase, Milliseconds time) {
    OperatorFacts facts;
    facts.name = name, facts.layer = "layer1", facts.phase = phase, facts.backend = "null";
    const Variable writes[] = {variable_};
    auto run = [time](const RunContext&) -> Status {
      sleepFor(time);
      return {};
    };
    session_->engine().push(
        {.run = std::move(run), .writes = writes, .facts = session_->profiler().operatorFacts(facts)});
  }

  // A step of 10 ms.
  void pushStep() {
    push("Layer", Phase::forward, Milliseconds(4));
    push("Layer", Phase::backward, Milliseconds(5));
    push("sgd_update", Phase::update, Milliseconds(1));
  }

  void wait() { must(session_->engine().waitForVariable(variable_)); }

 private:
  static std::unique_ptr<Session> open() {
    SessionOptions options;
    options.backend = "null";
    return must(Session::open(options));
  }

  std::unique_ptr<Session> session_;
  Variable variable_;
};

}  // namespace truth
