#include "db/import/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "db/import/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

enum class Role { none, hostOperator, hostCall, deviceWork, deviceSync, deviceAnnotation, annotation, plain };

struct CategoryRole {
  std::string_view category;
  Role role;
};

// Both spellings: since 2022, and of 2021.
constexpr CategoryRole kRoles[] = {
    {"cpu_op", Role::hostOperator},
    {"Operator", Role::hostOperator},
    {"cuda_runtime", Role::hostCall},
    {"cuda_driver", Role::hostCall},
    {"Runtime", Role::hostCall},
    {"hip_runtime", Role::hostCall},
    {"xpu_runtime", Role::hostCall},
    {"mtia_runtime", Role::hostCall},
    {"privateuse1_runtime", Role::hostCall},
    {"privateuse1_driver", Role::hostCall},
    {"kernel", Role::deviceWork},
    {"Kernel", Role::deviceWork},
    {"gpu_memcpy", Role::deviceWork},
    {"Memcpy", Role::deviceWork},
    {"gpu_memset", Role::deviceWork},
    {"Memset", Role::deviceWork},
    {"mtia_ccp_events", Role::deviceWork},
    {"cuda_sync", Role::deviceSync},
    {"gpu_user_annotation", Role::deviceAnnotation},
    {"cuda_profiler_range", Role::deviceAnnotation},
    {"user_annotation", Role::annotation},
    {"python_function", Role::plain},
    {"overhead", Role::plain},
    {"Trace", Role::plain},
};

Role roleOf(std::string_view category) {
  for (const CategoryRole& entry : kRoles) {
    if (entry.category == category) return entry.role;
  }
  return Role::none;
}

bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool isCollective(std::string_view kernel) {
  return startsWith(kernel, "nccl") || startsWith(kernel, "rccl") || startsWith(kernel, "void nccl") ||
         startsWith(kernel, "mscclKernel");
}

// "[[64, 3], [3]]" -> "64x3,3"
std::string shapesOf(std::string_view dims) {
  std::string out;
  int depth = 0;
  bool first = true;
  for (const char c : dims) {
    if (c == '[') {
      ++depth;
      if (depth == 2 && !first) out += ',';
      if (depth == 2) first = false;
    } else if (c == ']') {
      --depth;
    } else if (c == ',' && depth >= 2) {
      out += 'x';
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      out += c;
    }
  }
  while (!out.empty() && out.back() == ',') out.pop_back();
  return out.size() > 512 ? out.substr(0, 512) : out;
}

// The first name of "["float", "Scalar"]".
std::string firstType(std::string_view types) {
  const std::size_t from = types.find('"');
  if (from == std::string_view::npos) return {};
  const std::size_t to = types.find('"', from + 1);
  if (to == std::string_view::npos) return {};
  return std::string(types.substr(from + 1, to - from - 1));
}

Phase phaseOf(std::string_view name) {
  if (startsWith(name, "autograd::engine::") || name.find("Backward") != std::string_view::npos)
    return Phase::backward;
  if (startsWith(name, "Optimizer.")) return Phase::update;
  return Phase::none;
}

std::uint64_t correlationOf(const ChromeEvent& event) {
  const auto number = event.argInteger("correlation");
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

int deviceNumber(const ChromeEvent& event) {
  auto number = event.argInteger("device");
  if (!number) number = parseInteger(event.process.text);
  return number && *number >= 0 && *number < 65536 ? static_cast<int>(*number) : 0;
}

}  // namespace

TrackRef Kineto::streamOf(const ChromeEvent& event, std::string_view suffix) {
  JsonValue stream = event.arg("stream");
  if (stream.type == JsonType::none) stream = event.thread;
  return builder_.stream(builder_.device("gpu", deviceNumber(event)), stream.text, suffix);
}

TrackRef Kineto::threadOf(const ChromeEvent& event) {
  const ProcessRef process = builder_.process(event.process.text);
  if (event.process.type == JsonType::number) builder_.ownerProcess(process);
  return builder_.thread(process,
                         event.thread.type == JsonType::none ? event.process.text : event.thread.text);
}

void Kineto::deviceWork(const ChromeEvent& event, std::string_view category, Event out) {
  out.kind = EventKind::kernel;
  if (category == "gpu_memcpy" || category == "Memcpy" || category == "gpu_memset" || category == "Memset") {
    out.kind = EventKind::copy;
    out.value = event.argInteger("bytes").value_or(0);
  } else if (isCollective(event.name.text)) {
    out.kind = EventKind::communication;
  }
  out.correlation = launches_.device(correlationOf(event));
  builder_.add(streamOf(event, {}), out);
}

void Kineto::annotation(const ChromeEvent& event, std::string_view name, Event out) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (startsWith(name, kStep)) {
    if (const auto number = parseInteger(name.substr(kStep.size()));
        number && *number >= 0 && *number < kLatestNs) {
      builder_.mark(*number, out.start_ns);
      builder_.mark(*number + 1, out.start_ns + std::max<std::int64_t>(0, out.dur_ns));
    }
  } else if (startsWith(name, "enumerate(DataLoader)")) {
    out.kind = EventKind::dataWait;
  } else if (startsWith(name, "gloo:") || startsWith(name, "mpi:")) {
    out.kind = EventKind::communication;  // work of this thread, where nccl: only enqueues kernels
  }
  builder_.add(threadOf(event), out);
}

