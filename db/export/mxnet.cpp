// profile.json as MXNet's profiler writes it: the same members in the same order and layout. Exceptions make
// the files readable: names are escaped, numbers stay below 2^53, and nanoseconds, where a trace has them,
// appear as decimals of the microseconds.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "db/export/append_text.h"
#include "db/export/event_stream.h"
#include "db/export/formats.h"
#include "db/export/json_text.h"
#include "db/export/output_file.h"
#include "db/json_string.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::exporting {

namespace {

constexpr std::size_t kLongestName = 127;  // bytes, as in MXNet
constexpr int kGpus = 32;                  // named by MXNet whether they exist or not
constexpr std::uint64_t kIdBits = (std::uint64_t{1} << 52) - 1;

std::int64_t integerOf(const std::optional<std::string>& text, std::int64_t otherwise) {
  std::int64_t value = otherwise;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

// MXNet uses a 64-bit hash of the category as its pid.
std::uint64_t hashOf(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return (hash & kIdBits) | (std::uint64_t{1} << 51);
}

std::string_view cut(std::string_view name) {
  if (name.size() <= kLongestName) return name;
  std::size_t size = kLongestName;
  while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xC0) == 0x80) --size;
  return name.substr(0, size);
}

// Facts that readers infer from MXNet's names.
Phase phaseOfName(std::string_view name) {
  constexpr std::string_view kUpdate = "_update";
  if (name.size() > kUpdate.size() && name.substr(name.size() - kUpdate.size()) == kUpdate)
    return Phase::update;
  return name.starts_with("_backward_") ? Phase::backward : Phase::none;
}

class MxnetWriter {
 public:
  MxnetWriter(Trace& trace, const Selection& selection, Pace& pace, OutputFile& out, bool doubled)
      : trace_(trace), selection_(selection), pace_(pace), out_(out), doubled_(doubled) {
    start_unix_ns_ = integerOf(trace.meta(meta::kTraceStartUnixNs), 0);
    cpus_ = static_cast<int>(std::clamp<std::int64_t>(integerOf(trace.meta(meta::kLogicalCpus), 1), 1, 4096));
    for (const DeviceInfo& device : trace.devices()) has_gpu_ = has_gpu_ || device.kind == "gpu";
    for (const TrackInfo& track : trace.tracks()) has_gpu_ = has_gpu_ || track.name.starts_with("gpu/");
  }

  Result<ExportSummary> write() {
    head();
    for (std::size_t i = 0; i < trace_.tracks().size(); ++i) {
      const TrackId track{static_cast<std::uint32_t>(i + 1)};
      if (!selection_.has(track)) continue;
      const TrackInfo& info = trace_.tracks()[i];
      if (info.kind == TrackKind::counter && info.unit == kStackUnit)
        continue;  // its values are ids of stacks
      PITWALL_TRY(info.kind == TrackKind::counter ? counters(track) : events(track));
    }
    out_.append("\n\n    ],\n    \"displayTimeUnit\": \"ms\"\n}\n");
    leftOut();
    return summary_;
  }

 private:
  void head() {
    out_.append("{\n    \"traceEvents\": [\n");
    std::uint64_t pid = 0;
    const auto device = [&](const std::string& name) {
      if (pid > 0) out_.append(",\n");
      processName(name, pid++);
    };
    for (int i = 0; i < cpus_; ++i) device(fmt::format("cpu/{}", i));
    for (int i = 0; has_gpu_ && i < kGpus; ++i) device(fmt::format("gpu/{}", i));
    device("cpu pinned/");
    device("cpu shared/");
  }

  void processName(std::string_view name, std::uint64_t pid) {
    auto& out = out_.buffer();
    out_.append("        {\n            \"ph\": \"M\",\n            \"args\": {\n                \"name\": ");
    appendJsonString(name, out);
    appendText(
        out,
        "\n            }},\n            \"pid\": {},\n            \"name\": \"process_name\"\n        }}",
        pid);
  }

