#include "runtime/backend/cuda/cudnn_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>

#include "db/mutex.h"
#include "db/try.h"
#include "runtime/backend/cuda/convolution_request.h"
#include "runtime/backend/cuda/device_time.h"
#include "runtime/backend/cuda/library_helpers.h"

namespace pitwall::cuda {

namespace {

using Kind = ConvolutionProblem::Kind;

std::int64_t elementsOf(const Extents& e) { return e[0] * e[1] * e[2] * e[3]; }
Bytes rounded(Bytes bytes) { return (bytes + 255) / 256 * 256; }

// The memory of one run.
struct Places {
  const void *x = nullptr, *w = nullptr, *y = nullptr, *bias = nullptr, *addend = nullptr;
  void* workspace = nullptr;
  bool operator==(const Places&) const = default;
};

// The arguments of a plan's runs, as descriptors, which are slow to make: those of the last runs are kept.
class VariantPacks {
 public:
  VariantPacks(const CudnnApi& api, const ConvolutionProblem& problem) : api_(api), problem_(problem) {}

  Result<Descriptor> of(const Places& places) {
    const ScopedLock lock(mutex_);
    for (const Entry& entry : entries_)
      if (entry.places == places) return entry.pack;
    const Descriptor pack = PITWALL_TRY(make(places));
    const Entry made{places, pack};
    if (entries_.size() < kMost) {
      entries_.push_back(made);
    } else {
      entries_[next_] = made;
      next_ = (next_ + 1) % kMost;
    }
    return made.pack;
  }

 private:
  static constexpr std::size_t kMost = 8;
  struct Entry {
    Places places;
    Descriptor pack;
  };

  Result<Descriptor> make(const Places& p) const {
    std::vector<std::int64_t> ids{kX, kW, kY};
    std::vector<const void*> data{p.x, p.w, p.y};
    if (problem_.bias) ids.push_back(kBias), data.push_back(p.bias);
    if (problem_.adds) ids.push_back(kAddend), data.push_back(p.addend);
    Descriptor pack(api_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids)
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data)
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, p.workspace);
    PITWALL_TRY(pack.finalize("the arguments of a convolution"));
    return pack;
  }

  const CudnnApi& api_;
  const ConvolutionProblem problem_;
  Mutex mutex_;
  std::vector<Entry> entries_ PITWALL_GUARDED_BY(mutex_);
  std::size_t next_ PITWALL_GUARDED_BY(mutex_) = 0;
};

// A convolution by one engine, with what the engine does not do.
class Convolution {
 public:
  Convolution(const CudnnApi& api, const ConvolutionProblem& problem, const FusedActivation& activation,
              Engine engine)
      : api_(api),
        problem_(problem),
        activation_(activation),
        engine_(std::move(engine)),
        packs_(api, engine_.is_fused ? problem : problem.unfused()) {
    epilogue_ = problem.kind == Kind::forward &&
                (engine_.is_fused ? activation.type != FusedActivation::Type::none && !problem.relu
                                  : problem.isFused() || activation.type != FusedActivation::Type::none);
    // An addend may be where the result goes: the engine then writes elsewhere.
    aside_ = epilogue_ && problem.adds && !engine_.is_fused;
    pixels_ = problem.channels_last ? 1 : problem.y[2] * problem.y[3];
  }

  Bytes workspaceBytes() const {
    return rounded(engine_.workspace_bytes) + (aside_ ? elementsOf(problem_.y) * sizeOf(problem_.type) : 0);
  }
  const Engine& engine() const { return engine_; }

  Status run(const KernelContext& context, const Places& given) {
    Places places = given;
    places.workspace = context.workspace;
    if (!engine_.is_fused) places.bias = places.addend = nullptr;
    if (aside_) places.y = static_cast<char*>(context.workspace) + rounded(engine_.workspace_bytes);
    const cudnnHandle_t handle = PITWALL_TRY(handleFor(api_, context.stream));
    const Descriptor pack = PITWALL_TRY(packs_.of(places));
    PITWALL_TRY(
        api_.statusOf(api_.cudnnBackendExecute(handle, engine_.plan.get(), pack.get()), engine_.name));
    if (!epilogue_) return {};
    const auto left = [this](const void* array) { return engine_.is_fused ? nullptr : array; };
    return launchEpilogue(
        context, {problem_.type, elementsOf(problem_.y), problem_.y[1], pixels_, activation_, places.y,
                  left(given.bias), left(given.addend), const_cast<void*>(given.y)});
  }