void Kineto::hostOperator(const ChromeEvent& event, std::string_view name, Event out) {
  OperatorFacts facts;
  facts.name = std::string(name);
  facts.phase = phaseOf(name);
  facts.shapes = shapesOf(event.arg("Input Dims").text);
  JsonValue types = event.arg("Input type");
  facts.dtype = firstType(types.text);
  out.op = builder_.facts(facts);
  out.kind = EventKind::operatorRun;
  builder_.add(threadOf(event), out);
}

bool Kineto::complete(const ChromeEvent& event, std::string_view name, std::int64_t start_ns,
                      std::int64_t dur_ns) {
  const std::string_view category = event.category.text;
  const Role role = roleOf(category);
  if (role == Role::none) return false;
  seen_ = true;
  Event out;
  out.start_ns = start_ns;
  out.dur_ns = dur_ns;
  out.name = builder_.name(name);
  switch (role) {
    case Role::hostOperator: hostOperator(event, name, out); break;
    case Role::hostCall:
      out.kind = EventKind::api;
      out.correlation = launches_.host(correlationOf(event));
      builder_.add(threadOf(event), out);
      break;
    case Role::deviceWork: deviceWork(event, category, out); break;
    case Role::deviceSync:  // a host call waits; the device does no work
      out.kind = EventKind::wait;
      builder_.add(streamOf(event, "synchronisation"), out);
      break;
    case Role::deviceAnnotation: builder_.add(streamOf(event, "annotations"), out); break;
    case Role::annotation: annotation(event, name, out); break;
    case Role::plain:
    case Role::none: builder_.add(threadOf(event), out); break;
  }
  return true;
}

bool Kineto::instant(const ChromeEvent& event, std::string_view name, std::int64_t time_ns) {
  if (name != "[memory]") return false;
  seen_ = true;
  const auto type = event.argInteger("Device Type").value_or(0);
  const auto index = event.argInteger("Device Id").value_or(0);
  const std::string where = type == 0 ? "cpu" : fmt::format("gpu {}", std::max<std::int64_t>(0, index));
  const ProcessRef process = builder_.process(event.process.text);
  for (const auto& [arg, counter] :
       {std::pair{"Total Allocated", "allocated"}, std::pair{"Total Reserved", "reserved"}}) {
    const auto bytes = event.argInteger(arg);
    if (!bytes) continue;
    builder_.sample(builder_.counter(process, fmt::format("memory {}: {}", counter, where), "bytes"), time_ns,
                    static_cast<double>(*bytes));
  }
  return true;
}

void Kineto::deviceProperties(std::string_view array) {
  JsonScanner scan(array);
  scan.take('[');
  JsonValue device;
  while (scan.element(device) == JsonStatus::ok && device.type != JsonType::none) {
    if (device.type != JsonType::object) continue;
    JsonScanner members(device.text);
    members.take('{');
    JsonValue key;
    JsonValue value;
    std::int64_t index = -1;
    std::int64_t memory = 0;
    std::string name;
    while (members.member(key, value) == JsonStatus::ok && key.type != JsonType::none) {
      if (key.text == "id") index = parseInteger(value.text).value_or(-1);
      if (key.text == "name") name = unescape(value.text);
      if (key.text == "totalGlobalMem") memory = parseInteger(value.text).value_or(0);
    }
    if (index >= 0 && index < 65536) {
      builder_.nameDevice(builder_.device("gpu", static_cast<int>(index)), name,
                          std::max<std::int64_t>(0, memory));
    }
  }
}

void Kineto::distributedInfo(std::string_view object) {
  JsonScanner scan(object);
  scan.take('{');
  JsonValue key;
  JsonValue value;
  while (scan.member(key, value) == JsonStatus::ok && key.type != JsonType::none) {
    if (key.text == "rank") {
      const auto rank = parseInteger(value.text);
      if (rank && *rank >= 0 && *rank < (1 << 24)) builder_.rank(static_cast<int>(*rank));
    } else if (value.type == JsonType::number || value.type == JsonType::string) {
      builder_.meta(fmt::format("distributed.{}", unescape(key.text).substr(0, 64)), unescape(value.text));
    }
  }
}

bool Kineto::documentMember(std::string_view key, const JsonValue& value) {
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
    builder_.wallClock(*base);
  } else if (key == "cuda_runtime_version" || key == "hip_runtime_version") {
    cuda_ = fmt::format("{} {}", key == "cuda_runtime_version" ? "CUDA runtime" : "HIP runtime", value.text);
  } else {
    return false;
  }
  seen_ = true;
  return true;
}

std::string Kineto::version() const {
  std::string text = schema_.empty() ? "" : "schema " + schema_;
  if (!cuda_.empty()) text += (text.empty() ? "" : ", ") + cuda_;
  return text;
}

void Kineto::end() { launches_.end(); }

}  // namespace pitwall::import
