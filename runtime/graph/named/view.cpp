// Other shapes of the same elements: Flatten, Reshape, expand_dims, squeeze.
#include <fmt/format.h>

#include <algorithm>

#include "db/try.h"
#include "runtime/graph/named/parts.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kReshapeRules[] = {
    {"shape", kTuple, "()", "", -4},
    {"reverse", kBoolean, "False"},
    {"target_shape", kTuple, "()", "", 0},
    {"keep_highest", kBoolean, "False"},
};

constexpr AttributeRule kExpandRules[] = {{"axis", kInteger}};
constexpr AttributeRule kSqueezeRules[] = {{"axis", kTuple, "None", "", -Shape::kMaxRank, true}};

Status flattenShapes(const Attributes&, NodeShapes& s) {
  auto &data = s.inputs[0], &out = s.outputs[0];
  if (!data) return {};
  if (data->rank() < 1) return wrong("data is a scalar, must have at least 1 axis");
  PITWALL_TRY(assign(out, {(*data)[0], product(*data, 1, data->rank())}, "output"));
  return assign(data, with(*data, 0, (*out)[0]), "data");
}

// The extents that MXNet's codes mean. 0: that of the input's axis; -1: what remains; -2: all further axes; -3: the
// product of two axes; -4: one axis split into the two that follow, of which one may be -1.
struct ReshapeCodes {
  const std::vector<std::int64_t>& from;
  const std::vector<std::int64_t>& codes;
  std::vector<std::int64_t> to;
  std::size_t next = 0;  // axis of `from`
  std::optional<std::size_t> remaining;

  Failure beyond(std::int64_t code) const {
    return wrong(
        fmt::format("the code {} needs an axis that the data with {} axes does not have", code, from.size()));
  }

  Status split(std::size_t i) {
    if (i + 2 >= codes.size() || next >= from.size()) return beyond(-4);
    std::int64_t first = codes[i + 1], second = codes[i + 2];
    const std::int64_t whole = from[next++];
    if (first == -1 && second > 0) first = whole / second;
    if (second == -1 && first > 0) second = whole / first;
    if (first < 1 || second < 1 || first * second != whole)
      return wrong(
          fmt::format("the code -4 cannot split {} into {} and {}", whole, codes[i + 1], codes[i + 2]));
    to.push_back(first);
    to.push_back(second);
    return {};
  }

  Status apply() {
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const std::int64_t code = codes[i];
      if (code == -4) {
        PITWALL_TRY(split(i));
        i += 2;
      } else if (code == -3) {
        if (next + 1 >= from.size()) return beyond(code);
        std::int64_t both = 0;
        if (__builtin_mul_overflow(from[next], from[next + 1], &both)) return wrong("the shape is too large");
        to.push_back(both);
        next += 2;
      } else if (code == -2) {
        for (; next < from.size(); ++next) to.push_back(from[next]);
      } else if (code == -1) {
        if (remaining) return wrong("more than one extent is -1");
        remaining = to.size();
        to.push_back(1);
        ++next;
      } else {
        if (code == 0 && next >= from.size()) return beyond(code);
        to.push_back(code == 0 ? from[next] : code);
        ++next;
      }
    }
    return {};
  }
};

