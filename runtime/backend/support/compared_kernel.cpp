#include "runtime/backend/support/compared_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "db/try.h"

namespace pitwall {
namespace {

constexpr double kTolerance = 1e-3;  // of the largest value

// Aligned as kernels expect.
class Memory {
 public:
  explicit Memory(Bytes bytes) : bytes_(static_cast<std::size_t>(bytes) + 64) {}
  void* data() {
    void* place = bytes_.data();
    std::size_t space = bytes_.size();
    return std::align(64, space - 64, place, space);
  }

 private:
  std::vector<std::byte> bytes_;
};

Status runAlone(const Kernel& kernel, std::span<const void* const> inputs, std::span<void* const> outputs,
                KernelArgs args) {
  Memory workspace(kernel.workspaceBytes());
  args.inputs = inputs;
  args.outputs = outputs;
  args.context.workspace = kernel.workspaceBytes() != 0 ? workspace.data() : nullptr;
  return kernel.run(args);
}

class ComparedKernel final : public Kernel {
 public:
  explicit ComparedKernel(ComparedKernels kernels) : all_(std::move(kernels)) {
    inputs_ = all_.kernel->inputs();
    outputs_ = all_.kernel->outputs();
    workspace_bytes_ = all_.kernel->workspaceBytes();
    measured_seconds_ = all_.kernel->measuredSeconds();
    implementation_ = all_.kernel->implementation() + ", compared";
  }

  Status run(const KernelArgs& args) const override {
    std::vector<Memory> copies, results;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    // The kernel may overwrite its inputs, and some outputs are read.
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      copies.emplace_back(all_.plain->inputs()[i].sizeBytes());
      inputs.push_back(copies.back().data());
      if (isReadable(i, args))
        PITWALL_TRY(copyRows(all_.input_reorders[i], inputs_[i], args.inputs[i], copies.back().data(), args));
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      results.emplace_back(all_.plain->outputs()[i].sizeBytes());
      outputs.push_back(results.back().data());
      if (isCompared(i))
        PITWALL_TRY(
            copyRows(all_.output_reorders[i], outputs_[i], args.outputs[i], results.back().data(), args));
    }
    PITWALL_TRY(all_.kernel->run(args));
    PITWALL_TRY(runAlone(*all_.plain, inputs, outputs, args));
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (isCompared(i)) PITWALL_TRY(compare(i, args, static_cast<const float*>(outputs[i])));
    return {};
  }

 private:
  // An input that is not read may have the place of any output.
  bool isReadable(std::size_t input, const KernelArgs& args) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (args.outputs[i] == args.inputs[input]) return outputs_[i].sizeBytes() >= inputs_[input].sizeBytes();
    return args.inputs[input] != nullptr;
  }

  // Workspaces are each backend's own.
  bool isCompared(std::size_t output) const {
    return outputs_[output].dtype == DType::float32 &&
           outputs_[output].shape == all_.plain->outputs()[output].shape;
  }

  static Status copyRows(const KernelPtr& reorder, const TensorSpec& spec, const void* from, void* to,
                         const KernelArgs& args) {
    if (reorder != nullptr) return runAlone(*reorder, {&from, 1}, {&to, 1}, args);
    std::memcpy(to, from, static_cast<std::size_t>(spec.sizeBytes()));
    return {};
  }

  Status compare(std::size_t output, const KernelArgs& args, const float* expected) const {
    const auto count = static_cast<std::size_t>(outputs_[output].shape.elements());
    Memory rows(static_cast<Bytes>(count * sizeof(float)));
    PITWALL_TRY(
        copyRows(all_.output_reorders[output], outputs_[output], args.outputs[output], rows.data(), args));
    const auto* const found = static_cast<const float*>(rows.data());
    double largest = 1e-6;
    for (std::size_t i = 0; i < count; ++i)
      if (std::isfinite(expected[i])) largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    for (std::size_t i = 0; i < count; ++i) {
      const double difference = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
      const bool same = found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]));
      if (same || difference <= kTolerance * largest) continue;
      return fail(
          ErrorCode::internal,
          fmt::format("MXNET_MKLDNN_DEBUG: {}: output {}, element {} is {} by {}, and {} by plain loops; "
                      "MXNET_MKLDNN_ENABLED=0 runs without oneDNN",
                      all_.what, output, i, found[i], all_.kernel->implementation(), expected[i]));
    }
    return {};
  }

  const ComparedKernels all_;
};

}  // namespace

KernelPtr compareKernels(ComparedKernels kernels) {
  return std::make_shared<ComparedKernel>(std::move(kernels));
}

}  // namespace pitwall