  // The pid of the category; its name is written where it first appears.
  std::uint64_t pidOf(const std::string& category) {
    const auto [found, fresh] = categories_.try_emplace(category, hashOf(category));
    if (fresh) {
      out_.append(",");
      processName(category, found->second);
    }
    return found->second;
  }

  struct Place {
    std::string_view name;
    std::string_view category;
    std::uint64_t pid = 0;
    std::int64_t tid = 0;
  };

  void record(const Place& place, char phase, TimeNs time_ns, std::string_view extra) {
    auto& out = out_.buffer();
    out_.append(",\n\n    {\n        \"name\": ");
    appendJsonString(cut(place.name), out);
    out_.append(",\n        \"cat\": ");
    appendJsonString(place.category, out);
    appendText(out, ",\n        \"ph\": \"{}\",\n        \"ts\": ", phase);
    appendMicroseconds(out, start_unix_ns_ + time_ns);
    out_.append(extra);
    appendText(out, ",\n        \"pid\": {},\n        \"tid\": {}\n    }}\n", place.pid, place.tid);
  }

  void pair(const Place& place, char begin, char end, const Event& event, std::string_view extra = {}) {
    record(place, begin, event.start_ns, extra);
    record(place, end, event.start_ns + event.dur_ns, extra);
  }

  std::int64_t tidOf(TrackId track) const {
    const ThreadId id = trace_.tracks()[track.value - 1].thread;
    const std::int64_t tid =
        id && id.value <= trace_.threads().size() ? trace_.threads()[id.value - 1].tid : 0;
    return tid > 0 && static_cast<std::uint64_t>(tid) <= kIdBits ? tid : track.value;
  }

  // MXNet numbers devices consecutively: CPUs first, then GPUs.
  std::uint64_t deviceOf(TrackId track) const {
    const TrackInfo& info = trace_.tracks()[track.value - 1];
    std::string kind = "cpu";
    std::int64_t index = 0;
    if (info.device && info.device.value <= trace_.devices().size()) {
      kind = trace_.devices()[info.device.value - 1].kind;
      index = trace_.devices()[info.device.value - 1].index;
    } else if (info.name.starts_with("gpu/") || info.name.starts_with("cpu/")) {
      kind = info.name.substr(0, 3);
      index = integerOf(info.name.substr(4), 0);
    }
    const std::int64_t last = (kind == "gpu" ? kGpus : cpus_) - 1;
    index = std::clamp<std::int64_t>(index, 0, last);
    return static_cast<std::uint64_t>(kind == "gpu" ? cpus_ + index : index);
  }

  // None where only the name is known, as in MXNet's own traces.
  std::string argumentsOf(const Event& event) const {
    if (!event.op || event.op.value > trace_.operatorFacts().size()) return {};
    const OperatorFacts& facts = trace_.operatorFacts()[event.op.value - 1];
    fmt::memory_buffer out;
    const auto key = [&out](std::string_view name) {
      appendText(out, "{}\"{}\": ", out.size() == 0 ? "" : ", ", name);
    };
    const auto text = [&](std::string_view name, std::string_view value) {
      if (!value.empty()) key(name), appendJsonString(value, out);
    };
    const auto number = [&](std::string_view name, std::int64_t value) {
      if (value != 0) key(name), appendInteger(out, value);
    };
    text("layer", facts.layer);
    text("shapes", facts.shapes);
    text("dtype", facts.dtype);
    text("backend", facts.backend);
    text("implementation", facts.implementation);
    if (facts.phase != phaseOfName(facts.name)) text("phase", toString(facts.phase));
    number("flop", facts.flop);
    number("bytes_read", facts.bytes_read);
    number("bytes_written", facts.bytes_written);
    if (out.size() == 0) return {};
    return fmt::format(",\n        \"args\": {{ {} }}", std::string_view(out.data(), out.size()));
  }

