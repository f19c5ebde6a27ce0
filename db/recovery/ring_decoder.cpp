#include "db/ring_decoder.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "db/json_string.h"

namespace pitwall::ring {

namespace {

std::string realText(double value) {
  if (!std::isfinite(value)) return "null";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

}  // namespace

DeviceInfo deviceOf(std::uint8_t number) {
  static constexpr const char* kKinds[] = {"cpu", "gpu", "pinned", "device"};
  return {kKinds[number / kDevicesOfKind], number % kDevicesOfKind, "", 0};
}

void RingDecoder::decode(const Record* records, std::uint64_t capacity, std::uint64_t from, std::uint64_t to,
                         const ClockMap& clock) {
  const std::size_t first = events_.size();
  const auto at = [&](std::uint64_t index) -> const Record& { return records[index & (capacity - 1)]; };
  for (std::uint64_t i = from; i < to;) {
    const Record& record = at(i++);
    if (record.kind >= kFirstContinuation) continue;
    Extras extras;
    text_left_ = 0;
    text_.clear();
    for (; i < to && at(i).kind >= kFirstContinuation; ++i) {
      const Record& extra = at(i);
      switch (extra.kind) {
        case RecordKind::operatorTimes:
          extras.pushed = extra.a;
          extras.ready = extra.b;
          extras.announced = extra.detail == kAnnounced;
          break;
        case RecordKind::link: extras.correlation = extra.a; break;
        default: addArgument(extra, extras.args); break;
      }
    }
    finishText(extras.args);
    decodeOne(record, extras, clock);
  }
  setDepths(first);
}

void RingDecoder::addArgument(const Record& record, std::string& args) {
  if (record.kind == RecordKind::text) {
    if (text_left_ == 0) return;
    const std::size_t bytes = std::min<std::size_t>({record.detail, kTextPart, text_left_});
    text_.append(reinterpret_cast<const char*>(&record), bytes);
    text_left_ -= bytes;
    return;
  }
  if (record.kind != RecordKind::argument) return;
  finishText(args);
  if (!args.empty()) args += ',';
  args += jsonString(names_.site(record.id).name) + ':';
  switch (static_cast<ArgumentType>(record.detail)) {
    case ArgumentType::real: args += realText(std::bit_cast<double>(record.a)); break;
    case ArgumentType::text:
      text_left_ = record.a;
      text_awaited_ = true;
      break;
    default: args += std::to_string(static_cast<std::int64_t>(record.a)); break;
  }
}

void RingDecoder::finishText(std::string& args) {
  if (!text_awaited_) return;
  args += jsonString(text_);
  text_.clear();
  text_awaited_ = false;
}

void RingDecoder::decodeOne(const Record& record, const Extras& extras, const ClockMap& clock) {
  switch (record.kind) {
    case RecordKind::span:
    case RecordKind::instant: return decodeSpan(record, extras, clock);
    case RecordKind::operatorRun: return decodeOperator(record, extras, clock);
    case RecordKind::dependency:
      dependencies_.push_back({record.a, record.b, static_cast<DependencyKind>(record.detail)});
      return;
    case RecordKind::counter:
      if (record.a < clock.startTicks()) return;
      siteOf(record.id).samples.push_back({clock.toNs(record.a), std::bit_cast<double>(record.c)});
      return;
    case RecordKind::iteration:
      if (record.a < clock.startTicks()) return;
      iterations_.push_back(
          {static_cast<std::int64_t>(record.b), clock.toNs(record.a), static_cast<std::int64_t>(record.c)});
      return;
    default: return;  // of a damaged file
  }
}

namespace {

// Of an event that had not ended when the program was killed.
constexpr char kOpenMember[] = R"("open":true)";

std::string joinMembers(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "," + b;
}

std::string deviceMember(std::uint8_t device) {
  const DeviceInfo named = deviceOf(device);
  return R"("device":")" + named.kind + '/' + std::to_string(named.index) + '"';
}

}  // namespace

void RingDecoder::decodeSpan(const Record& record, const Extras& extras, const ClockMap& clock) {
  if (record.a + record.b < clock.startTicks()) return;  // left over from an earlier recording
  const Site& site = siteOf(record.id);
  Event event;
  event.start_ns = event.pushed_ns = event.ready_ns = clock.toNs(record.a);
  event.dur_ns = clock.toNs(record.a + record.b) - event.start_ns;
  event.correlation = extras.correlation;
  event.value = static_cast<std::int64_t>(record.c);
  event.name = site.name;
  event.kind = record.kind == RecordKind::instant ? EventKind::instant : site.kind;
  event.depth = record.depth;
  event.args = site.args;
  if (!extras.args.empty())
    event.args = sink_.string("{" + joinMembers(names_.site(record.id).args, extras.args) + "}");
  events_.push_back(event);
  announced_.push_back(record.detail == kAnnounced);
}

void RingDecoder::decodeOperator(const Record& record, const Extras& extras, const ClockMap& clock) {
  if (record.a + record.b < clock.startTicks()) return;
  Event event;
  event.kind = EventKind::operatorRun;
  event.start_ns = clock.toNs(record.a);
  event.dur_ns = clock.toNs(record.a + record.b) - event.start_ns;
  event.ready_ns = extras.ready == 0 ? event.start_ns : std::min(clock.toNs(extras.ready), event.start_ns);
  event.pushed_ns = extras.pushed == 0 ? event.ready_ns : std::min(clock.toNs(extras.pushed), event.ready_ns);
  event.correlation = record.c;
  const Operator& op = operatorOf(record.id);
  event.name = op.name;
  event.op = op.id;
  event.depth = record.depth;
  event.args = deviceArguments(record.detail);
  events_.push_back(event);
  announced_.push_back(extras.announced);
}

bool RingDecoder::addOpenOperator(const Record& record, const Record& times, TimeNs end_ns,
                                  const ClockMap& clock) {
  if (record.kind != RecordKind::operatorRun || times.kind != RecordKind::operatorTimes ||
      record.a < clock.startTicks())
    return false;
  Extras extras;
  extras.pushed = times.a;
  extras.ready = times.b;
  Record without_length = record;
  without_length.b = 0;
  decodeOperator(without_length, extras, clock);
  Event& event = events_.back();
  event.dur_ns = std::max<TimeNs>(0, end_ns - event.start_ns);
  const std::string device = record.detail == 0 ? "" : deviceMember(record.detail);
  event.args = sink_.string("{" + joinMembers(device, kOpenMember) + "}");
  return true;
}

// None for cpu 0, so that the events of programs without another device have no arguments.
StringId RingDecoder::deviceArguments(std::uint8_t device) {
  if (device == 0) return {};
  StringId& text = device_arguments_[device];
  if (!text) text = sink_.string("{" + deviceMember(device) + "}");
  return text;
}

// The recording thread counts announced scopes. Unannounced enclosing events (bulk segments) are found here:
// records come in the order they end, so walking backwards finds the enclosing one first. An enclosing event
// that ends in a later drain is missed.
void RingDecoder::setDepths(std::size_t first) {
  struct Open {
    TimeNs start, end;
    bool announced;
  };
  std::vector<Open> open;
  std::uint16_t unannounced = 0;  // of `open`
  const auto pop = [&] {
    if (!open.back().announced) --unannounced;
    open.pop_back();
  };
  for (std::size_t i = events_.size(); i-- > first;) {
    Event& event = events_[i];
    const TimeNs end = event.start_ns + event.dur_ns;
    while (!open.empty() && (event.start_ns < open.back().start || end > open.back().end)) pop();
    event.depth = static_cast<std::uint16_t>(event.depth + unannounced);
    if (event.dur_ns == 0) continue;
    open.push_back({event.start_ns, end, announced_[i]});
    if (!announced_[i]) ++unannounced;
  }
}

bool RingDecoder::addOpenScope(const OpenScope& scope, std::uint16_t depth, TimeNs end_ns,
                               const ClockMap& clock) {
  if (scope.started < clock.startTicks()) return false;
  const auto id = static_cast<std::uint32_t>(scope.site);
  const Site& site = siteOf(id);
  Event event;
  event.start_ns = event.pushed_ns = event.ready_ns = clock.toNs(scope.started);
  event.dur_ns = std::max<TimeNs>(0, end_ns - event.start_ns);
  event.kind = site.kind;
  event.name = site.name;
  event.args = sink_.string("{" + joinMembers(names_.site(id).args, kOpenMember) + "}");
  event.depth = depth;
  events_.push_back(event);
  announced_.push_back(true);
  return true;
}

std::uint64_t RingDecoder::sendEvents(TrackId track, std::uint64_t skip) {
  const std::uint64_t count = events_.size();
  if (skip < count)
    sink_.events(track, std::span<const Event>(events_).subspan(static_cast<std::size_t>(skip)));
  events_.clear();
  announced_.clear();
  return count;
}

std::uint64_t RingDecoder::sendDependencies() {
  const std::uint64_t count = dependencies_.size();
  if (count != 0) sink_.dependencies(dependencies_);
  dependencies_.clear();
  return count;
}

void RingDecoder::sendIterations() {
  for (const IterationMark& mark : iterations_) sink_.iteration(mark);
  iterations_.clear();
}

void RingDecoder::sendCounters() {
  sites_.forEach([this](std::uint32_t id, Site& site) {
    std::erase_if(site.samples, [&](const CounterSample& s) { return s.time_ns <= site.skip_up_to; });
    if (site.samples.empty()) return;
    if (!site.counter_track) {
      const std::string text = names_.site(id).name;
      const std::size_t bar = text.find('|');
      TrackInfo track;
      track.kind = TrackKind::counter;
      track.process = process_;
      track.name = text.substr(0, bar);
      if (bar != std::string::npos) track.unit = text.substr(bar + 1);
      site.counter_track = sink_.track(track);
    }
    sink_.counters(site.counter_track, site.samples);
    site.samples.clear();
  });
}

void RingDecoder::skipIterationsUpTo(std::int64_t index) {
  std::erase_if(iterations_, [index](const IterationMark& mark) { return mark.index <= index; });
}

void RingDecoder::skipSamplesUpTo(const std::string& track_name, TimeNs time, TrackId track) {
  sites_.forEach([&](std::uint32_t id, Site& site) {
    if (site.samples.empty()) return;
    const std::string text = names_.site(id).name;
    if (text.substr(0, text.find('|')) != track_name) return;
    site.skip_up_to = time;
    site.counter_track = track;
  });
}

RingDecoder::Site& RingDecoder::siteOf(std::uint32_t id) {
  Site& site = sites_[id];
  if (!site.known) {
    const SiteFacts facts = names_.site(id);
    site.name = sink_.string(facts.name);
    if (!facts.args.empty()) site.args = sink_.string("{" + facts.args + "}");
    site.kind = facts.kind;
    site.known = true;
  }
  return site;
}

const RingDecoder::Operator& RingDecoder::operatorOf(std::uint32_t id) {
  Operator& op = operators_[id];
  if (!op.name) {
    const OperatorFacts facts = names_.facts(id);
    if (id != 0) op.id = sink_.operatorFacts(facts);
    op.name = sink_.string(facts.name.empty() ? "operator" : facts.name);
  }
  return op;
}

}  // namespace pitwall::ring
