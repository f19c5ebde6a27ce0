// A sequence of oneDNN primitives as a kernel.
//
// Built while it is prepared, then immutable. run() is re-entrant: primitives take their scratchpad from the
// run's workspace, and each run in progress has its own memory handles, which are kept for the next run. A
// oneDNN memory object costs more to create (0.5 us) than to point elsewhere (10 ns).
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "db/mutex.h"
#include "runtime/backend.h"
#include "runtime/backend/onednn/layout.h"
#include "runtime/backend/support/kernel_choices.h"
#include "runtime/backend/support/options.h"
#include "runtime/backend/support/signature.h"

namespace pitwall::onednn {

// The location of a primitive's argument.
struct Place {
  enum class Kind : std::uint8_t { input, output, temporary } kind;
  std::size_t index;
  Bytes piece = 0;  // from the place of one piece of the batch to that of the next; 0 = all have the same
};
inline Place inputAt(std::size_t i) { return {Place::Kind::input, i}; }
inline Place outputAt(std::size_t i) { return {Place::Kind::output, i}; }
inline Place eachPiece(const Place& first, Bytes bytes) { return {first.kind, first.index, bytes}; }

struct Argument {
  int id;  // DNNL_ARG_*
  Desc desc;
  Place place;
};

class PrimitiveKernel final : public Kernel {
 public:
  PrimitiveKernel(const dnnl::engine& engine, Signature signature, std::string implementation);
  ~PrimitiveKernel() override;
  Status run(const KernelArgs& args) const override;

  // For building the kernel.
  void setInput(std::size_t i, const Desc& desc) { inputs_[i] = specOf(inputs_[i].shape, desc); }
  void keepInput(std::size_t i, const TensorSpec& spec) { inputs_[i] = spec; }  // not read: any layout works
  void setOutput(std::size_t i, const Desc& desc) { outputs_[i] = specOf(outputs_[i].shape, desc); }
  void setWorkspace(std::size_t output, Bytes size) { outputs_[output].shape = {size}; }
  Place addTemporary(const Desc& desc);
  void addStep(const dnnl::primitive& primitive, const Desc& scratchpad, std::vector<Argument> arguments);
  // The last step copies this input to this output: it is left out in runs where both are the same memory.
  void skipInPlace(std::size_t input, std::size_t output) { steps_.back().in_place = {input, output}; }
  // The steps are run one after the other for each of so many pieces of the batch.
  void setPieces(std::int64_t pieces) { pieces_ = pieces; }
  // At most; 0 = as many as other operators.
  void setThreads(int threads) { threads_ = threads; }
  void setMeasured(double seconds) { measured_seconds_ = seconds; }

 private:
  struct Step {
    dnnl::primitive primitive;
    Desc scratchpad;
    std::vector<Argument> arguments;
    std::optional<std::pair<std::size_t, std::size_t>> in_place = std::nullopt;  // of skipInPlace()
  };
  struct Execution;
  class Lease;

  void bind(Execution& execution, const KernelArgs& args, std::int64_t piece) const;
  void runSteps(Execution& execution, const KernelArgs& args) const;

  const dnnl::engine engine_;
  std::vector<Step> steps_;
  std::vector<Bytes> temporaries_;  // offsets into the workspace; the scratchpad follows them
  Bytes temporary_bytes_ = 0;
  Bytes scratchpad_bytes_ = 0;  // of the primitive that needs most
  std::int64_t pieces_ = 1;
  int threads_ = 0;

  mutable Mutex mutex_;
  mutable std::vector<std::unique_ptr<Execution>> idle_ PITWALL_GUARDED_BY(mutex_);
};

// Attributes for primitives whose scratchpad the caller provides.
dnnl::primitive_attr userScratchpad();

// Arguments of every function that builds a kernel.
struct Request {
  const dnnl::engine& engine;
  const BackendOptions& options;
  Pass pass;
  std::span<const TensorSpec> inputs;
  const TensorSpec* like;
  Signature signature;               // row-major
  KernelChoices* choices = nullptr;  // nullptr = the library's own are taken
};

}  // namespace pitwall::onednn
