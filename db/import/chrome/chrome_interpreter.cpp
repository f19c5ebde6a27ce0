#include "db/import/chrome/chrome_interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "db/import/chrome/async_key.h"
#include "db/import/input/text.h"
#include "db/import/pitwall/operator_args.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

constexpr std::int64_t kYear2001Ns = 1'000'000'000'000'000'000;
constexpr std::int64_t kYear2100Ns = 4'102'444'800'000'000'000;

bool isEpoch(std::int64_t time_ns) { return time_ns > kYear2001Ns && time_ns < kYear2100Ns; }

// PyTorch's marks of the ends of its recording window: their times are unreliable.
bool isWindowMark(std::string_view name) {
  return name == "Record Window End" || name.substr(0, 16) == "Iteration Start:";
}

}  // namespace

std::string_view ChromeInterpreter::nameOf(const ChromeEvent& event) {
  if (event.name.text.find('\\') == std::string_view::npos) return event.name.text;
  unescaped_name_ = unescape(event.name.text);
  return unescaped_name_;
}

ProcessRef ChromeInterpreter::processOf(const ChromeEvent& event) {
  return mxnet_.seen() ? mxnet_.process() : builder_.tracks().process(event.process.text);
}

TrackRef ChromeInterpreter::threadOf(const ChromeEvent& event, const Category& category) {
  if (mxnet_.seen()) return mxnet_.threadOf(category.mxnet, event);
  const bool none = event.thread.type == JsonType::none;
  const std::string_view thread = none ? event.process.text : event.thread.text;
  const TextKey key{0, event.process.text, thread};
  if (const TrackRef* known = threads_.find(key)) return *known;
  return threads_.put(key, builder_.tracks().thread(builder_.tracks().process(event.process.text), thread));
}

std::optional<std::int64_t> ChromeInterpreter::timeOf(const ChromeEvent& event, const Place& place) {
  const auto time = event.timeNs();
  if (!time) {
    builder_.tally().dropped("events whose time (ts) is missing, not a number or out of range", place);
    return std::nullopt;
  }
  if (!events_seen_) {
    events_seen_ = true;
    if (!kineto_.hasBaseTime() && isEpoch(*time)) builder_.clock().wallClock(0);
  }
  return time;
}

void ChromeInterpreter::count(const ChromeEvent& event) {
  const char ph = event.ph();
  std::int64_t*& phase = phases_[static_cast<unsigned char>(ph)];
  if (phase == nullptr) {
    std::string clean;
    appendClean(event.phase.text.substr(0, 16), clean);
    phase = &builder_.tally().record("phase " + (ph == '\0' ? std::string("(none)") : clean));
  }
  ++*phase;
}

void ChromeInterpreter::event(const ChromeEvent& event, const Place& place) {
  if (event.dimension.type == JsonType::string && event.ph() == '\0') return metric(event, place);
  count(event);
  const Category& category = categories_.of(event);
  const char ph = event.ph();
  if (dialect_ != nullptr ? dialect_->take(event, place) : own_.take(event)) return;
  if (ph == 'M') return metadata(event);
  mxnet_.notice(category.mxnet);
  if (mxnet_.isTwin(category.mxnet, ph)) {
    if (ph == 'e') return;
    if (tallies_.twins == nullptr)
      tallies_.twins = &builder_.tally().repairedCounter("operators that MXNet writes twice: counted once");
    return Tally::count(*tallies_.twins, place);
  }
  switch (ph) {
    case 'X': return complete(event, category, place);
    case 'B': return begin(event, category, place);
    case 'E': return endRange(event, category, place);
    case 'T':
      if (event.id.type == JsonType::none && event.duration.type != JsonType::none)
        return complete(event, category, place);
      return async(event, category, place);
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'p':
    case 'F':
    case '(':
    case ')': return async(event, category, place);
    case 'i':
    case 'I':
    case 'R':
    case 'P': return instant(event, category, place);
    case 'C': return counter(event, category, place);
    case 's':
    case 't':
    case 'f': return flow(event, category, place);
    case 'N':
    case 'O':
    case 'D':
      return builder_.tally().notUnderstood(
          "lifetimes and snapshots of objects (phases N, O, D): no place in a trace", place.text());
    case 'V':
    case 'v': return builder_.tally().notUnderstood("memory dumps (phases V, v): not read", place.text());
    case 'c': return builder_.tally().notUnderstood("clock marks (phase c): not read", place.text());
    default: return builder_.tally().notUnderstood("events of an unknown phase (ph)", place.text());
  }
}