Status reshapeShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kReshapeRules, a);
  std::vector<std::int64_t> codes = read.tuple("shape");
  if (codes.empty()) {
    codes = read.tuple("target_shape");
    for (std::int64_t& code : codes) code = code == 0 ? -1 : code;  // there 0 is what remains
    if (read.boolean("keep_highest") && !codes.empty()) codes[0] = 0;
  }
  if (codes.empty()) return wrong("the attribute shape is missing: integers as in (0, -1)");
  if (!isKnown(s.inputs[0])) return {};
  const Shape& data = *s.inputs[0];
  std::vector<std::int64_t> from;
  for (int i = 0; i < data.rank(); ++i) from.push_back(data[i]);
  if (read.boolean("reverse")) {
    if (std::ranges::count(codes, -4) != 0)
      return fail(ErrorCode::unsupported, "reverse=True with the code -4");
    std::ranges::reverse(from);
    std::ranges::reverse(codes);
  }
  ReshapeCodes reshape{from, codes, {}, 0, {}};
  PITWALL_TRY(reshape.apply());
  if (read.boolean("reverse")) {
    std::ranges::reverse(reshape.to);
    if (reshape.remaining) reshape.remaining = reshape.to.size() - 1 - *reshape.remaining;
  }
  if (reshape.to.size() > Shape::kMaxRank) return wrong(fmt::format("more than {} axes", Shape::kMaxRank));
  Shape out;
  for (const std::int64_t extent : reshape.to) out.append(extent);
  const std::int64_t elements = product(data, 0, data.rank()), others = product(out, 0, out.rank());
  if (reshape.remaining && others != 0) {
    out = with(out, static_cast<int>(*reshape.remaining), elements % others == 0 ? elements / others : 0);
  }
  if (elements == 0 || product(out, 0, out.rank()) != elements)
    return wrong(fmt::format("data {} with {} elements does not fit shape={}", shapeText(data), elements,
                             a.contains("shape") ? a.at("shape") : a.at("target_shape")));
  return assign(s.outputs[0], out, "output");
}

Status expandShapes(const Attributes& a, NodeShapes& s) {
  const auto& data = s.inputs[0];
  if (!data) return {};
  if (data->rank() == Shape::kMaxRank)
    return wrong(fmt::format("data {} has too many axes", shapeText(*data)));
  const int axis =
      PITWALL_TRY(axisOf(AttributeReader(kExpandRules, a).integer("axis"), data->rank() + 1, "axis"));
  Shape out;
  for (int i = 0; i <= data->rank(); ++i) {
    if (i == axis) {
      out.append(1);
    } else {
      out.append((*data)[i < axis ? i : i - 1]);
    }
  }
  return assign(s.outputs[0], out, "output");
}

Status squeezeShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kSqueezeRules, a);
  if (!isKnown(s.inputs[0])) return {};
  const Shape& data = *s.inputs[0];
  std::vector<bool> dropped(static_cast<std::size_t>(data.rank()));
  for (int i = 0; i < data.rank(); ++i)
    dropped[static_cast<std::size_t>(i)] = read.isNone("axis") && data[i] == 1;
  for (const std::int64_t given : read.tuple("axis")) {
    const int axis = PITWALL_TRY(axisOf(given, data.rank(), "axis"));
    if (data[axis] != 1) return wrong(fmt::format("axis {} of data {} is not 1", axis, shapeText(data)));
    dropped[static_cast<std::size_t>(axis)] = true;
  }
  Shape out;
  for (int i = 0; i < data.rank(); ++i) {
    if (!dropped[static_cast<std::size_t>(i)]) out.append(data[i]);
  }
  if (out.rank() == 0) out = {1};
  return assign(s.outputs[0], out, "output");
}

Result<Lowered> lowerView(const Attributes&, const NodeShapes&, bool) { return viewOfInput(); }

using ViewShapes = Status (*)(const Attributes&, NodeShapes&);

constexpr NamedOperator viewing(const char* name, std::span<const AttributeRule> rules, ViewShapes shapes) {
  return {name, rules, onlyData, noStates, onlyOutput, oneVisible, shapes, lowerView, noFlop};
}

constexpr NamedOperator kViewOperators[] = {
    viewing("Flatten", {}, flattenShapes),
    viewing("Reshape", kReshapeRules, reshapeShapes),
    viewing("expand_dims", kExpandRules, expandShapes),
    viewing("squeeze", kSqueezeRules, squeezeShapes),
};

}  // namespace

std::span<const NamedOperator> viewOperators() { return kViewOperators; }

}  // namespace pitwall::graph
