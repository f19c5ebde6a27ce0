// Predicts how long an iteration of a recorded program takes after a change: replays its dependency graph with other
// lengths (analyzer/simulate/tasks.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall {

// What of the critical path has one name.
struct SimulatedPart {
  std::string title;   // of an operator or event; of a gap what it is
  std::string part;    // "kernel", "call", ...: analyzer/critical_path/path.h
  TimeNs time_ns = 0;  // of an iteration, on average
  double share = 0;    // of the path
};

struct SimulatedPath {
  std::vector<SimulatedPart> parts;  // longest first
  // What an iteration waits for most: "device work", "host work", "waiting for batches", "own code", "delays".
  std::string limit;
  double limit_share = 0;  // of the path
};

// Whether the trace can be simulated: its unchanged graph, replayed with delays of devices and of the engine that
// are usual for their kind, takes as long as was recorded.
struct ReplayCheck {
  static constexpr double kLargestError = 0.05;

  bool predictable = false;
  std::string why;               // it is not; empty = it is
  std::string iteration_source;  // "marks", "step ranges", "repeating sequence", "whole trace"
  std::int64_t iterations = 0;   // that the figures are about
  std::int64_t events = 0;       // of the replayed part
  TimeNs recorded_ns = 0;        // iteration, median
  // Mean of the middle half of the iterations, by duration.
  TimeNs recorded_usual_ns = 0, replayed_usual_ns = 0;
  double error = 0;  // of that mean: replayed over recorded, less 1
  SimulatedPath path;
};

// Of an iteration, in ns: what the median becomes. The interval holds the best and the worst case of the changes, two
// standard errors of their effect on single iterations, what the unchanged replay is off by, and what runs differ by.
struct Prediction {
  TimeNs low_ns = 0, middle_ns = 0, high_ns = 0;
  // Of the middle: what the replay itself does not have, such as waits for a queue of batches.
  TimeNs added_ns = 0;
  SimulatedPath path;              // of the middle
  std::vector<std::string> notes;  // what it assumes, in sentences
};

// A trace with simulated times.
struct SimulatedTrace {
  std::string path;
  std::int64_t events = 0;
};

// What `pitwall simulate` answers.
struct Simulation {
  std::string trace_path;
  std::vector<std::string> changes;
  ReplayCheck check;
  std::optional<Prediction> prediction;    // nothing where the trace is not predictable, or nothing changes
  std::optional<SimulatedTrace> timeline;  // written, where one was wanted
};

struct SimulateOptions {
  // Of the part that is replayed: the middle of the steady iterations.
  std::size_t most_events = 2'000'000;
  // Set by any thread: simulating ends with the error cancelled.
  const std::atomic<bool>* cancel = nullptr;
  // Share by which two runs of one program differ, whatever changes between them. Own measurement: 0.2 to 0.5 % for
  // programs that only wait; more for those that compute on a machine whose speed changes.
  double between_runs = 0.01;
};

// A trace that is ready for any number of predictions; needs the trace no more. One thread uses it.
class Simulator {
 public:
  // Reads the part that is replayed, once. Errors: corruptTrace; cancelled.
  static Result<Simulator> open(Trace& trace, const SimulateOptions& options = {});

  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;
  ~Simulator();

  const ReplayCheck& check() const;

  // After all these changes together, each as `pitwall simulate --what` takes it. Linear in the events.
  // Errors: invalidInput for a text that is no change, or one that the trace has nothing for; unsupported where the
  // trace is not predictable.
  Result<Prediction> predict(std::span<const std::string> changes) const;

  // Writes the replayed part of the recording as a new trace in which the events have their times after these changes, of
  // the middle case; without changes the recorded times. `trace` is the one that was opened. Rows that are not simulated
  // keep their place within the iteration. Errors: as predict(); those of exportTrace().
  Result<SimulatedTrace> write(Trace& trace, std::span<const std::string> changes, const std::string& output,
                               const std::atomic<bool>* cancel = nullptr) const;

 private:
  struct State;
  explicit Simulator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The changes that there are, each with its meaning.
std::vector<std::pair<std::string, std::string>> simulatedChanges();

}  // namespace pitwall
