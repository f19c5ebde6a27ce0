#include "tests/db/import/corpus.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "db/import/input/json.h"

namespace pitwall::test {

namespace {

using import::JsonScanner;
using import::JsonStatus;
using import::JsonType;
using import::JsonValue;

void flatten(std::string_view object, const std::string& prefix, Expected& out) {
  JsonScanner scan(object);
  scan.take('{');
  JsonValue key;
  JsonValue value;
  while (scan.member(key, value) == JsonStatus::ok && key.type != JsonType::none) {
    const std::string name = prefix + import::unescape(key.text);
    if (value.type == JsonType::object) {
      flatten(value.text, name + "/", out);
    } else {
      out[name] = import::unescape(value.text);
    }
  }
}

}  // namespace

std::string corpusFolder() {
  const char* set = std::getenv("PITWALL_TRACE_CORPUS");
  const std::string folder = set != nullptr ? set : std::string(PITWALL_SOURCE_DIR) + "/../shared/traces";
  return std::filesystem::exists(folder + "/EXPECTED_COUNTS.json") ? folder : std::string();
}

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const std::map<std::string, Expected>& expectedCounts() {
  static const auto kCounts = [] {
    std::map<std::string, Expected> out;
    const std::string text = readFile(corpusFolder() + "/EXPECTED_COUNTS.json");
    JsonScanner scan(text);
    scan.take('{');
    JsonValue key;
    JsonValue value;
    while (scan.member(key, value) == JsonStatus::ok && key.type != JsonType::none) {
      flatten(value.text, "", out[import::unescape(key.text)]);
    }
    return out;
  }();
  return kCounts;
}

Expected below(const Expected& expected, const std::string& prefix) {
  Expected out;
  for (const auto& [key, value] : expected) {
    if (key.substr(0, prefix.size() + 1) == prefix + "/") out[key.substr(prefix.size() + 1)] = value;
  }
  return out;
}

}  // namespace pitwall::test