 private:
  const CudnnApi& api_;
  const ConvolutionProblem problem_;
  const FusedActivation activation_;
  const Engine engine_;
  VariantPacks packs_;
  bool epilogue_ = false, aside_ = false;
  std::int64_t pixels_ = 1;
};

class ConvolutionKernel final : public Kernel {
 public:
  ConvolutionKernel(const ConvolutionRequest& request, Signature signature,
                    std::unique_ptr<Convolution> convolution, std::vector<Measured> times)
      : request_(request), convolution_(std::move(convolution)) {
    inputs_ = std::move(signature.inputs);
    outputs_ = std::move(signature.outputs);
    workspace_bytes_ = convolution_->workspaceBytes();
    if (request_.bias_gradient) workspace_bytes_ = std::max(workspace_bytes_, channels().sizeBytes(1));
    implementation_ = "cudnn " + convolution_->engine().name;
    problem_ = request_.problem.describe();
    measured_ = std::move(times);
  }

  Status run(const KernelArgs& a) const override {
    const auto at = [&a](const ConvolutionRequest::Argument& argument) -> const void* {
      if (!argument) return nullptr;
      return argument->is_output ? a.outputs[argument->index] : a.inputs[argument->index];
    };
    const bool fuses = request_.problem.kind == Kind::forward;
    const void* const bias = at(request_.bias);
    PITWALL_TRY(convolution_->run(a.context, {.x = at(request_.x),
                                              .w = at(request_.w),
                                              .y = at(request_.y),
                                              .bias = fuses ? bias : nullptr,
                                              .addend = at(request_.addend)}));
    if (request_.bias_gradient)
      return launchChannelSum(a.context, channels(), request_.problem.type, at(request_.bias_gradient),
                              a.outputs[1]);
    if (fuses || bias == nullptr) return {};
    const Extents& x = request_.problem.x;
    return launchEpilogue(a.context, {request_.problem.type,
                                      elementsOf(x),
                                      x[1],
                                      request_.problem.channels_last ? 1 : x[2] * x[3],
                                      {},
                                      a.outputs[0],
                                      bias,
                                      nullptr,
                                      a.outputs[0]});
  }

 private:
  // Of the bias' gradient.
  gpu_kernels::ChannelParts channels() const {
    const Extents e = request_.biasExtents();
    return {{e[1], e[2] * e[3], request_.problem.channels_last}, elementsOf(e) / e[1]};
  }

  const ConvolutionRequest request_;
  const std::unique_ptr<Convolution> convolution_;
};

// Measures engines, on separate arrays.
class EngineTimes {
 public:
  EngineTimes(const CudnnContext& context, const ConvolutionProblem& problem,
              const FusedActivation& activation)
      : context_(context), problem_(problem), activation_(activation) {}

  // By engine; empty where it was not allowed or did not run.
  Result<Measured> of(const std::vector<Engine>& engines, const std::vector<std::size_t>& allowed) {
    Measured seconds(engines.size());
    ScratchMemory memory;
    Places places;
    places.x = PITWALL_TRY(memory.noise(problem_.type, elementsOf(problem_.x)));
    places.w = PITWALL_TRY(memory.noise(problem_.type, elementsOf(problem_.w)));
    places.y = PITWALL_TRY(memory.noise(problem_.type, elementsOf(problem_.y)));
    places.bias = PITWALL_TRY(memory.noise(problem_.type, problem_.y[1]));
    if (problem_.adds) places.addend = PITWALL_TRY(memory.noise(problem_.type, elementsOf(problem_.y)));
    for (const std::size_t i : allowed) {
      Convolution convolution(context_.api, problem_, activation_, engines[i]);
      ScratchMemory workspace;
      const auto space = workspace.take(convolution.workspaceBytes());
      if (!space.has_value()) continue;  // too large for the memory that is left
      const auto found = secondsOnDevice(
          [&](void* stream) { return convolution.run({.stream = stream, .workspace = *space}, places); });
      if (found.has_value()) seconds[i] = *found;
      if (context_.options.verbose >= 2)
        fprintf(stderr, "pitwall: %s: %s: %s\n", problem_.describe().c_str(), engines[i].name.c_str(),
                found.has_value() ? fmt::format("{:.1f} us, workspace {:.1f} MiB", *found * 1e6,
                                                static_cast<double>(engines[i].workspace_bytes) / 1048576)
                                        .c_str()
                                  : found.error().message.c_str());
    }
    return seconds;
  }

 private:
  const CudnnContext& context_;
  const ConvolutionProblem& problem_;
  const FusedActivation& activation_;
};

std::vector<std::string> namesOf(const std::vector<Engine>& engines) {
  std::vector<std::string> names;
  for (const Engine& engine : engines) names.push_back(engine.name + (engine.is_fused ? "" : " in parts"));
  return names;
}

