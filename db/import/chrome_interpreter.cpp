#include "db/import/chrome_interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "db/import/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

constexpr std::int64_t kYear2001Ns = 1'000'000'000'000'000'000;
constexpr std::int64_t kYear2100Ns = 4'102'444'800'000'000'000;

bool isEpoch(std::int64_t time_ns) { return time_ns > kYear2001Ns && time_ns < kYear2100Ns; }

// PyTorch's marks of the ends of its recording window: their times are unreliable and say nothing.
bool isWindowMark(std::string_view name) {
  return name == "Record Window End" || name.substr(0, 16) == "Iteration Start:";
}

}  // namespace

std::string Place::text() const { return fmt::format("{}: {}", window.place(ahead), quoted(raw, 160)); }

std::string ChromeInterpreter::nameOf(const ChromeEvent& event) const {
  if (event.name.text.find('\\') == std::string_view::npos) return std::string(event.name.text);
  return unescape(event.name.text);
}

ProcessRef ChromeInterpreter::processOf(const ChromeEvent& event) {
  return mxnet_.seen() ? mxnet_.process() : builder_.process(event.process.text);
}

TrackRef ChromeInterpreter::threadOf(const ChromeEvent& event) {
  if (mxnet_.seen()) return mxnet_.threadOf(event);
  const bool none = event.thread.type == JsonType::none;
  return builder_.thread(builder_.process(event.process.text), none ? event.process.text : event.thread.text);
}

std::optional<std::int64_t> ChromeInterpreter::timeOf(const ChromeEvent& event, const Place& place) {
  const auto time = event.timeNs();
  if (!time) {
    builder_.dropped("events whose time (ts) is missing, no number or out of range", place.text());
    return std::nullopt;
  }
  if (!events_seen_) {
    events_seen_ = true;
    if (!kineto_.hasBaseTime() && isEpoch(*time)) builder_.wallClock(0);
  }
  return time;
}

void ChromeInterpreter::count(const ChromeEvent& event) {
  const char ph = event.ph();
  std::int64_t*& phase = phases_[static_cast<unsigned char>(ph)];
  if (phase == nullptr) {
    std::string clean;
    appendClean(event.phase.text.substr(0, 16), clean);
    phase = &builder_.record("phase " + (ph == '\0' ? std::string("(none)") : clean));
  }
  ++*phase;
  if (event.category.type == JsonType::string) {
    ++builder_.record(fmt::format("category {}", event.category.text.substr(0, 64)));
  }
}

void ChromeInterpreter::event(const ChromeEvent& event, const Place& place) {
  if (event.dimension.type == JsonType::string && event.ph() == '\0') return metric(event, place);
  count(event);
  const char ph = event.ph();
  if (ph == 'M') return metadata(event);
  mxnet_.notice(event, {});
  if (mxnet_.isTwin(event)) {
    if (ph == 'b') builder_.repaired("operators that MXNet writes twice: counted once", place.text());
    return;
  }
  switch (ph) {
    case 'X': return complete(event, place);
    case 'B': return begin(event, place);
    case 'E': return endRange(event, place);
    case 'T':
      if (event.id.type == JsonType::none && event.duration.type != JsonType::none)
        return complete(event, place);
      return async(event, place);
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'p':
    case 'F':
    case '(':
    case ')': return async(event, place);
    case 'i':
    case 'I':
    case 'R':
    case 'P': return instant(event, place);
    case 'C': return counter(event, place);
    case 's':
    case 't':
    case 'f': return flow(event, place);
    case 'N':
    case 'O':
    case 'D':
      return builder_.notUnderstood("lives and snapshots of objects (phases N, O, D): no place in a trace",
                                    place.text());
    case 'V':
    case 'v': return builder_.notUnderstood("memory dumps (phases V, v): not read", place.text());
    case 'c': return builder_.notUnderstood("clock marks (phase c): not read", place.text());
    default: return builder_.notUnderstood("events of an unknown phase (ph)", place.text());
  }
}

void ChromeInterpreter::metadata(const ChromeEvent& event) {
  const std::string_view what = event.name.text;
  const JsonValue name = event.arg("name");
  if (what == "process_name") {
    const auto start = event.argInteger("start_time_since_epoch_in_micros");
    if (start && *start > 0 && isEpoch(*start * 1000)) builder_.wallClock(*start * 1000);
    if (name.type != JsonType::string) return;
    mxnet_.notice(event, name.text);
    if (!mxnet_.seen()) builder_.nameProcess(builder_.process(event.process.text), unescape(name.text));
  } else if (what == "thread_name" && name.type == JsonType::string) {
    if (!mxnet_.seen()) builder_.nameThread(threadOf(event), unescape(name.text));
  } else if (what == "process_sort_index" || what == "thread_sort_index" || what == "process_labels") {
    builder_.notUnderstood("hints for display (sort index, labels): no place in a trace", what);
  } else {
    builder_.notUnderstood("metadata of other kinds", what);
  }
}