void ChromeInterpreter::metadata(const ChromeEvent& event) {
  const std::string_view what = event.name.text;
  const JsonValue name = event.arg(Arg::name);
  if (what == "process_name") {
    const auto start_us = event.argInteger(Arg::startSinceEpoch);
    if (start_us && *start_us > 0 && *start_us < kYear2100Ns / 1000 && isEpoch(*start_us * 1000))
      builder_.clock().wallClock(*start_us * 1000);
    if (name.type != JsonType::string) return;
    mxnet_.addProcess(event, name.text);
    if (!mxnet_.seen())
      builder_.tracks().nameProcess(builder_.tracks().process(event.process.text), unescape(name.text));
  } else if (what == "thread_name" && name.type == JsonType::string) {
    if (!mxnet_.seen()) builder_.tracks().nameThread(threadOf(event, {}), unescape(name.text));
  } else if (what == "process_sort_index" || what == "thread_sort_index" || what == "process_labels") {
    builder_.tally().notUnderstood("hints for display (sort index, labels): no place in a trace", what);
  } else {
    builder_.tally().notUnderstood("metadata of other kinds", what);
  }
}

StringId ChromeInterpreter::argsOf(const ChromeEvent& event, const Category& category, const Place& place) {
  if (event.args().empty()) return category.args;
  const bool foreign = category.kineto == KinetoRole::none && !kineto_.seen() && !mxnet_.seen();
  if (foreign) {
    if (const auto kept = args_.keep(event)) return *kept;
  }
  if (mxnet_.seen() && category.mxnet == MxNetRole::operation && !hasOtherArgs(event)) return category.args;
  if (tallies_.args == nullptr)
    tallies_.args =
        &builder_.tally().droppedCounter("arguments of events: only those named in docs/formats.md are kept");
  Tally::count(*tallies_.args, place);
  return category.args;
}

void ChromeInterpreter::complete(const ChromeEvent& event, const Category& category, const Place& place) {
  const auto start = timeOf(event, place);
  if (!start) return;
  auto duration = event.durationNs();
  if (!duration) {
    if (event.duration.type != JsonType::none) {
      builder_.tally().dropped("events whose length (dur) is not a number or out of range", place);
      return;
    }
    builder_.tally().repaired("complete events without a length (dur): taken as 0", place);
    duration = 0;
  }
  if (*duration < 0) {
    builder_.tally().repaired("negative lengths (dur): taken as 0", place);
    duration = 0;
  }
  const std::string_view name = nameOf(event);
  Event out;
  out.start_ns = *start;
  out.dur_ns = *duration;
  out.name = builder_.names().name(name);
  const KinetoRole role =
      category.kineto != KinetoRole::none ? category.kineto : kineto_.roleWithoutCategory(event, name);
  if (role != KinetoRole::none) {
    out.args = category.args;
    return kineto_.complete(role, event, name, out);
  }
  out.args = argsOf(event, category, place);
  if (mxnet_.seen()) out.kind = MxNet::kindOf(category.mxnet, name);
  if (out.kind == EventKind::operatorRun) out.op = mxnet_.factsOf(out.name, name, event);
  if (event.ph() == 'T') {
    builder_.add(
        builder_.tracks().lane(processOf(event), fmt::format("state of thread {}", event.thread.text)), out);
  } else {
    builder_.add(threadOf(event, category), out);
  }
}

OpenRange ChromeInterpreter::opened(const ChromeEvent& event, const Category& category, std::int64_t start_ns,
                                    TrackRef track, const Place& place) {
  const std::string_view name = nameOf(event);
  OpenRange open{.start_ns = start_ns, .track = track, .name = builder_.names().name(name)};
  open.args = argsOf(event, category, place);
  open.has_arguments = !event.args().empty();
  if (mxnet_.seen()) {
    open.kind = MxNet::kindOf(category.mxnet, name);
    mxnet_.noticeCall(category.mxnet, name);
  }
  if (open.kind == EventKind::operatorRun) open.op = mxnet_.factsOf(open.name, name, event);
  return open;
}