// Builds engines in their order until `enough`. The numbers of those that are built.
std::vector<std::size_t> buildEngines(const CudnnContext& context, std::vector<Engine>& engines,
                                      const std::function<bool(const Engine&)>& enough) {
  std::vector<std::size_t> built;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    if (!engines[i].build(context.api, context.device).has_value()) continue;
    built.push_back(i);
    if (enough(engines[i])) break;
  }
  return built;
}

std::optional<EngineChoice> choiceOf(const std::vector<Engine>& engines, std::size_t number) {
  return EngineChoice{.number = number, .name = namesOf(engines)[number]};
}

// Empty where none of the engines can be built. The chosen one is.
Result<std::optional<EngineChoice>> chooseEngine(const CudnnContext& context,
                                                 const ConvolutionProblem& problem,
                                                 const FusedActivation& activation,
                                                 std::vector<Engine>& engines,
                                                 std::vector<Kernel::Measured>& times) {
  const Autotune autotune = context.options.autotune;
  const std::string key = fmt::format("{} activation {} notes {:x} autotune {}", problem.describe(),
                                      static_cast<int>(activation.type), context.options.forbidden_notes,
                                      static_cast<int>(autotune));
  if (const auto kept = context.choices.find(key); kept && autotune != Autotune::off) {
    const auto choice = EngineChoice::of(*kept, namesOf(engines));
    if (choice && engines[choice->number].build(context.api, context.device).has_value()) {
      times = {{choice->name, choice->seconds, engines[choice->number].workspace_bytes}};
      return choice;
    }
  }
  const std::vector<std::size_t> built = buildEngines(context, engines, [&](const Engine& engine) {
    return autotune == Autotune::off && engine.workspace_bytes <= kWorkspaceLimit;
  });
  if (built.empty()) return std::optional<EngineChoice>();
  std::vector<std::int64_t> workspaces;
  for (const std::size_t i : built) workspaces.push_back(engines[i].workspace_bytes);
  std::vector<std::size_t> allowed = allowedEngines(workspaces, autotune, kWorkspaceLimit);
  for (std::size_t& number : allowed) number = built[number];
  if (autotune == Autotune::off || allowed.size() == 1) return choiceOf(engines, allowed.front());
  const Measured seconds = PITWALL_TRY(EngineTimes(context, problem, activation).of(engines, allowed));
  const std::vector<std::string> names = namesOf(engines);
  for (const std::size_t i : allowed)
    if (seconds[i]) times.push_back({names[i], *seconds[i], engines[i].workspace_bytes});
  const auto best = fastestEngine(seconds, names);
  if (!best) return choiceOf(engines, allowed.front());
  context.choices.add(key, best->text(), KernelChoices::Keep::inFile);
  return best;
}

}  // namespace

Result<KernelPtr> makeConvolution(const CudnnContext& context, const OperatorKindDesc& desc, Pass pass,
                                  const Signature& row_major) {
  Signature signature = row_major;
  const DType type = signature.inputs[0].dtype;
  for (const auto* const specs : {&signature.inputs, &signature.outputs})
    for (const TensorSpec& spec : *specs)
      if (spec.dtype != type) return KernelPtr();  // of mixed types
  const ConvolutionRequest request = ConvolutionRequest::of(desc, pass, signature);
  const ConvolutionProblem& problem = request.problem;
  EngineSearch search{.forbidden_notes = context.options.forbidden_notes};
  if (context.options.heuristics >= 0)
    search.mode = static_cast<cudnnBackendHeurMode_t>(context.options.heuristics);
  auto engines = enginesFor(context.api, context.device, problem, search);
  if (!engines.has_value()) return KernelPtr();  // cuDNN has no such windows; plain loops compute them
  std::vector<Kernel::Measured> times;
  const auto choice = PITWALL_TRY(chooseEngine(context, problem, request.activation, *engines, times));
  if (!choice) return KernelPtr();
  if (context.options.verbose >= 1)
    fprintf(stderr, "pitwall: %s: chosen: %s%s\n", problem.describe().c_str(), choice->name.c_str(),
            choice->seconds > 0 ? fmt::format(", {:.1f} us", choice->seconds * 1e6).c_str() : "");
  auto convolution =
      std::make_unique<Convolution>(context.api, problem, request.activation, (*engines)[choice->number]);
  return KernelPtr(std::make_shared<ConvolutionKernel>(request, std::move(signature), std::move(convolution),
                                                       std::move(times)));
}

}  // namespace pitwall::cuda
