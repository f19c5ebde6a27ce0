#include "db/import/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "db/import/input/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

struct CategoryRole {
  std::string_view category;
  KinetoRole role;
};

// Both spellings: since 2022, and of 2021.
constexpr CategoryRole kRoles[] = {
    {"cpu_op", KinetoRole::hostOperator},
    {"Operator", KinetoRole::hostOperator},
    {"cuda_runtime", KinetoRole::hostCall},
    {"cuda_driver", KinetoRole::hostCall},
    {"Runtime", KinetoRole::hostCall},
    {"hip_runtime", KinetoRole::hostCall},
    {"xpu_runtime", KinetoRole::hostCall},
    {"mtia_runtime", KinetoRole::hostCall},
    {"privateuse1_runtime", KinetoRole::hostCall},
    {"privateuse1_driver", KinetoRole::hostCall},
    {"kernel", KinetoRole::kernel},
    {"Kernel", KinetoRole::kernel},
    {"mtia_ccp_events", KinetoRole::mtiaWork},
    {"gpu_memcpy", KinetoRole::copy},
    {"Memcpy", KinetoRole::copy},
    {"gpu_memset", KinetoRole::copy},
    {"Memset", KinetoRole::copy},
    {"cuda_sync", KinetoRole::deviceSync},
    {"gpu_user_annotation", KinetoRole::deviceAnnotation},
    {"cuda_profiler_range", KinetoRole::profilerRange},
    {"user_annotation", KinetoRole::annotation},
    {"python_function", KinetoRole::plain},
    {"overhead", KinetoRole::plain},
    {"Trace", KinetoRole::plain},
};

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

// All of them, separated by commas.
std::string allTypes(std::string_view types) {
  std::string out;
  for (const char c : types.substr(0, 512)) {
    if (c != '"' && c != '[' && c != ']' && c != ' ' && c != '\\' && static_cast<unsigned char>(c) > 0x20)
      out += c;
  }
  return out;
}

// The ranges that the profiler writes around steps, loading and optimizers; in 2021 it called them operators.
bool isAnnotation(std::string_view name) {
  return startsWith(name, "ProfilerStep#") || startsWith(name, "enumerate(Data") ||
         startsWith(name, "Optimizer.");
}

bool isBackwardName(std::string_view name) {
  return startsWith(name, "autograd::engine::") || startsWith(name, "torch::autograd::") ||
         startsWith(name, "struct torch::autograd::") || name.find("Backward") != std::string_view::npos;
}

// For events without a category: operators have the namespace of their library, ranges of the program have
// none.
bool isOperatorName(std::string_view name) {
  return isBackwardName(name) ||
         (name.find("::") != std::string_view::npos && name.find(' ') == std::string_view::npos);
}

// Autograd numbers the operators that it records, and gives a backward function the number and the thread of
// the operator that it belongs to.
Phase phaseOf(const ChromeEvent& event, std::string_view name) {
  const bool numbered = event.has(Arg::sequenceNumber);
  if (numbered && event.argInteger(Arg::forwardThread).value_or(0) > 0) return Phase::backward;
  if (isBackwardName(name)) return Phase::backward;
  return numbered ? Phase::forward : Phase::none;
}

