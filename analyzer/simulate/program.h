// All that a prediction needs of a recorded program, without its trace.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/dependencies/graph.h"
#include "analyzer/roofline.h"
#include "analyzer/simulate/tasks.h"
#include "db/event.h"

namespace pitwall::simulate {

// How the program gets its batches.
struct Making {
  enum class By : std::uint8_t {
    none,      // it waits for no batch
    training,  // its training thread makes them, within its wait
    workers,   // threads whose work is recorded
    unknown,   // workers or others, of which nothing is recorded but the wait for them
  };
  By by = By::none;
  std::int64_t workers = 0, depth = 0;  // 0 = unknown
  std::vector<TimeNs> make_ns;          // of each batch, by one worker
  double cpus = 1;                      // by training: that making a batch uses at most, up to 1
  std::vector<TimeNs> wait_ns;          // of each iteration
};

struct Machine {
  std::int64_t cpus = 0;  // that the program may use; 0 = unknown
  bool threads_known = false;
  std::int64_t threads = 1;  // that one operator uses
  MachineRoofline roofline;
};

struct Program {
  analysis::Graph graph;
  Tasks tasks;
  std::vector<std::uint32_t> steady;  // marks at which a steady iteration begins
  TrackId training_track;             // none = unknown
  ProcessId process;                  // whose threads are simulated; none = of all
  bool of_engine = false;             // operators of Pitwall's engine; else threads and streams
  double operators_per_bulk = 0;      // 0 = no bulks
  std::int64_t ranks = 1;             // of the job
  analysis::Intervals exchanges;      // of an engine's process with others, by its threads; disjoint
  Making making;
  Machine machine;
  std::vector<OperatorFacts> operators;                  // by OperatorId.value - 1
  std::unordered_map<std::uint32_t, std::string> names;  // by StringId.value, of all nodes

  // Of an operator with its layer: "conv1 Convolution".
  std::string titleOf(OperatorId op, StringId name) const;
};

}  // namespace pitwall::simulate