  void event(const FullEvent& full, TrackId track) {
    const Event& event = full.event;
    const std::int64_t tid = tidOf(track);
    const auto id = fmt::format(",\n        \"id\": {}", tid);
    switch (event.kind) {
      case EventKind::operatorRun:
      case EventKind::kernel:
      case EventKind::copy:
      case EventKind::communication: {
        const bool custom = event.kind == EventKind::operatorRun && full.name.find("::") != std::string::npos;
        const std::string category = custom ? "Custom Operator" : "operator";
        const Place place{full.name, category, deviceOf(track), tid};
        record(place, 'B', event.start_ns, argumentsOf(event));
        record(place, 'E', event.start_ns + event.dur_ns, {});
        if (doubled_) pair({full.name, category, pidOf(category), tid}, 'b', 'e', event, id);
        return;
      }
      case EventKind::api:
        return pair({full.name, "MXNET_C_API", pidOf("MXNET_C_API"), tid}, 'b', 'e', event, id);
      case EventKind::wait:
        if (full.name.starts_with("MXNDArrayWait"))
          return pair({full.name, "MXNET_C_API", pidOf("MXNET_C_API"), tid}, 'b', 'e', event, id);
        break;
      case EventKind::instant:
        return record({full.name, "pitwall,instant_marker", pidOf("pitwall,instant_marker"), tid}, 'i',
                      event.start_ns, ",\n        \"s\": \"t\"");
      default: break;
    }
    pair({full.name, "event", pidOf("event"), tid}, 'B', 'E', event);
  }

  Status events(TrackId track) {
    return eachEvent(trace_, track, selection_, pace_, [&](const FullEvent& full) {
      event(full, track);
      ++summary_.events;
      return out_.flush();
    });
  }

  Status counters(TrackId track) {
    const std::vector<CounterSample> samples = PITWALL_TRY(samplesOf(trace_, track, selection_));
    constexpr std::string_view kMemory = "memory live: ";
    const TrackInfo& info = trace_.tracks()[track.value - 1];
    const bool memory = info.name.starts_with(kMemory);
    const std::string name = memory ? "Memory: " + info.name.substr(kMemory.size()) : info.name;
    const std::string category = memory                            ? "Device Storage"
                                 : name.starts_with("MXNet C API") ? "MXNET_C_API"
                                                                   : "counter";
    for (const CounterSample& sample : samples) {
      fmt::memory_buffer extra;
      appendText(extra, ",\n        \"args\": {{ ");
      appendJsonString(name, extra);
      appendText(extra, ": ");
      appendReal(extra, sample.value);
      appendText(extra, " }}");
      record({name, category, pidOf(category), track.value}, 'C', sample.time_ns,
             {extra.data(), extra.size()});
      ++summary_.samples;
      PITWALL_TRY(out_.flush());
    }
    return pace_.advance(static_cast<std::int64_t>(samples.size()));
  }

  void leftOut() {
    summary_.notes.emplace_back(
        "this format cannot hold dependencies, iterations, sampled stacks, settings and facts of the host; "
        "--format "
        "chrome or pitwall keeps them");
  }

  Trace& trace_;
  const Selection& selection_;
  Pace& pace_;
  OutputFile& out_;
  bool doubled_;
  std::int64_t start_unix_ns_ = 0;
  int cpus_ = 1;
  bool has_gpu_ = false;
  std::map<std::string, std::uint64_t> categories_;
  ExportSummary summary_;
};

}  // namespace

Result<ExportSummary> writeMxnet(Trace& trace, const std::string& output, const Selection& selection,
                                 Pace& pace, const ExportOptions& options) {
  auto out = PITWALL_TRY(OutputFile::create(output));
  auto summary = PITWALL_TRY(MxnetWriter(trace, selection, pace, *out, options.mxnet_doubled).write());
  PITWALL_TRY(out->finish());
  return summary;
}

}  // namespace pitwall::exporting