// "## forward ##" -> "forward"
std::string_view withoutRim(std::string_view name) {
  const auto is_rim = [](char c) { return c == '#' || c == ' ' || c == '_'; };
  while (!name.empty() && is_rim(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_rim(name.back())) name.remove_suffix(1);
  return name;
}

Phase phaseOfRange(std::string_view name) {
  if (startsWith(name, "Optimizer.")) return Phase::update;
  const std::string_view plain = withoutRim(name);
  constexpr std::pair<std::string_view, Phase> kNames[] = {
      {"forward", Phase::forward},   {"DistributedDataParallel.forward", Phase::forward},
      {"backward", Phase::backward}, {"loss.backward", Phase::backward},
      {"optimizer", Phase::update},  {"optimizer_step", Phase::update},
      {"zero_grad", Phase::update}};
  for (const auto& [known, phase] : kNames) {
    if (plain == known) return phase;
  }
  return Phase::none;
}

std::uint64_t correlationOf(const ChromeEvent& event) {
  const auto number = event.argInteger(Arg::correlation);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

int deviceNumber(const ChromeEvent& event) {
  auto number = event.argInteger(Arg::device);
  if (!number) number = parseInteger(event.process.text);
  return number && *number >= 0 && *number < 65536 ? static_cast<int>(*number) : 0;
}

// "[512, 1, 1]"
std::array<std::int32_t, 3> extents(std::string_view array) {
  std::array<std::int32_t, 3> out{};
  std::size_t dimension = 0;
  for (const char c : array) {
    if (c == ',' && ++dimension == out.size()) break;
    if (c < '0' || c > '9') continue;
    std::int32_t& extent = out[dimension];
    if (extent > (INT32_MAX - 9) / 10) return {};
    extent = extent * 10 + (c - '0');
  }
  return out;
}

std::int64_t atLeastZero(const std::optional<std::int64_t>& number) {
  return std::max<std::int64_t>(0, number.value_or(0));
}

// Bytes of an element, 0 when the type is not known.
std::int64_t sizeOfType(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kSizes[] = {
      {"Float", 4}, {"Double", 8}, {"Half", 2}, {"BFloat16", 2}, {"Int", 4},
      {"Long", 8},  {"Char", 1},   {"Byte", 1}, {"Bool", 1},     {"Short", 2},
      {"float", 4}, {"double", 8}, {"half", 2}, {"int", 4},      {"long", 8}};
  for (const auto& [name, size] : kSizes) {
    if (type == name) return size;
  }
  return 0;
}

// A JSON object, member by member; text() is empty when it has none.
class ObjectText {
 public:
  void number(std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) text_ += fmt::format("{}\"{}\":{}", separator(), key, *value);
  }
  // `raw` as in the JSON file, truncated when it is long; left out when empty.
  void string(std::string_view key, const JsonValue& raw) {
    if (raw.type != JsonType::string || raw.text.find('\\') != std::string_view::npos) return;
    std::string clean;
    appendClean(raw.text.substr(0, 256), clean);
    text_ += fmt::format("{}\"{}\":\"{}\"", separator(), key, clean);
  }
  std::string text() const { return text_.empty() ? text_ : text_ + "}"; }

 private:
  char separator() const { return text_.empty() ? '{' : ','; }
  std::string text_;
};

}  // namespace

KinetoRole kinetoRoleOf(std::string_view category) {
  for (const CategoryRole& entry : kRoles) {
    if (entry.category == category) return entry.role;
  }
  return KinetoRole::none;
}

TrackRef Kineto::streamOf(const ChromeEvent& event, std::string_view suffix) {
  JsonValue stream = event.arg(Arg::stream);
  if (stream.type == JsonType::none) stream = event.thread;
  const JsonValue device = event.arg(Arg::device);
  const TextKey key{suffix.size(), device.isNumberOrString() ? device.text : event.process.text, stream.text};
  if (const TrackRef* known = streams_.find(key)) return *known;
  Tracks& tracks = builder_.tracks();
  const DeviceRef gpu = tracks.device("gpu", deviceNumber(event));
  return streams_.put(key, tracks.stream(Tracks::owner(), gpu, stream.text, suffix));
}

TrackRef Kineto::threadOf(const ChromeEvent& event) {
  const std::string_view thread =
      event.thread.type == JsonType::none ? event.process.text : event.thread.text;
  const TextKey key{0, event.process.text, thread};
  if (const TrackRef* known = threads_.find(key)) return *known;
  const ProcessRef process = builder_.tracks().process(event.process.text);
  if (event.process.type == JsonType::number) builder_.tracks().ownerProcess(process);
  return threads_.put(key, builder_.tracks().thread(process, thread));
}