void ChromeInterpreter::complete(const ChromeEvent& event, const Place& place) {
  const auto start = timeOf(event, place);
  if (!start) return;
  auto duration = event.durationNs();
  if (!duration) {
    if (event.duration.type != JsonType::none) {
      builder_.dropped("events whose length (dur) is no number or out of range", place.text());
      return;
    }
    builder_.repaired("complete events without a length (dur): taken as 0", place.text());
    duration = 0;
  }
  if (*duration < 0) {
    builder_.repaired("negative lengths (dur): taken as 0", place.text());
    duration = 0;
  }
  const std::string name = nameOf(event);
  if (!event.args.empty())
    builder_.dropped("arguments of events: only those named in docs/formats.md are kept", place.text());
  if (kineto_.complete(event, name, *start, *duration)) return;
  Event out;
  out.start_ns = *start;
  out.dur_ns = *duration;
  out.name = builder_.name(name);
  if (mxnet_.seen()) out.kind = MxNet::kindOf(event.category.text, name);
  if (out.kind == EventKind::operatorRun) out.op = mxnet_.factsOf(name);
  if (event.ph() == 'T') {
    builder_.add(builder_.lane(processOf(event), fmt::format("state of thread {}", event.thread.text)), out);
  } else {
    builder_.add(threadOf(event), out);
  }
}

void ChromeInterpreter::begin(const ChromeEvent& event, const Place& place) {
  const auto start = timeOf(event, place);
  if (!start) return;
  const TrackRef track = threadOf(event);
  std::string name = nameOf(event);
  const EventKind kind = mxnet_.seen() ? MxNet::kindOf(event.category.text, name) : EventKind::scope;
  open_[track.index].push_back({std::move(name), *start, kind, track});
}

void ChromeInterpreter::endRange(const ChromeEvent& event, const Place& place) {
  const auto end = timeOf(event, place);
  if (!end) return;
  auto& stack = open_[threadOf(event).index];
  if (stack.empty()) {
    builder_.dropped("ends (phase E) without a begin", place.text());
    return;
  }
  if (*end < stack.back().start_ns)
    builder_.repaired("ends that lie before their begin: length taken as 0", place.text());
  close(stack.back(), *end);
  stack.pop_back();
}

void ChromeInterpreter::close(Open& open, std::int64_t end_ns) {
  Event out;
  out.start_ns = open.start_ns;
  out.dur_ns = std::max<std::int64_t>(0, end_ns - open.start_ns);
  out.name = builder_.name(open.name);
  out.kind = open.kind;
  if (open.kind == EventKind::operatorRun) out.op = mxnet_.factsOf(open.name);
  builder_.add(open.track, out);
}

std::string ChromeInterpreter::asyncKey(const ChromeEvent& event) const {
  const char ph = event.ph();
  const std::string_view category = event.category.text;
  if (ph == '(' || ph == ')') return fmt::format("({}\n{}\n{}", category, event.name.text, event.thread.text);
  // Old style pairs (S, T, p, F) by name too; the nestable style (b, n, e) by category, id and scope only.
  const bool old_style = ph == 'S' || ph == 'T' || ph == 'p' || ph == 'F';
  const std::string_view name = old_style ? event.name.text : std::string_view();
  const auto key = [&](std::string_view id, std::string_view where) {
    return id.empty() ? std::string()
                      : fmt::format("{}\n{}\n{}\n{}\n{}", where, category, event.scope.text, name, id);
  };
  if (event.id_local.isNumberOrString()) return key(event.id_local.text, event.process.text);
  if (event.id_global.isNumberOrString()) return key(event.id_global.text, "");
  if (event.id.isNumberOrString()) return key(event.id.text, "");
  return {};
}

TrackRef ChromeInterpreter::asyncLane(const ChromeEvent& event) {
  // MXNet writes calls of its C API as asynchronous, but they are ranges of their thread.
  if (mxnet_.seen() && event.category.text == "MXNET_C_API") return threadOf(event);
  std::string name = "asynchronous";
  if (!event.category.text.empty()) name += ": " + unescape(event.category.text);
  return builder_.lane(processOf(event), name);
}

void ChromeInterpreter::async(const ChromeEvent& event, const Place& place) {
  const std::string key = asyncKey(event);
  if (key.empty()) {
    builder_.dropped("asynchronous events without an id", place.text());
    return;
  }
  const auto time = timeOf(event, place);
  if (!time) return;
  const char ph = event.ph();
  std::string name = nameOf(event);
  if (ph == 'b' || ph == 'S' || ph == '(') {
    const EventKind kind = mxnet_.seen() ? MxNet::kindOf(event.category.text, name) : EventKind::scope;
    open_async_[key].push_back({std::move(name), *time, kind, asyncLane(event)});
    return;
  }
  if (ph == 'e' || ph == 'F' || ph == ')') {
    const auto found = open_async_.find(key);
    if (found == open_async_.end()) {
      builder_.dropped("ends of asynchronous events without a begin", place.text());
      return;
    }
    close(found->second.back(), *time);
    found->second.pop_back();
    if (found->second.empty()) open_async_.erase(found);
    return;
  }
  Event out;  // n, T, p: a step on the way
  out.kind = EventKind::instant;
  out.start_ns = *time;
  out.name = builder_.name(name);
  builder_.add(asyncLane(event), out);
}