void ChromeInterpreter::begin(const ChromeEvent& event, const Category& category, const Place& place) {
  const auto start = timeOf(event, place);
  if (!start || !open_.mayOpen(place)) return;
  open_.begin(opened(event, category, *start, threadOf(event, category), place));
}

void ChromeInterpreter::endRange(const ChromeEvent& event, const Category& category, const Place& place) {
  const auto end = timeOf(event, place);
  if (!end) return;
  const TrackRef track = threadOf(event, category);
  OpenRange* const range = open_.innermost(track);
  if (range == nullptr) {
    builder_.tally().dropped("ends (phase E) without a begin", place);
    return;
  }
  if (*end < range->start_ns) builder_.tally().repaired("ends before their begin: length taken as 0", place);
  if (!range->has_arguments && !event.args().empty()) {  // some tools write them only at the end
    const StringId given = argsOf(event, category, place);
    if (given && given != category.args) range->args = given;
  }
  open_.end(track, *end);
}

TrackRef ChromeInterpreter::asyncLane(const ChromeEvent& event, const Category& category) {
  // MXNet writes calls of its C API as asynchronous, but they are ranges of their thread.
  if (mxnet_.seen() && category.mxnet == MxNetRole::call) return threadOf(event, category);
  const TextKey key{1, mxnet_.seen() ? std::string_view() : event.process.text, event.category.text};
  if (const TrackRef* known = threads_.find(key)) return *known;
  std::string name = "asynchronous";
  if (!event.category.text.empty()) name += ": " + unescape(event.category.text);
  return threads_.put(key, builder_.tracks().lane(processOf(event), name));
}

void ChromeInterpreter::async(const ChromeEvent& event, const Category& category, const Place& place) {
  const std::uint64_t key = asyncKey(event);
  if (key == 0) {
    builder_.tally().dropped("asynchronous events without an id", place);
    return;
  }
  const auto time = timeOf(event, place);
  if (!time) return;
  const char ph = event.ph();
  if (ph == 'b' || ph == 'S' || ph == '(') {
    if (open_.mayOpen(place))
      open_.beginPaired(key, opened(event, category, *time, asyncLane(event, category), place));
    return;
  }
  if (ph == 'e' || ph == 'F' || ph == ')') {
    if (!open_.endPaired(key, *time))
      builder_.tally().dropped("ends of asynchronous events without a begin", place);
    return;
  }
  Event out;  // n, T, p: an intermediate step
  out.kind = EventKind::instant;
  out.start_ns = *time;
  out.name = builder_.names().name(nameOf(event));
  out.args = argsOf(event, category, place);
  builder_.add(asyncLane(event, category), out);
}

void ChromeInterpreter::instant(const ChromeEvent& event, const Category& category, const Place& place) {
  const std::string_view name = nameOf(event);
  if (isWindowMark(name)) {
    builder_.tally().notUnderstood("marks of the recording window: not part of the program", place.text());
    return;
  }
  const auto time = timeOf(event, place);
  if (!time || kineto_.instant(event, name, *time)) return;
  Event out;
  out.kind = EventKind::instant;
  out.start_ns = *time;
  out.name = builder_.names().name(name);
  out.args = argsOf(event, category, place);
  builder_.add(threadOf(event, category), out);
}

void ChromeInterpreter::counter(const ChromeEvent& event, const Category& category, const Place& place) {
  const auto time = timeOf(event, place);
  if (!time) return;
  const std::string_view name = nameOf(event);
  for (const auto& [series, value] : event.args()) {
    const auto number = value.isNumberOrString() ? parseReal(value.text) : std::nullopt;
    if (!number || !std::isfinite(*number)) {
      builder_.tally().dropped("counter values that are not numbers", place);
      continue;
    }
    if (mxnet_.seen()) {
      builder_.sample(mxnet_.counter(category.mxnet, event, name), *time, *number);
      continue;
    }
    const std::string id = event.id.isNumberOrString() ? fmt::format("[{}]", event.id.text) : "";
    const std::string part = unescape(series);
    const bool plain = event.args().size() == 1 && (part == "value" || part == name);
    const TrackRef track = builder_.tracks().counter(
        processOf(event), plain ? fmt::format("{}{}", name, id) : fmt::format("{}{} {}", name, id, part), "");
    builder_.sample(track, *time, *number);
  }
}