KernelId Kineto::kernelFacts(const ChromeEvent& event) {
  const JsonValue registers = event.arg(Arg::registers);
  const JsonValue occupancy = event.arg(Arg::occupancy);
  const JsonValue grid = event.arg(Arg::grid);
  const JsonValue block = event.arg(Arg::block);
  if (grid.type != JsonType::array && registers.type == JsonType::none) return {};
  // The arguments of a kernel are adjacent, from its registers to its occupancy.
  const char* const from = registers.text.data();
  const char* const to = occupancy.text.data() + occupancy.text.size();
  const bool together = from != nullptr && occupancy.text.data() != nullptr && from < to && to - from < 1024;
  const TextKey key{
      hashOf(hashOf(0, grid.text), block.text),
      together ? std::string_view(from, static_cast<std::size_t>(to - from)) : std::string_view()};
  if (together) {
    if (const KernelId* known = kernels_.find(key)) return *known;
  }
  KernelFacts facts;
  if (grid.type == JsonType::array) facts.grid = extents(grid.text);
  if (block.type == JsonType::array) facts.block = extents(block.text);
  facts.registers_per_thread =
      static_cast<std::int32_t>(std::min<std::int64_t>(65536, atLeastZero(event.argInteger(Arg::registers))));
  facts.dynamic_shared_bytes = atLeastZero(event.argInteger(Arg::sharedMemory));  // static ones included
  const auto percent = event.argReal(Arg::occupancy);
  if (percent && *percent > 0 && *percent <= 100) facts.theoretical_occupancy = *percent / 100;
  const KernelId id = builder_.names().kernel(facts);
  return together ? kernels_.put(key, id) : id;
}

void Kineto::kernel(const ChromeEvent& event, std::string_view name, Event out) {
  out.kind = EventKind::kernel;
  out.kernel = kernelFacts(event);
  if (isCollective(name) || event.has(Arg::collective)) {
    out.kind = EventKind::communication;
    const auto in = event.argInteger(Arg::inElements);
    const std::int64_t size = sizeOfType(event.arg(Arg::dtype).text);
    if (in && *in > 0 && *in < kLatestNs / 16) out.value = *in * size;
    ObjectText args;
    args.string("collective", event.arg(Arg::collective));
    args.string("dtype", event.arg(Arg::dtype));
    args.number("in_elements", in);
    args.number("out_elements", event.argInteger(Arg::outElements));
    args.number("group_size", event.argInteger(Arg::groupSize));
    args.string("process_group", event.arg(Arg::processGroup));
    if (const std::string text = args.text(); !text.empty()) out.args = builder_.names().args(text);
  }
  out.correlation = launches_.device(correlationOf(event));
  builder_.add(streamOf(event, {}), out);
}

void Kineto::copy(const ChromeEvent& event, const std::optional<std::int64_t>& bytes, Event out) {
  out.kind = EventKind::copy;
  out.value = bytes.value_or(0);
  out.correlation = launches_.device(correlationOf(event));
  builder_.add(streamOf(event, {}), out);
}

// MTIA writes all work of its command processor with one category.
void Kineto::mtiaWork(const ChromeEvent& event, std::string_view name, Event out) {
  if (name == "event_wait" || name == "event_record") return deviceSync(event, out);
  if (name != "dma_request") return kernel(event, name, out);
  constexpr std::pair<std::string_view, std::string_view> kDirections[] = {
      {"HOST_TO_DEVICE", "dma_request HtoD"},
      {"DEVICE_TO_HOST", "dma_request DtoH"},
      {"DEVICE_TO_DEVICE", "dma_request DtoD"}};
  for (const auto& [direction, with_direction] : kDirections) {
    if (event.arg("direction").text == direction) out.name = builder_.names().name(with_direction);
  }
  const JsonValue size = event.arg("size");
  copy(event, size.isNumberOrString() ? parseInteger(size.text) : std::nullopt, out);
}

