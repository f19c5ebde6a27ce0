// Runs a Symbol on arrays: inference and training.
//
// bind() lowers the graph to kernels once: for inference neighbouring operators are fused; layouts are chosen so that data is
// reordered as rarely as possible, and memory is planned for all intermediate results together, in training those of forward and
// backward pass. forward() and backward() then push the kernels.
//
//   Executor::Options options;
//   for (const std::string& name : {"fc1_weight", "fc1_bias"}) options.gradients[name] = {arrays[name].gradient()};
//   auto executor = PITWALL_TRY(Executor::bind(session, symbol, arrays, options));
//   PITWALL_TRY(executor->forward(Executor::Mode::training));
//   PITWALL_TRY(executor->backward());   // the arrays' gradients are written: update the weights
//
// MXNET_SUBGRAPH_BACKEND=NONE turns fusion off, MXNET_ELIMINATE_COMMON_EXPR=0 has what is computed twice computed twice,
// MXNET_EXEC_ENABLE_INPLACE=0 turns off results that overwrite an input, NNVM_EXEC_MATCH_RANGE sets how much larger or smaller a
// reused block may be (0: none is reused) and NNVM_AUTO_SEARCH_MATCH_RANGE=1 tries smaller values too,
// MXNET_EXEC_BULK_EXEC_INFERENCE=0 makes each operator of inference an operator of the engine, and MXNET_EXEC_BULK_EXEC_TRAIN and
// MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN with _FWD and _BWD say the same of training. MXNET_BACKWARD_DO_MIRROR=1, or
// MXNET_MEMORY_OPT=1, computes cheap results again in the backward pass to keep fewer; MXNET_EXEC_INPLACE_GRAD_SUM_CAP is the
// number of gradients from which on a sum of gradients is made step by step. MXNET_EXEC_VERBOSE_LOGGING=1 prints the kernels when an
// executor is bound, MXNET_MEM_PLAN_VERBOSE_LOGGING=1 the memory of each.
//
// For inference, bind() measures the backend's implementations of convolutions that it does not know yet on this machine, some tens of
// milliseconds for each shape, and keeps the times in a file (PITWALL_KERNEL_CHOICES). PITWALL_MEASURE_KERNELS=0 takes the first
// choices of the backend's library: results are then the same to the last digit wherever the same library runs.
//
// On a GPU MXNET_ENABLE_CUDA_GRAPHS=1 has the operators of a pass captured into CUDA graphs, which later passes with the same arrays
// repeat; what draws random numbers or checks its input runs between them. The engine then runs a graph as one operator.
//
// Threads: one thread uses an executor at a time, and one at a time those that share memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"
#include "db/units.h"
#include "runtime/device.h"
#include "runtime/ndarray.h"
#include "runtime/session.h"
#include "runtime/symbol.h"

namespace pitwall {

// What becomes of the gradient of an argument, as MXNet's grad_req: it is not computed, it overwrites the array, or it is added to
// the array's contents.
enum class GradientRequest : std::uint8_t { none, write, add };

class Executor {
 public:
  // Some operators compute something else in training: Dropout, BatchNorm.
  enum class Mode : std::uint8_t { inference, training };

  struct Gradient {
    NDArray array = {};  // of the argument's shape; empty: bind() makes one of zeros
    GradientRequest request = GradientRequest::write;
  };

  struct Options {
    Device device = {};
    // Arrays that change from one forward() to the next. All others are weights: inference reads them, and converts them for
    // the kernels, in bind() and in the forward() after they have been written; training keeps them in the layout of the
    // kernels.
    std::vector<std::string> inputs = {"data"};
    // By argument: what training computes. Empty: an executor for inference, which makes what training needs at the first
    // forward() that asks for it.
    std::map<std::string, Gradient> gradients = {};
    std::uint64_t seed = 0;  // of Dropout; each forward() draws anew
    // Its memory of intermediate results is used where it is large enough. Both must not be between forward() and backward() at
    // the same time, and the results of one are lost when the other runs; those that outputs() returns are not.
    const Executor* share_with = nullptr;
    // false: the memory of intermediate results goes back to the session's pool after each pass of inference and each backward pass.
    bool keep_memory = true;
    // false: results that the program still holds when forward() is called stay as they are, and the pass writes new arrays.
    bool overwrite_outputs = true;
    // false: convolutions of inference take the first choices of the backend's library, as with PITWALL_MEASURE_KERNELS=0.
    bool measure_kernels = true;
  };

  // `arrays` has the arguments and auxiliary states by name; an argument that is not used, such as a label in inference, may be
  // missing. The session outlives the executor. Waits for the weights of inference. Errors: as Symbol::inferShapes(); notFound
  // for a missing array and for a gradient of no argument; unsupported for an operator without a kernel or gradient, naming its
  // node; invalidInput for an array on another device and for a gradient of another shape; io when there is no memory; those of
  // the weights.
  static Result<std::unique_ptr<Executor>> bind(Session& session, const Symbol& symbol,
                                                std::map<std::string, NDArray> arrays, Options options);
  static Result<std::unique_ptr<Executor>> bind(Session& session, const Symbol& symbol,
                                                std::map<std::string, NDArray> arrays) {
    return bind(session, symbol, std::move(arrays), Options());
  }
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The same on other arrays, such as another batch: `changed` replaces the arrays of these names. The executor that is
  // returned shares this one's memory and its gradients' arrays; a changed argument with a gradient gets a new one. Errors: as
  // bind().
  Result<std::unique_ptr<Executor>> rebind(const std::map<std::string, NDArray>& changed) const;

  // Passes from now on read `array` for an argument of Options::inputs. Nothing is copied. Errors: notFound for another name;
  // invalidInput for an array of another shape, element type or device.
  Status replaceInput(const std::string& argument, const NDArray& array);

  // Pushes one pass over the arrays' present contents; returns before it has run. Inference waits for weights that have been
  // written since the last pass, training for nothing. In training, auxiliary states are updated. Errors: those of the weights;
  // invalidInput for an array that reshape() was called on after bind(); the first pass of a mode also has those of bind().
  Status forward(Mode mode = Mode::inference);

  // Pushes the backward pass of the last forward(), which was one of training; returns before it has run. Writes, or adds to, the
  // gradients. `heads` are the gradients of the outputs, in their order; those of losses, such as SoftmaxOutput, may be empty or
  // missing at the end. Errors: invalidInput without such a forward(), and for a head gradient that is missing or has another
  // shape or device.
  Status backward(std::span<const NDArray> heads = {});

  // Of the last forward(), in the order of Symbol::outputNames(); row-major. The next forward() in the same mode overwrites
  // their contents, unless Options::overwrite_outputs says otherwise.
  const std::vector<NDArray>& outputs() const;

  // The array of an argument's gradient; an empty handle where none was asked for.
  NDArray gradient(const std::string& argument) const;

  struct Memory {
    Bytes planned = 0;    // of intermediate results, shared; with gradients those of training
    Bytes unshared = 0;   // the same, if none were shared
    Bytes constants = 0;  // weights as the kernels want them, beside the arrays
    Bytes pool = 0;  // of the memory for intermediate results, with what other executors that share it needed
  };
  Memory memory() const;

  // One line per kernel in the order they run: name, layer, shapes, layouts, implementation, place in memory. Of what bind()
  // made: training with gradients, else inference.
  std::string describePlan() const;

 private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pitwall