void ChromeInterpreter::instant(const ChromeEvent& event, const Place& place) {
  const std::string name = nameOf(event);
  if (isWindowMark(name)) {
    builder_.notUnderstood("marks of the recording window: not part of the program", place.text());
    return;
  }
  const auto time = timeOf(event, place);
  if (!time || kineto_.instant(event, name, *time)) return;
  Event out;
  out.kind = EventKind::instant;
  out.start_ns = *time;
  out.name = builder_.name(name);
  builder_.add(threadOf(event), out);
}

void ChromeInterpreter::counter(const ChromeEvent& event, const Place& place) {
  const auto time = timeOf(event, place);
  if (!time) return;
  const std::string name = nameOf(event);
  for (const auto& [series, value] : event.args) {
    const auto number = value.isNumberOrString() ? parseReal(value.text) : std::nullopt;
    if (!number || !std::isfinite(*number)) {
      builder_.dropped("counter values that are no number", place.text());
      continue;
    }
    const std::string id = event.id.isNumberOrString() ? fmt::format("[{}]", event.id.text) : "";
    TrackRef track;
    if (mxnet_.seen()) {
      track = mxnet_.counter(event, name);
    } else {
      const std::string part = unescape(series);
      const bool plain = event.args.size() == 1 && (part == "value" || part == name);
      track =
          builder_.counter(processOf(event), plain ? name + id : fmt::format("{}{} {}", name, id, part), "");
    }
    builder_.sample(track, *time, *number);
  }
}

void ChromeInterpreter::flow(const ChromeEvent& event, const Place& place) {
  if (kineto_.seen() && Kineto::isLaunchArrow(event.category.text)) return;  // known from the correlations
  const auto time = timeOf(event, place);
  if (!time) return;
  const std::string key = asyncKey(event);
  if (key.empty()) {
    builder_.dropped("arrows without an id", place.text());
    return;
  }
  Builder::FlowPoint point;
  point.track = threadOf(event);
  point.time_ns = *time;
  point.key = std::hash<std::string>{}(key + '\n' + std::string(event.name.text));
  point.order = event.ph() == 's' ? 0 : event.ph() == 't' ? 1 : 2;
  point.next_range = event.ph() == 'f' && event.binding.text != "e";
  builder_.flow(point);
}

void ChromeInterpreter::metric(const ChromeEvent& event, const Place& place) {
  samples_seen_ = true;
  ++builder_.record("samples of system metrics");
  const auto time =
      event.timestamp.isNumberOrString() ? parseScaled(event.timestamp.text, 1'000'000'000) : std::nullopt;
  const auto value = event.value.isNumberOrString() ? parseReal(event.value.text) : std::nullopt;
  if (!time || !value) {
    builder_.dropped("samples without a time or a value", place.text());
    return;
  }
  if (isEpoch(*time)) builder_.wallClock(0);
  const ProcessRef node = builder_.process(event.node.text);
  builder_.nameProcess(node, unescape(event.node.text));
  const std::string name = fmt::format("{} {}", nameOf(event), unescape(event.dimension.text));
  builder_.sample(builder_.counter(node, name, "%"), *time, *value);
}

void ChromeInterpreter::documentMember(std::string_view key, const JsonValue& value) {
  if (kineto_.documentMember(key, value) || key == "displayTimeUnit") return;
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
    builder_.notUnderstood("members of the document besides the events", key);
  }
}

void ChromeInterpreter::end() {
  std::size_t open = 0;
  const std::int64_t latest = builder_.latest();
  const auto closeAll = [&](auto& stacks) {
    for (auto& [key, stack] : stacks) {
      for (Open& range : stack) {
        close(range, std::max(latest, range.start_ns));
        builder_.repaired("ranges without an end: taken as lasting to the end of the trace", range.name);
        ++open;
      }
    }
  };
  closeAll(open_);
  closeAll(open_async_);
  kineto_.end();
  ImportedInput& input = builder_.input();
  input.format = "Chrome Trace Event JSON";
  input.clock = kineto_.hasBaseTime() ? "microseconds after baseTimeNanoseconds" : "microseconds (ts)";
  if (kineto_.seen()) {
    input.format = "PyTorch Kineto JSON";
    input.version = kineto_.version();
    builder_.meta(meta::kProducer, "PyTorch profiler (Kineto)");
  } else if (mxnet_.seen()) {
    input.format = "MXNet profiler JSON";
    input.clock = "microseconds since 1970";
    builder_.meta(meta::kProducer, "MXNet profiler");
  } else if (samples_seen_) {
    input.format = "SageMaker system metrics (JSON lines)";
    input.clock = "seconds since 1970";
  }
}

}  // namespace pitwall::import