void ChromeInterpreter::flow(const ChromeEvent& event, const Category& category, const Place& place) {
  if (kineto_.seen() && Kineto::isLaunchArrow(event.category.text)) return;  // known from the correlations
  const auto time = timeOf(event, place);
  if (!time) return;
  const std::uint64_t key = asyncKey(event);
  if (key == 0) {
    builder_.tally().dropped("arrows without an id", place);
    return;
  }
  FlowPoint point;
  point.track = threadOf(event, category);
  point.time_ns = *time;
  point.key = mixed(key, std::hash<std::string_view>{}(event.name.text));
  point.order = event.ph() == 's' ? 0 : event.ph() == 't' ? 1 : 2;
  point.phase = kineto_.seen() ? phaseOfArrow(event.category.text, point.order) : Phase::none;
  point.next_range = event.ph() == 'f' && event.binding.text != "e";
  builder_.flow(point);
}

void ChromeInterpreter::metric(const ChromeEvent& event, const Place& place) {
  samples_seen_ = true;
  ++builder_.tally().record("samples of system metrics");
  std::optional<std::int64_t> time;
  if (event.timestamp.isNumberOrString()) time = parseScaled(event.timestamp.text, 1'000'000'000);
  std::optional<double> value;
  if (event.value.isNumberOrString()) value = parseReal(event.value.text);
  if (!time || !value) {
    builder_.tally().dropped("samples without a time or a value", place);
    return;
  }
  if (isEpoch(*time)) builder_.clock().wallClock(0);
  const ProcessRef node = builder_.tracks().process(event.node.text);
  builder_.tracks().nameProcess(node, unescape(event.node.text));
  const std::string name = fmt::format("{} {}", nameOf(event), unescape(event.dimension.text));
  builder_.sample(builder_.tracks().counter(node, name, "%"), *time, *value);
}

void ChromeInterpreter::documentMember(std::string_view key, const JsonValue& value) {
  if (kineto_.documentMember(key, value) || key == "displayTimeUnit") return;
  if (own_.seen() && (key == "stackFrames" || key == "samples")) return;  // its records hold the same
  if ((key == "metadata" || key == "otherData") && value.type == JsonType::object) {
    JsonScanner scan(value.text);
    scan.take('{');
    JsonValue name;
    JsonValue member;
    while (scan.member(name, member) == JsonStatus::ok && name.type != JsonType::none) {
      if (member.type == JsonType::object || member.type == JsonType::array) continue;
      builder_.meta(fmt::format("import.metadata.{}", unescape(name.text).substr(0, 64)),
                    unescape(member.text));
    }
    return;
  }
  const bool plain = value.isNumberOrString() || value.type == JsonType::boolean;
  if (plain && value.text.size() < 1024) {
    builder_.meta(fmt::format("import.{}", unescape(key).substr(0, 64)), unescape(value.text));
  } else {
    builder_.tally().notUnderstood("members of the document besides the events", key);
  }
}

void ChromeInterpreter::end() {
  open_.endAll();
  kineto_.end();
  ImportedInput& input = builder_.tally().input();
  input.format = "Chrome Trace Event JSON";
  input.clock = kineto_.hasBaseTime() ? "microseconds after baseTimeNanoseconds" : "microseconds (ts)";
  if (own_.seen()) {
    own_.end();
    input.format = "Chrome JSON of pitwall export";
    input.clock = "nanoseconds since the trace's start";
  } else if (kineto_.seen()) {
    input.format =
        kineto_.isOlderProfiler() ? "PyTorch profiler JSON (without Kineto)" : "PyTorch Kineto JSON";
    input.version = kineto_.version();
    builder_.meta(meta::kProducer, kineto_.isOlderProfiler() ? "PyTorch profiler (without Kineto)"
                                                             : "PyTorch profiler (Kineto)");
  } else if (mxnet_.seen()) {
    input.format = "MXNet profiler JSON";
    input.clock = "microseconds since 1970";
    builder_.meta(meta::kProducer, "MXNet profiler");
  } else if (samples_seen_) {
    input.format = "SageMaker system metrics (JSON lines)";
    input.clock = "seconds since 1970";
  }
  if (dialect_ != nullptr) dialect_->end();
}

}  // namespace pitwall::import
