#include "db/import/onednn/onednn_line.h"

#include <algorithm>
#include <array>
#include <vector>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

using Fields = std::vector<std::string_view>;

constexpr std::int64_t kNsPerMs = 1'000'000;

// Splits at commas, except those between quotes (attributes such as zero_points:'src:0,wei:1').
Fields split(std::string_view text) {
  Fields fields;
  std::size_t from = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\'') quoted = !quoted;
    if (i == text.size() || (text[i] == ',' && !quoted)) {
      fields.push_back(text.substr(from, i - from));
      from = i + 1;
    }
  }
  return fields;
}

bool isDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool isEngine(std::string_view text) {
  return text == "cpu" || text == "gpu" || text.starts_with("gpu:") || text.starts_with("cpu:") ||
         text == "cpu2gpu" || text == "gpu2cpu" || text == "any" || text == "undef";
}

bool isPropagation(std::string_view text) {
  return text.empty() || text == "undef" || text.starts_with("forward") || text.starts_with("backward") ||
         text == "inference" || text == "training" || text == "undefined";
}

bool looksLikeMemory(std::string_view text) {
  constexpr std::array<std::string_view, 12> kStarts = {"src", "wei", "bia",  "dst", "data", "diff",
                                                        "ws",  "in:", "out:", "f",   "stat", "undef"};
  return text.empty() ||
         std::any_of(kStarts.begin(), kStarts.end(), [&](auto s) { return text.starts_with(s); }) ||
         text.find(':') != std::string_view::npos;
}

// The time is the last field, in ms. Where the decimal separator is a comma it is the last two.
struct TimeField {
  std::optional<std::int64_t> dur_ns;
  std::size_t fields = 0;  // number of fields used
  bool comma = false;
};

TimeField timeOf(const Fields& fields, std::size_t expected) {
  TimeField out;
  if (fields.size() < expected) return out;
  const std::string_view last = fields.back();
  if (fields.size() == expected + 1 && isDigits(last) && isDigits(fields[fields.size() - 2])) {
    out.dur_ns = parseScaled(std::string(fields[fields.size() - 2]) + "." + std::string(last), kNsPerMs);
    out.fields = 2;
    out.comma = out.dur_ns.has_value();
    return out;
  }
  out.dur_ns = parseScaled(last, kNsPerMs);
  if (out.dur_ns && *out.dur_ns < 0) out.dur_ns.reset();
  out.fields = out.dur_ns ? 1 : 0;
  return out;
}

VerboseLine torn(VerboseLine line) {
  line.kind = VerboseLine::Kind::torn;
  return line;
}

// Fields of a primitive: operation, engine, primitive, implementation, propagation, memory, attributes,
// auxiliary, problem, time. 0.x has neither engine nor attributes. Attributes may contain commas, so the
// fields after them are counted from the end.
VerboseLine primitiveLine(VerboseLine line, const Fields& fields) {
  const bool old = !isEngine(fields.size() > 1 ? fields[1] : std::string_view());
  const std::size_t first = old ? 1 : 2;  // the primitive's place
  const std::size_t without_time = old ? 7 : 9;
  if (fields.size() < without_time) return torn(line);
  line.engine = old ? std::string_view() : fields[1];
  line.primitive = fields[first];
  line.implementation = fields[first + 1];
  line.propagation = fields[first + 2];
  line.memory = fields[first + 3];
  if (line.primitive.empty() || !isPropagation(line.propagation) || !looksLikeMemory(line.memory))
    return torn(line);
  const TimeField time = timeOf(fields, without_time + 1);
  line.dur_ns = time.dur_ns;
  line.decimal_comma = time.comma;
  line.problem = fields[fields.size() - 1 - time.fields];
  if (!time.dur_ns && fields.size() > without_time) return torn(line);
  return line;
}

VerboseLine graphLine(VerboseLine line, const Fields& fields) {
  // operation, engine, partition id, partition kind, operator names, ..., backend, time
  if (fields.size() < 6) return torn(line);
  line.kind = VerboseLine::Kind::graph;
  line.engine = fields[1];
  line.primitive = fields[3];
  line.implementation = fields[4];
  line.dur_ns = parseScaled(fields.back(), kNsPerMs);
  return line.dur_ns && *line.dur_ns >= 0 ? line : torn(line);
}

}  // namespace

