#include "runtime/backend/cuda/convolution_engines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/try.h"

namespace pitwall::cuda {

namespace {

constexpr std::int64_t kAlignment = 16;  // bytes, of every array

std::vector<std::int64_t> stridesOf(const Extents& e, bool channels_last) {
  const std::int64_t c = e[1], h = e[2], w = e[3];
  if (channels_last) return {c * h * w, 1, w * c, c};
  return {c * h * w, h * w, w, 1};
}

cudnnDataType_t typeOf(DType type) {
  switch (type) {
    case DType::float16: return CUDNN_DATA_HALF;
    case DType::bfloat16: return CUDNN_DATA_BFLOAT16;
    default: return CUDNN_DATA_FLOAT;
  }
}

// Builds the operations of a problem.
class GraphBuilder {
 public:
  GraphBuilder(const CudnnApi& api, const ConvolutionProblem& problem) : api_(api), problem_(problem) {}

  Result<Descriptor> build() {
    const ConvolutionProblem& p = problem_;
    const Descriptor x = PITWALL_TRY(array(kX, p.x)), w = PITWALL_TRY(array(kW, p.w)),
                     y = PITWALL_TRY(array(kY, p.y)), how = PITWALL_TRY(windows());
    switch (p.kind) {
      case ConvolutionProblem::Kind::forward: PITWALL_TRY(addForward(x, w, y, how)); break;
      case ConvolutionProblem::Kind::data: PITWALL_TRY(addData(x, w, y, how)); break;
      case ConvolutionProblem::Kind::weights: PITWALL_TRY(addWeights(x, w, y, how)); break;
    }
    Descriptor graph(api_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_);
    PITWALL_TRY(graph.finalize("a convolution"));
    return graph;
  }

 private:
  Result<Descriptor> array(std::int64_t id, const Extents& extents, bool is_virtual = false) const {
    Descriptor tensor(api_, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    tensor
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE,
             is_virtual ? CUDNN_DATA_FLOAT : typeOf(problem_.type))
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
             std::vector<std::int64_t>(extents.begin(), extents.end()))
        .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, stridesOf(extents, problem_.channels_last))
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment)
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, is_virtual);
    PITWALL_TRY(tensor.finalize("an array of a convolution"));
    return tensor;
  }

  Result<Descriptor> windows() const {
    const auto pair = [](const std::array<std::int64_t, 2>& a) {
      return std::vector<std::int64_t>(a.begin(), a.end());
    };
    Descriptor how(api_, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, std::int64_t{2})
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, pair(problem_.dilate))
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, pair(problem_.stride))
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, pair(problem_.pad))
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, pair(problem_.pad));
    PITWALL_TRY(how.finalize("the windows of a convolution"));
    return how;
  }

  Status add(Descriptor operation) {
    PITWALL_TRY(operation.finalize("an operation of a convolution"));
    operations_.push_back(std::move(operation));
    return {};
  }

  Status addForward(const Descriptor& x, const Descriptor& w, const Descriptor& y, const Descriptor& how) {
    const bool fused = problem_.isFused();
    Descriptor last = fused ? PITWALL_TRY(array(next_id_++, problem_.y, true)) : y;
    Descriptor operation(api_, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, last)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0F)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.0F);
    PITWALL_TRY(add(std::move(operation)));
    int left = int{problem_.adds} + int{problem_.bias} + int{problem_.relu};
    const auto to = [&]() -> Result<Descriptor> {
      if (--left == 0) return y;
      return array(next_id_++, problem_.y, true);
    };
    if (problem_.adds) {
      const Descriptor addend = PITWALL_TRY(array(kAddend, problem_.y)), sum = PITWALL_TRY(to());
      PITWALL_TRY(addPointwise(CUDNN_POINTWISE_ADD, last, &addend, sum));
      last = sum;
    }
    if (problem_.bias) {
      const Descriptor bias = PITWALL_TRY(array(kBias, {1, problem_.y[1], 1, 1})), sum = PITWALL_TRY(to());
      PITWALL_TRY(addPointwise(CUDNN_POINTWISE_ADD, last, &bias, sum));
      last = sum;
    }
    if (problem_.relu) PITWALL_TRY(addPointwise(CUDNN_POINTWISE_RELU_FWD, last, nullptr, PITWALL_TRY(to())));
    return {};
  }

  Status addPointwise(cudnnPointwiseMode_t mode, const Descriptor& from, const Descriptor* other,
                      const Descriptor& to) {
    Descriptor function(api_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    function.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    PITWALL_TRY(function.finalize("a function of each element"));
    Descriptor operation(api_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    if (other != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
    return add(std::move(operation));
  }

  Status addData(const Descriptor& x, const Descriptor& w, const Descriptor& y, const Descriptor& how) {
    Descriptor operation(api_, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, how)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, w)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, x)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, y)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, 1.0F)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, 0.0F);
    return add(std::move(operation));
  }

  Status addWeights(const Descriptor& x, const Descriptor& w, const Descriptor& y, const Descriptor& how) {
    Descriptor operation(api_, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, how)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, w)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, x)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, y)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT, 1.0F)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT, 0.0F);
    return add(std::move(operation));
  }

  const CudnnApi& api_;
  const ConvolutionProblem& problem_;
  std::vector<Descriptor> operations_;
  std::int64_t next_id_ = 1000;  // of arrays that exist inside an engine alone
};

