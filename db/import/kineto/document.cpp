#include "db/import/kineto/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/import/input/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

// "maxThreadsPerBlock" -> "max_threads_per_block"
std::string snakeCase(std::string_view camel) {
  std::string out;
  for (const char c : camel.substr(0, 64)) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

}  // namespace

void KinetoDocument::oneDevice(std::string_view object) {
  JsonValue key;
  JsonValue value;
  std::int64_t index = -1;
  std::int64_t memory = 0;
  std::string name;
  const auto each = [&](auto take) {
    JsonScanner members(object);
    members.take('{');
    while (members.member(key, value) == JsonStatus::ok && key.type != JsonType::none) take();
  };
  each([&] {
    if (key.text == "id") index = parseInteger(value.text).value_or(-1);
    if (key.text == "name") name = unescape(value.text);
    if (key.text == "totalGlobalMem") memory = parseInteger(value.text).value_or(0);
  });
  if (index < 0 || index >= 65536) return;
  builder_.tracks().nameDevice(builder_.tracks().device("gpu", static_cast<int>(index)), name,
                               std::max<std::int64_t>(0, memory));
  each([&] {
    if (value.type == JsonType::number && key.text != "id")
      builder_.meta(fmt::format("{}gpu.{}.{}", meta::kDevicePrefix, index, snakeCase(key.text)), value.text);
  });
}

void KinetoDocument::deviceProperties(std::string_view array) {
  JsonScanner scan(array);
  scan.take('[');
  JsonValue device;
  for (int count = 0; count < 1024; ++count) {
    if (scan.element(device) != JsonStatus::ok || device.type == JsonType::none) return;
    if (device.type == JsonType::object) oneDevice(device.text);
  }
}

void KinetoDocument::distributedInfo(std::string_view object) {
  JsonScanner scan(object);
  scan.take('{');
  JsonValue key;
  JsonValue value;
  while (scan.member(key, value) == JsonStatus::ok && key.type != JsonType::none) {
    if (key.text == "rank") {
      const auto rank = parseInteger(value.text);
      if (rank && *rank >= 0 && *rank < (1 << 24)) builder_.tracks().rank(static_cast<int>(*rank));
    } else if (value.type == JsonType::number || value.type == JsonType::string) {
      builder_.meta(fmt::format("distributed.{}", unescape(key.text).substr(0, 64)), unescape(value.text));
    } else if (value.type == JsonType::array && value.text.size() < 4096) {
      builder_.meta(fmt::format("distributed.{}", unescape(key.text).substr(0, 64)),
                    value.text);  // pg_config
    }
  }
}

bool KinetoDocument::member(std::string_view key, const JsonValue& value) {
  if (key == "deviceProperties" && value.type == JsonType::array) {
    deviceProperties(value.text);
  } else if (key == "distributedInfo" && value.type == JsonType::object) {
    distributedInfo(value.text);
  } else if (key == "schemaVersion") {
    schema_ = std::string(value.text);
  } else if (key == "baseTimeNanoseconds") {
    const auto base = parseInteger(value.text);
    if (!base || *base <= 0 || *base >= kLatestNs) return true;
    has_base_ = true;
    builder_.clock().wallClock(*base);
  } else if (key == "cuda_runtime_version" || key == "hip_runtime_version") {
    cuda_ = fmt::format("{} {}", key == "cuda_runtime_version" ? "CUDA runtime" : "HIP runtime", value.text);
  } else {
    return false;
  }
  seen_ = true;
  return true;
}

std::string KinetoDocument::version() const {
  std::string text = schema_.empty() ? "" : "schema " + schema_;
  if (!cuda_.empty()) text += (text.empty() ? "" : ", ") + cuda_;
  return text;
}

}  // namespace pitwall::import