// A host call that waits for the device; the device does no work for it.
void Kineto::deviceSync(const ChromeEvent& event, Event out) {
  out.kind = EventKind::wait;
  ObjectText args;
  args.string("cuda_sync_kind", event.arg(Arg::syncKind));
  args.number("stream_wait", event.argInteger(Arg::waitOnStream));
  if (const std::string text = args.text(); !text.empty()) out.args = builder_.names().args(text);
  builder_.add(streamOf(event, "synchronisation"), out);
}

// A kernel, or a whole step, with the values of the device's hardware counters over that time.
void Kineto::profilerRange(const ChromeEvent& event, Event out) {
  out.correlation = counted_.range(out.start_ns);
  if (!builder_.add(streamOf(event, "counted ranges"), out)) return;
  const std::string where = fmt::format("gpu {}: ", deviceNumber(event));
  for (const ChromeArg& arg : event.args()) {
    const auto value = arg.value.isNumberOrString() ? parseReal(arg.value.text) : std::nullopt;
    if (argOf(arg.name) != Arg::none) continue;  // device, stream, correlation
    if (!value) {
      builder_.tally().dropped("counter values that are not numbers", arg.name);
      continue;
    }
    const std::string name = where + unescape(arg.name);
    builder_.sample(builder_.tracks().counter(Tracks::owner(), name, "counted"), out.start_ns, *value);
  }
}

void Kineto::annotation(const ChromeEvent& event, std::string_view name, Event out) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (startsWith(name, kStep)) {
    if (const auto number = parseInteger(name.substr(kStep.size()));
        number && *number >= 0 && *number < kLatestNs) {
      builder_.mark(*number, out.start_ns);
      builder_.mark(*number + 1, out.start_ns + std::max<std::int64_t>(0, out.dur_ns));
      builder_.meta("import.iteration_ends", "marked");  // so that the last mark begins no step
    }
  } else if (startsWith(name, "enumerate(Data")) {  // DataLoader, DataPipe
    out.kind = EventKind::dataWait;
  } else if (startsWith(name, "gloo:") || startsWith(name, "mpi:")) {
    out.kind = EventKind::communication;  // work of this thread, where nccl: only enqueues kernels
  }
  if (const Phase phase = phaseOfRange(name); phase != Phase::none) builder_.phases().range(out.name, phase);
  builder_.add(threadOf(event), out);
}

void Kineto::hostOperator(const ChromeEvent& event, std::string_view name, Event out) {
  if (isAnnotation(name)) return annotation(event, name, out);
  const JsonValue dims = event.arg(Arg::inputDims);
  const JsonValue types = event.arg(Arg::inputTypes);
  const Phase phase = phaseOf(event, name);
  const TextKey key{out.name.value * 8ULL + static_cast<std::uint64_t>(phase), dims.text, types.text};
  const OperatorKnown* known = operators_.find(key);
  if (known == nullptr) {
    OperatorFacts facts;
    facts.name = std::string(name);
    facts.phase = phase;
    facts.shapes = shapesOf(dims.text);
    facts.dtype = firstType(types.text);
    OperatorKnown fresh{builder_.names().facts(facts), {}};
    std::string clean;
    appendClean(allTypes(types.text), clean);
    if (!clean.empty()) fresh.args = builder_.names().args(fmt::format("{{\"input_types\":\"{}\"}}", clean));
    known = &operators_.put(key, fresh);
  }
  out.op = known->facts;
  out.args = known->args;
  out.kind = EventKind::operatorRun;
  builder_.add(threadOf(event), out);
}

KinetoRole Kineto::roleWithoutCategory(const ChromeEvent& event, std::string_view name) {
  if (event.category.type != JsonType::none || event.process.text != "CPU functions") return KinetoRole::none;
  older_profiler_ = true;
  return isOperatorName(name) ? KinetoRole::hostOperator : KinetoRole::annotation;
}