std::optional<Marker> findMarker(std::string_view line, std::size_t from) {
  // All three end in "nn_verbose,": onednn_, dnnl_ does not.
  constexpr std::array<std::string_view, 3> kMarkers = {"onednn_verbose,", "mkldnn_verbose,",
                                                        "dnnl_verbose,"};
  for (std::size_t at = from; (at = line.find("_verbose,", at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + 9;
    for (const std::string_view marker : kMarkers) {
      if (end >= marker.size() && end - marker.size() >= from &&
          line.substr(end - marker.size(), marker.size()) == marker) {
        return Marker{end - marker.size(), end};
      }
    }
  }
  return std::nullopt;
}

VerboseLine parseVerbose(std::string_view rest) {
  VerboseLine line;
  while (!rest.empty() && (rest.back() == '\r' || rest.back() == ' ')) rest.remove_suffix(1);
  Fields fields = split(rest);
  std::size_t head = 0;
  bool graph = false;
  // [,vN] [,timestamp] [,component], in any order, before the operation.
  for (; head < fields.size(); ++head) {
    const std::string_view field = fields[head];
    if (field.size() == 2 && field[0] == 'v' && isDigits(field.substr(1))) continue;
    if (field.size() > 6 && isDigits(field.substr(0, 6)) && field.find('.') != std::string_view::npos) {
      line.timestamp_ns = parseScaled(field, kNsPerMs);
      if (!line.timestamp_ns) return torn(line);
      continue;
    }
    if (field == "primitive" || field == "graph" || field == "common" || field == "ukernel") {
      graph = field == "graph";
      continue;
    }
    break;
  }
  if (head == fields.size()) return torn(line);
  fields.erase(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(head));
  line.operation = fields[0];
  if (line.operation == "info" || line.operation == "create:start") {
    line.kind = line.operation == "info" ? VerboseLine::Kind::information : VerboseLine::Kind::other;
    const std::size_t comma = static_cast<std::size_t>(fields[0].data() + fields[0].size() - rest.data());
    line.text = comma < rest.size() ? rest.substr(comma + 1) : std::string_view();
    return line;
  }
  if (line.operation == "exec" || line.operation.starts_with("exec:")) {
    if (graph) return graphLine(line, fields);
    line.kind = VerboseLine::Kind::execution;
    return primitiveLine(line, fields);
  }
  if (line.operation.starts_with("create:dispatch") || line.operation.starts_with("create:check")) {
    line.kind = VerboseLine::Kind::dispatch;
    return line;
  }
  if (line.operation.starts_with("create")) {
    if (graph) return line;
    line.kind = VerboseLine::Kind::creation;
    return primitiveLine(line, fields);
  }
  if (std::all_of(line.operation.begin(), line.operation.end(),
                  [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == ':'; }) &&
      fields.size() > 2) {
    return line;  // compile, error, profiling, ...: known, not used here
  }
  return torn(line);
}

VerboseLine parseMklVerbose(std::string_view rest) {
  VerboseLine line;
  line.kind = VerboseLine::Kind::information;
  line.text = rest;
  const std::size_t open = rest.find('(');
  const std::size_t close = rest.rfind(") ");
  const bool name =
      open != std::string_view::npos && open > 0 &&
      std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(open), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!name || close == std::string_view::npos || close < open) return line;
  std::string_view time = rest.substr(close + 2);
  time = time.substr(0, time.find(' '));
  std::size_t unit = 0;
  while (unit < time.size() && ((time[unit] >= '0' && time[unit] <= '9') || time[unit] == '.')) ++unit;
  const std::string_view suffix = time.substr(unit);
  const std::int64_t scale = suffix == "s"    ? 1'000'000'000
                             : suffix == "ms" ? kNsPerMs
                             : suffix == "us" ? 1000
                                              : 1;
  line.dur_ns = parseScaled(time.substr(0, unit), scale);
  if (!line.dur_ns) return line;
  line.kind = VerboseLine::Kind::library_call;
  line.primitive = rest.substr(0, open);
  line.problem = rest.substr(open + 1, close - open - 1);
  return line;
}

std::string dataTypeOf(std::string_view memory) {
  const std::string_view first = memory.substr(0, memory.find(' '));
  constexpr std::array<std::string_view, 16> kTypes = {
      "f32", "f16",     "bf16",    "s32",     "s8",      "u8",   "f64",   "s4",
      "u4",  "f8_e5m2", "f8_e4m3", "boolean", "f4_e2m1", "e8m0", "undef", "any"};
  const std::size_t colon = first.find(':');
  const std::string_view head = first.substr(0, colon);
  for (const std::string_view type : kTypes) {  // src_f32::..., in:f32_oihw
    if (head.size() > type.size() && head.substr(head.size() - type.size()) == type &&
        head[head.size() - type.size() - 1] == '_') {
      return std::string(type);
    }
  }
  if (colon == std::string_view::npos) return {};
  const std::string_view second = first.substr(colon + 1);  // src:f32:a:blocked:...
  for (const std::string_view type : kTypes) {
    if (second.starts_with(type) &&
        (second.size() == type.size() || second[type.size()] == ':' || second[type.size()] == '_')) {
      return std::string(type);
    }
  }
  return {};
}

}  // namespace pitwall::import
