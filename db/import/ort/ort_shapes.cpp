#include "db/import/ort/ort_shapes.h"

#include <cctype>

#include "db/import/input/json.h"
#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kLongestShapes = 512;

// "[2, 3]" -> "2x3"
std::string shapeOf(std::string_view extents) {
  std::string out;
  for (const char c : extents) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-') out += c;
    if (c == ',') out += 'x';
  }
  return out.empty() ? "1" : out;
}

}  // namespace

OrtShapes ortShapes(std::string_view array) {
  OrtShapes out;
  JsonScanner scan(array);
  JsonValue tensor;
  if (!scan.take('[')) return out;
  while (out.shapes.size() < kLongestShapes && scan.element(tensor) == JsonStatus::ok &&
         tensor.type == JsonType::object) {
    JsonScanner members(tensor.text);
    members.take('{');
    JsonValue type;
    JsonValue extents;
    if (members.member(type, extents) != JsonStatus::ok || type.type == JsonType::none) continue;
    std::string clean;
    appendClean(unescape(type.text), clean);
    if (out.shapes.empty()) out.first_type = clean;
    const char* const separator = out.shapes.empty() ? "" : ",";
    out.shapes += separator + shapeOf(extents.text);
    out.types += separator + clean;
  }
  return out;
}

}  // namespace pitwall::import
