// Operators of language models: Embedding, take, RNN.
#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/operators/embedding.h"
#include "runtime/operators/rnn.h"
#include "runtime/operators/take.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kEmbeddingRules[] = {
    {"input_dim", kInteger, nullptr, "", 1},
    {"output_dim", kInteger, nullptr, "", 1},
    {"dtype", kUnused, "float32"},
    {"sparse_grad", kBoolean, "False"},
};

constexpr AttributeRule kTakeRules[] = {
    {"axis", kInteger, "0"},
    {"mode", kChoice, "clip", "clip|wrap|raise"},
};

constexpr AttributeRule kRnnRules[] = {
    {"state_size", kInteger, nullptr, "", 1},
    {"num_layers", kInteger, nullptr, "", 1},
    {"mode", kChoice, nullptr, "rnn_relu|rnn_tanh|lstm|gru"},
    {"bidirectional", kBoolean, "False"},
    {"p", kReal, "0"},
    {"state_outputs", kBoolean, "False"},
    {"projection_size", kInteger, "None", "", 1, true},
    {"lstm_state_clip_min", kReal, "None", "", 0, true},
    {"lstm_state_clip_max", kReal, "None", "", 0, true},
    {"lstm_state_clip_nan", kBoolean, "False"},
    {"use_sequence_length", kBoolean, "False"},
};

Status embeddingShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kEmbeddingRules, a);
  const std::int64_t width = read.integer("output_dim");
  PITWALL_TRY(assign(s.inputs[1], {read.integer("input_dim"), width}, "weight"));
  const auto& data = s.inputs[0];
  if (!data) return {};
  if (data->rank() >= Shape::kMaxRank)
    return wrong(fmt::format("data {} has too many axes", shapeText(*data)));
  Shape out = *data;
  out.append(width);
  return assign(s.outputs[0], out, "output");
}

// out = a[:axis] + indices + a[axis + 1:].
Status takeShapes(const Attributes& attributes, NodeShapes& s) {
  const auto &a = s.inputs[0], &indices = s.inputs[1];
  if (!a || !indices) return {};
  const int axis =
      PITWALL_TRY(axisOf(AttributeReader(kTakeRules, attributes).integer("axis"), a->rank(), "axis"));
  if (a->rank() + indices->rank() - 1 > Shape::kMaxRank)
    return wrong(fmt::format("taking {} from {} gives more than {} axes", shapeText(*indices), shapeText(*a),
                             Shape::kMaxRank));
  Shape out;
  for (int i = 0; i < a->rank(); ++i) {
    if (i != axis) {
      out.append((*a)[i]);
      continue;
    }
    for (int j = 0; j < indices->rank(); ++j) out.append((*indices)[j]);
  }
  return assign(s.outputs[0], out, "output");
}

struct RnnSizes {
  std::int64_t state, layers, directions, gates;
};

RnnSizes rnnSizes(const AttributeReader& read) {
  const std::string_view mode = read.choice("mode");
  return {read.integer("state_size"), read.integer("num_layers"), read.boolean("bidirectional") ? 2 : 1,
          mode == "lstm"  ? 4
          : mode == "gru" ? 3
                          : 1};
}

// Weights for input and state and two biases, of each direction of each layer, in one array. Empty optional: too many.
std::optional<std::int64_t> rnnParameters(const RnnSizes& sizes, std::int64_t input) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const std::int64_t rows = times({sizes.gates, sizes.state, sizes.directions});
  const std::int64_t first = times({rows, input + sizes.state + 2});
  const std::int64_t others = times({rows, sizes.state * (sizes.directions + 1) + 2, sizes.layers - 1});
  if (first > kMost || others > kMost) return std::nullopt;
  return first + others;
}

Status rnnShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kRnnRules, a);
  if (read.integerOrNone("projection_size") || read.boolean("use_sequence_length"))
    return fail(ErrorCode::unsupported, "projection_size and use_sequence_length are not supported");
  if (const double rate = read.real("p"); !(rate >= 0 && rate < 1))
    return wrong(fmt::format("p={} must be at least 0 and less than 1", rate));
  const RnnSizes sizes = rnnSizes(read);
  const auto& data = s.inputs[0];
  if (!data) return {};
  if (data->rank() != 3)
    return wrong(
        fmt::format("data has shape {}, must have 3 axes: steps, batch, features", shapeText(*data)));
  if ((*data)[2] != 0) {
    const auto parameters = rnnParameters(sizes, (*data)[2]);
    if (!parameters) return wrong("it has more parameters than can be counted");
    PITWALL_TRY(assign(s.inputs[1], {*parameters}, "parameters"));
  }
  const Shape state{sizes.layers * sizes.directions, (*data)[1], sizes.state};
  constexpr const char* kNames[] = {"data", "parameters", "state", "state_cell"};
  for (std::size_t i = 2; i < s.inputs.size(); ++i) PITWALL_TRY(assign(s.inputs[i], state, kNames[i]));
  PITWALL_TRY(assign(s.outputs[0], {(*data)[0], (*data)[1], sizes.directions * sizes.state}, "output"));
  for (std::size_t i = 1; i < s.outputs.size(); ++i) PITWALL_TRY(assign(s.outputs[i], state, "state output"));
  return {};
}

