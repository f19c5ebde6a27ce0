#include "db/import/recognise.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/import/json.h"
#include "db/import/text.h"

namespace pitwall::import {
namespace {

bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

bool looksBinary(std::string_view start) {
  const std::string_view head = start.substr(0, 4096);
  const auto odd = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x09 || (byte > 0x0D && byte < 0x20 && byte != 0x1B);
  });
  return odd * 20 > static_cast<std::ptrdiff_t>(head.size());
}

// Whether the first object of the text is one event of many or the whole document.
Recognised recogniseObject(std::string_view text) {
  JsonScanner scan(text);
  scan.take('{');
  bool event = false;
  JsonValue key;
  JsonValue value;
  // Only the start of the file is available: the scan may end anywhere, also inside a value.
  for (;;) {
    const JsonStatus status = scan.member(key, value);
    if (key.text == "traceEvents") return {Format::chromeJson, {}};
    if (status != JsonStatus::ok) break;
    if (key.type == JsonType::none) {
      if (event) return {Format::jsonLines, {}};
      return {Format::unknown, "a JSON object without traceEvents; only Chrome Trace Event JSON is read"};
    }
    if (key.text == "ph" || key.text == "Dimension") event = true;
    if (key.text == "schemaVersion" || key.text == "deviceProperties" || key.text == "displayTimeUnit" ||
        key.text == "distributedInfo") {
      return {Format::chromeJson, {}};
    }
  }
  if (event) return {Format::jsonLines, {}};
  if (contains(text, "\"traceEvents\"")) return {Format::chromeJson, {}};
  if (scan.position() < text.size()) {
    return {Format::unknown, fmt::format("begins like JSON but is damaged at byte {}: {}", scan.position(),
                                         *scan.error() != '\0' ? scan.error() : "a value does not end")};
  }
  return {Format::chromeJson, {}};  // a very long first value: let the reader decide
}

}  // namespace

Recognised recognise(std::string_view start) {
  if (start.substr(0, 16) == std::string_view("SQLite format 3\0", 16)) return {Format::sqlite, {}};
  if (start.size() >= 2 &&
      ((start[0] == '\xFF' && start[1] == '\xFE') || (start[0] == '\xFE' && start[1] == '\xFF'))) {
    return {Format::unknown, "is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8 IN > OUT"};
  }
  std::string_view text = start;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {Format::unknown, "holds nothing but spaces"};
  if (looksBinary(start))
    return {Format::unknown,
            fmt::format("is binary data of an unknown kind, beginning {}", quoted(start, 12))};
  text.remove_prefix(first);
  // A log may begin with '[' too ("[worker-0] ..."): markers take precedence over brackets.
  if (contains(text, "nednn_verbose,") || contains(text, "dnnl_verbose,") ||
      contains(text, "mkldnn_verbose,") || contains(text, "MKL_VERBOSE ") || contains(text, " NCCL INFO ") ||
      contains(text, " NCCL WARN ")) {
    if (text[0] != '{' && !contains(text, "\"ph\"")) return {Format::oneDnnLog, {}};
  }
  if (contains(text, "Profile Statistics") && contains(text, "Total Count")) return {Format::mxnetTable, {}};
  if (text[0] == '{' && contains(text.substr(0, 8192), "\"coll_perf\"")) return {Format::ncclInspector, {}};
  if (text[0] == '{') return recogniseObject(text);
  if (text[0] == '[' || text[0] == ',') {
    JsonScanner scan(text.substr(1));
    const char next = scan.peek();
    if (next == '{' || next == ']' || next == '\0') return {Format::chromeJson, {}};
  }
  return {Format::unknown, fmt::format("is text of an unknown kind, beginning {}", quoted(text, 40))};
}

}  // namespace pitwall::import
