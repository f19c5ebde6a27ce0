// Runs a Symbol on arrays: inference.
//
// bind() lowers the graph to kernels once: neighbouring operators are fused, layouts are chosen so that data is reordered
// as rarely as possible, weights are converted, and memory is planned for all intermediate results together. forward() then
// pushes the kernels.
//
// MXNET_SUBGRAPH_BACKEND=NONE turns fusion off, MXNET_EXEC_ENABLE_INPLACE=0 results that overwrite an input,
// NNVM_EXEC_MATCH_RANGE sets how much larger or smaller a reused block may be (0: none is reused) and
// NNVM_AUTO_SEARCH_MATCH_RANGE=1 tries smaller values too, MXNET_EXEC_BULK_EXEC_INFERENCE=0 makes each
// operator an operator of the engine.
//
// Threads: one thread uses an executor at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/result.h"
#include "db/units.h"
#include "runtime/device.h"
#include "runtime/ndarray.h"
#include "runtime/session.h"
#include "runtime/symbol.h"

namespace pitwall {

class Executor {
 public:
  struct Options {
    Device device = {};
    // Arrays that change from one forward() to the next. All others are weights: they are read, and converted for the
    // kernels, by bind() and by the forward() after they have been written.
    std::vector<std::string> inputs = {"data"};
  };

  // `arrays` has the arguments and auxiliary states by name; an argument that inference does not use, such as a label, may be
  // missing. The session outlives the executor. Waits for the weights. Errors: as Symbol::inferShapes(); notFound for a
  // missing array; unsupported for an operator without a kernel, naming its node; invalidInput for an array on another
  // device; io when there is no memory; those of the weights.
  static Result<std::unique_ptr<Executor>> bind(Session& session, const Symbol& symbol,
                                                std::map<std::string, NDArray> arrays, Options options);
  static Result<std::unique_ptr<Executor>> bind(Session& session, const Symbol& symbol,
                                                std::map<std::string, NDArray> arrays) {
    return bind(session, symbol, std::move(arrays), Options());
  }
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Pushes one pass over the inputs' present contents; returns before it has run. Waits only for weights that have been
  // written since the last pass. Errors: those of the weights.
  Status forward();

  // In the order of Symbol::outputNames(); row-major. The next forward() overwrites their contents.
  const std::vector<NDArray>& outputs() const;

  struct Memory {
    Bytes planned = 0;    // of intermediate results, shared
    Bytes unshared = 0;   // the same, if none were shared
    Bytes constants = 0;  // weights as the kernels want them, beside the arrays
  };
  Memory memory() const;

  // One line per kernel in the order they run: name, layer, shapes, layouts, implementation, place in memory.
  std::string describePlan() const;

 private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pitwall