void Kineto::complete(KinetoRole role, const ChromeEvent& event, std::string_view name, Event out) {
  seen_ = true;
  builder_.phases().infer();
  switch (role) {
    case KinetoRole::hostOperator: return hostOperator(event, name, out);
    case KinetoRole::hostCall:
      out.kind = EventKind::api;
      out.correlation = launches_.host(correlationOf(event));
      counted_.call(name, out.start_ns, out.correlation);
      builder_.add(threadOf(event), out);
      return;
    case KinetoRole::kernel: return kernel(event, name, out);
    case KinetoRole::copy: return copy(event, event.argInteger(Arg::bytes), out);
    case KinetoRole::mtiaWork: return mtiaWork(event, name, out);
    case KinetoRole::deviceSync: return deviceSync(event, out);
    case KinetoRole::deviceAnnotation: builder_.add(streamOf(event, "annotations"), out); return;
    case KinetoRole::profilerRange: return profilerRange(event, out);
    case KinetoRole::annotation: return annotation(event, name, out);
    case KinetoRole::plain:
    case KinetoRole::none: builder_.add(threadOf(event), out); return;
  }
}

bool Kineto::instant(const ChromeEvent& event, std::string_view name, std::int64_t time_ns) {
  if (name != "[memory]") return false;
  seen_ = true;
  for (const auto& [arg, counter] :
       {std::pair{Arg::totalAllocated, "allocated"}, std::pair{Arg::totalReserved, "reserved"}}) {
    const auto bytes = event.argInteger(arg);
    if (!bytes) continue;
    const TextKey key{hashOf(static_cast<std::uint64_t>(arg), event.arg(Arg::deviceType).text),
                      event.process.text, event.arg(Arg::deviceId).text};
    const TrackRef* track = memory_.find(key);
    if (track == nullptr) {
      const auto type = event.argInteger(Arg::deviceType).value_or(0);
      const auto index = event.argInteger(Arg::deviceId).value_or(0);
      const std::string where = type == 0 ? "cpu" : fmt::format("gpu {}", std::max<std::int64_t>(0, index));
      track =
          &memory_.put(key, builder_.tracks().counter(builder_.tracks().process(event.process.text),
                                                      fmt::format("memory {}: {}", counter, where), "bytes"));
    }
    builder_.sample(*track, time_ns, static_cast<double>(*bytes));
  }
  return true;
}

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

void Kineto::oneDevice(std::string_view object) {
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

void Kineto::deviceProperties(std::string_view array) {
  JsonScanner scan(array);
  scan.take('[');
  JsonValue device;
  for (int count = 0; count < 1024; ++count) {
    if (scan.element(device) != JsonStatus::ok || device.type == JsonType::none) return;
    if (device.type == JsonType::object) oneDevice(device.text);
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
      if (rank && *rank >= 0 && *rank < (1 << 24)) builder_.tracks().rank(static_cast<int>(*rank));
    } else if (value.type == JsonType::number || value.type == JsonType::string) {
      builder_.meta(fmt::format("distributed.{}", unescape(key.text).substr(0, 64)), unescape(value.text));
    } else if (value.type == JsonType::array && value.text.size() < 4096) {
      builder_.meta(fmt::format("distributed.{}", unescape(key.text).substr(0, 64)),
                    value.text);  // pg_config
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
    builder_.clock().wallClock(*base);
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

Phase Kineto::phaseOfArrow(std::string_view category, int order) {
  if (category != "fwdbwd" && category != "fwd_bwd" && category != "forward_backward") return Phase::none;
  return order == 0 ? Phase::forward : order == 2 ? Phase::backward : Phase::none;
}

void Kineto::end() {
  launches_.end();
  counted_.end();
}

}  // namespace pitwall::import
