#include "runtime/backend/onednn/primitive_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/backend/onednn/openmp_limit.h"

namespace pitwall::onednn {
namespace {

constexpr std::size_t kAlignment = 128;  // two cache lines, as the prefetcher fetches them

Bytes roundUp(Bytes size, Bytes to) { return (size + to - 1) / to * to; }

}  // namespace

// The memory objects of one run in progress.
struct PrimitiveKernel::Execution {
  struct Bound {
    dnnl::memory memory;
    Place place;
  };
  struct Call {
    std::vector<dnnl_exec_arg_t> arguments;  // those of a step, then its scratchpad
    std::vector<Bound> bound;
    dnnl::memory scratchpad;
  };

  Execution(const dnnl::engine& engine, const std::vector<Step>& steps) : stream(engine) {
    for (const Step& step : steps) {
      Call& call = calls.emplace_back();
      for (const Argument& argument : step.arguments) {
        dnnl::memory memory(argument.desc, engine, nullptr);
        call.arguments.push_back({argument.id, memory.get()});
        call.bound.push_back({std::move(memory), argument.place});
      }
      call.scratchpad = dnnl::memory(step.scratchpad, engine, nullptr);
      call.arguments.push_back({DNNL_ARG_SCRATCHPAD, call.scratchpad.get()});
    }
  }

  dnnl::stream stream;
  std::vector<Call> calls;
};

// Takes an idle execution, or creates one; returns it at the end.
class PrimitiveKernel::Lease {
 public:
  explicit Lease(const PrimitiveKernel& kernel) : kernel_(kernel) {
    {
      const ScopedLock lock(kernel.mutex_);
      if (!kernel.idle_.empty()) {
        execution_ = std::move(kernel.idle_.back());
        kernel.idle_.pop_back();
      }
    }
    if (!execution_) execution_ = std::make_unique<Execution>(kernel.engine_, kernel.steps_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    const ScopedLock lock(kernel_.mutex_);
    kernel_.idle_.push_back(std::move(execution_));
  }
  Execution& operator*() { return *execution_; }

 private:
  const PrimitiveKernel& kernel_;
  std::unique_ptr<Execution> execution_;
};

PrimitiveKernel::PrimitiveKernel(const dnnl::engine& engine, Signature signature, std::string implementation)
    : engine_(engine) {
  inputs_ = std::move(signature.inputs);
  outputs_ = std::move(signature.outputs);
  implementation_ = std::move(implementation);
}

PrimitiveKernel::~PrimitiveKernel() = default;

Place PrimitiveKernel::addTemporary(const Desc& desc) {
  temporaries_.push_back(temporary_bytes_);
  temporary_bytes_ += roundUp(static_cast<Bytes>(desc.get_size()), kAlignment);
  workspace_bytes_ = temporary_bytes_ + scratchpad_bytes_;
  return {Place::Kind::temporary, temporaries_.size() - 1};
}

void PrimitiveKernel::addStep(const dnnl::primitive& primitive, const Desc& scratchpad,
                              std::vector<Argument> arguments) {
  scratchpad_bytes_ = std::max(scratchpad_bytes_, static_cast<Bytes>(scratchpad.get_size()));
  workspace_bytes_ = temporary_bytes_ + scratchpad_bytes_;
  steps_.push_back({primitive, scratchpad, std::move(arguments)});
}

void PrimitiveKernel::bind(Execution& execution, const KernelArgs& args, std::int64_t piece) const {
  auto* const scratch = static_cast<std::byte*>(args.context.workspace);
  PITWALL_CHECK(scratch != nullptr || workspaceBytes() == 0, "oneDNN (%s): a run without workspace",
                implementation().c_str());
  for (Execution::Call& call : execution.calls) {
    for (Execution::Bound& b : call.bound) {
      // oneDNN has one handle type for inputs and outputs.
      std::byte* data = nullptr;
      switch (b.place.kind) {
        case Place::Kind::input:
          data = static_cast<std::byte*>(const_cast<void*>(args.inputs[b.place.index]));
          break;
        case Place::Kind::output: data = static_cast<std::byte*>(args.outputs[b.place.index]); break;
        case Place::Kind::temporary: data = scratch + temporaries_[b.place.index]; break;
      }
      b.memory.set_data_handle(data + piece * b.place.piece);
    }
    call.scratchpad.set_data_handle(scratch + temporary_bytes_);
  }
}

void PrimitiveKernel::runSteps(Execution& execution, const KernelArgs& args) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Execution::Call& call = execution.calls[i];
    const auto& in_place = steps_[i].in_place;
    if (in_place && args.inputs[in_place->first] == args.outputs[in_place->second]) continue;
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(steps_[i].primitive.get(), execution.stream.get(),
                               static_cast<int>(call.arguments.size()), call.arguments.data()),
        "could not execute a primitive");
  }
}

Status PrimitiveKernel::run(const KernelArgs& args) const {
  try {
    const OpenMpLimit limit(threads_);
    Lease lease(*this);
    for (std::int64_t piece = 0; piece < pieces_; ++piece) {
      bind(*lease, args, piece);
      runSteps(*lease, args);
    }
    return {};
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal, fmt::format("oneDNN ({}): {}", implementation_, error.what()));
  }
}

dnnl::primitive_attr userScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

}  // namespace pitwall::onednn