Flop rnnFlop(const Attributes&, const NodeShapes& s) {
  const Shape& data = *s.inputs[0];
  return times({2, s.inputs[1]->elements(), data[0], data[1]});
}

std::vector<std::string> rnnInputs(const Attributes& a) {
  std::vector<std::string> names = {"data", "parameters", "state"};
  if (AttributeReader(kRnnRules, a).choice("mode") == "lstm") names.push_back("state_cell");
  return names;
}

std::vector<std::string> rnnOutputs(const Attributes& a) {
  const AttributeReader read(kRnnRules, a);
  if (!read.boolean("state_outputs")) return {"output"};
  if (read.choice("mode") == "lstm") return {"output", "state", "state_cell"};
  return {"output", "state"};
}

Result<Lowered> lowerEmbedding(const Attributes& a, const NodeShapes& s, bool) {
  const AttributeReader read(kEmbeddingRules, a);
  const EmbeddingDesc desc{read.integer("input_dim"), read.integer("output_dim")};
  return withGradient(lowered(desc, 2), {.name = "_backward_Embedding",
                                         .desc = desc,
                                         .inputs = {from::input(0), from::gradient()},
                                         .gradients = {1},
                                         .flop = s.outputs[0]->elements()});
}

Result<Lowered> lowerTake(const Attributes& a, const NodeShapes& s, bool) {
  const AttributeReader read(kTakeRules, a);
  TakeDesc desc;
  desc.axis = static_cast<int>(read.integer("axis"));
  const std::string_view mode = read.choice("mode");
  desc.mode = mode == "wrap" ? TakeMode::wrap : mode == "raise" ? TakeMode::raise : TakeMode::clip;
  return withGradient(lowered(desc, 2),
                      {.name = "_backward_take",
                       .desc = desc,
                       .inputs = {from::unread(from::input(0)), from::input(1), from::gradient()},
                       .gradients = {0},
                       .flop = s.outputs[0]->elements()});
}

// The states that are no output of the node are extra outputs of the kernel, before the workspace.
GradientKernel rnnGradient(const RnnDesc& desc, const NodeShapes& s, Flop flop) {
  const int inputs = static_cast<int>(s.inputs.size()), states = inputs - 2;
  const bool states_are_outputs = s.outputs.size() > 1;
  GradientKernel kernel{.name = "_backward_RNN", .desc = desc, .flop = flop};
  for (int i = 0; i < inputs; ++i) {
    kernel.inputs.push_back(from::input(i));
    kernel.gradients.push_back(i);
  }
  kernel.inputs.push_back(from::output(0));
  kernel.inputs.push_back(from::gradient());
  for (int i = 0; i < states; ++i)
    kernel.inputs.push_back(states_are_outputs ? from::gradient(1 + i) : from::zerosLike(2 + i));
  kernel.inputs.push_back(from::extra(states_are_outputs ? 0 : states));
  return kernel;
}

Result<Lowered> lowerRnn(const Attributes& a, const NodeShapes& s, bool training) {
  const AttributeReader read(kRnnRules, a);
  if (!read.isNone("lstm_state_clip_min") || !read.isNone("lstm_state_clip_max"))
    return noKernel("lstm_state_clip");
  const std::string_view mode = read.choice("mode");
  RnnDesc desc;
  desc.type = mode == "lstm"       ? RnnType::lstm
              : mode == "gru"      ? RnnType::gru
              : mode == "rnn_relu" ? RnnType::relu
                                   : RnnType::tanh;
  desc.bidirectional = read.boolean("bidirectional");
  desc.hidden = read.integer("state_size");
  desc.layers = read.integer("num_layers");
  if (training) desc.dropout = static_cast<float>(read.real("p"));
  auto result = lowered(desc, static_cast<int>(s.inputs.size()));
  for (std::size_t i = 1; i < s.outputs.size(); ++i) result->outputs.push_back(static_cast<int>(i));
  result->has_workspace = training || s.outputs.size() == 1;  // the last states
  result->gradient.is_kept = true;
  return withGradient(std::move(result), rnnGradient(desc, s, 2 * rnnFlop(a, s)));
}

constexpr NamedOperator kSequenceOperators[] = {
    {"Embedding", kEmbeddingRules,
     [](const Attributes&) -> std::vector<std::string> {
       return {"data", "weight"};
     },
     noStates, onlyOutput, oneVisible, embeddingShapes, lowerEmbedding, noFlop, nullptr, false,
     [](const Attributes&, NodeTypes& types) -> Status {
       types.inputs[0].kind = TypeSlot::Kind::any;
       return {};
     }},
    {"RNN", kRnnRules, rnnInputs, noStates, rnnOutputs,
     [](const Attributes& a) { return static_cast<int>(rnnOutputs(a).size()); }, rnnShapes, lowerRnn, rnnFlop,
     nullptr, true},
    {"take", kTakeRules,
     [](const Attributes&) -> std::vector<std::string> {
       return {"a", "indices"};
     },
     noStates, onlyOutput, oneVisible, takeShapes, lowerTake, noFlop, nullptr, false,
     [](const Attributes&, NodeTypes& types) -> Status {
       types.inputs[1].kind = TypeSlot::Kind::any;
       return {};
     }},
};

}  // namespace

std::span<const NamedOperator> sequenceOperators() { return kSequenceOperators; }

}  // namespace pitwall::graph