std::uint32_t notesOf(const Descriptor& engine) {
  std::uint32_t notes = 0;
  for (const auto note : engine.values<cudnnBackendNumericalNote_t>(
           CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT))
    notes |= 1U << static_cast<unsigned>(note);
  return notes;
}

// Adds the engines of one heuristic until there are `most`.
Status addEngines(const CudnnApi& api, const Descriptor& device, const Descriptor& graph, bool is_fused,
                  cudnnBackendHeurMode_t mode, std::uint32_t forbidden, std::size_t most,
                  std::vector<Engine>& into) {
  Descriptor heuristics(api, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)
      .set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
  // There may be none for a fusion: others compute its parts.
  if (!heuristics.finalize("the choice of an engine").has_value()) return {};
  const std::vector<Descriptor> configurations =
      heuristics.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  for (const Descriptor& configuration : configurations) {
    if (into.size() >= most) return {};
    const Descriptor engine =
        configuration.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    if (engine.get() == nullptr) continue;
    const std::uint32_t notes = notesOf(engine);
    if ((notes & forbidden) != 0) continue;
    const std::string names = namesOfNotes(notes);
    into.push_back({.configuration = configuration,
                    .notes = notes,
                    .is_fused = is_fused,
                    .name = fmt::format("engine {}{}{}", engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX),
                                        names.empty() ? "" : " ", names),
                    .plan = {}});
  }
  return {};
}

}  // namespace

Status Engine::build(const CudnnApi& api, const Descriptor& device) {
  Descriptor made(api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  made.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration)
      .set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
  PITWALL_TRY(made.finalize(name));
  plan = made;
  workspace_bytes = plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  return {};
}

ConvolutionProblem ConvolutionProblem::unfused() const {
  ConvolutionProblem plain = *this;
  plain.bias = plain.adds = plain.relu = false;
  return plain;
}

std::string ConvolutionProblem::describe() const {
  constexpr std::array kKinds{"forward", "data", "weights"};
  const std::string of_type = type == DType::float32 ? "" : std::string(" ") + toString(type);
  return fmt::format(
      "convolution{} {} {} {} by {} to {} strides {} pads {} dilates {} bias {} adds {} relu {}", of_type,
      kKinds[static_cast<std::size_t>(kind)], channels_last ? "channels last" : "row-major",
      fmt::join(x, "x"), fmt::join(w, "x"), fmt::join(y, "x"), fmt::join(stride, ","), fmt::join(pad, ","),
      fmt::join(dilate, ","), bias, adds, relu);
}

std::string namesOfNotes(std::uint32_t notes) {
  constexpr std::array kNames{"tensor core",        "converts inputs to 16 bits",
                              "reduces in 16 bits", "fft",
                              "nondeterministic",   "winograd",
                              "4x4 tiles",          "6x6 tiles",
                              "13x13 tiles",        "keeps NaN"};
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if ((notes >> i & 1U) != 0) found.emplace_back(kNames[i]);
  return fmt::format("{}", fmt::join(found, ", "));
}

Result<std::vector<Engine>> enginesFor(const CudnnApi& api, const Descriptor& device,
                                       const ConvolutionProblem& problem, const EngineSearch& search) {
  std::vector<Engine> engines;
  const auto addAll = [&](const ConvolutionProblem& p, bool is_fused, std::size_t most) -> Status {
    const Descriptor graph = PITWALL_TRY(GraphBuilder(api, p).build());
    PITWALL_TRY(addEngines(api, device, graph, is_fused, search.mode, search.forbidden_notes, most, engines));
    return addEngines(api, device, graph, is_fused, CUDNN_HEUR_MODE_FALLBACK, search.forbidden_notes,
                      std::max(most, engines.size() + 1), engines);
  };
  PITWALL_TRY(addAll(problem, true, search.most));
  // The parts of a fusion by themselves may be faster, where cuDNN's fused engines are few.
  if (problem.isFused()) PITWALL_TRY(addAll(problem.unfused(), false, engines.size() + search.most / 2));
  return engines;
}

}  // namespace pitwall::cuda
