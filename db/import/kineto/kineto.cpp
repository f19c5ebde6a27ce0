#include "db/import/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/import/input/text.h"
#include "db/import/kineto/arguments.h"
#include "db/torch_ranges.h"

namespace pitwall::import {
namespace {

std::uint64_t correlationOf(const ChromeEvent& event) {
  const auto number = event.argInteger(Arg::correlation);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

int deviceNumber(const ChromeEvent& event) {
  auto number = event.argInteger(Arg::device);
  if (!number) number = parseInteger(event.process.text);
  return number && *number >= 0 && *number < 65536 ? static_cast<int>(*number) : 0;
}

std::int64_t atLeastZero(const std::optional<std::int64_t>& number) {
  return std::max<std::int64_t>(0, number.value_or(0));
}

}  // namespace

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
  builder_.tracks().keyIsPid(process);
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
  if (!builder_.add(streamOf(event, kCountedRanges), out)) return;
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
  if (name.starts_with(kStep)) {
    if (const auto number = parseInteger(name.substr(kStep.size()));
        number && *number >= 0 && *number < kLatestNs) {
      builder_.mark(*number, out.start_ns);
      builder_.mark(*number + 1, out.start_ns + std::max<std::int64_t>(0, out.dur_ns));
      builder_.meta("import.iteration_ends", "marked");  // so that the last mark begins no step
    }
  } else if (isTorchDataWait(name)) {
    out.kind = EventKind::dataWait;
  } else if (isTorchCollective(name)) {
    out.kind = EventKind::communication;
  }
  if (const Phase phase = phaseOfTorchRange(name); phase != Phase::none)
    builder_.phases().range(out.name, phase);
  builder_.add(threadOf(event), out);
}

void Kineto::hostOperator(const ChromeEvent& event, std::string_view name, Event out) {
  if (isTorchRange(name)) return annotation(event, name, out);
  const JsonValue dims = event.arg(Arg::inputDims);
  const JsonValue types = event.arg(Arg::inputTypes);
  const Phase phase = phaseOfOperator(event, name);
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

void Kineto::end() {
  launches_.end();
  counted_.end();
}

}  // namespace pitwall::import
