// Reads xplane.pb, the file of the profilers of JAX and TensorFlow (tsl/profiler/protobuf/xplane.proto).
//
// A plane is a device or the host, a line of it a stream or a thread. Names of events stand behind the lines
// that use them, so that each plane is read twice; of the file itself only a buffer is in memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/import/input/protobuf.h"
#include "db/import/input/text.h"
#include "db/import/readers.h"
#include "db/import/xla/xla_events.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::int64_t kUnixTimesFromNs = 1'000'000'000'000'000'000;
constexpr std::size_t kMostNames = std::size_t{1} << 20;  // of a plane
constexpr std::size_t kLongestXplaneText = std::size_t{1} << 16;

// The statistics that are read, by their names.
enum class Stat : std::uint8_t {
  correlation,
  kernelDetails,
  memcpyDetails,
  memsetDetails,
  hloOp,
  hloModule,
  frameworkOp,
  step,
  sessionStart,
  none
};
constexpr std::array<std::string_view, static_cast<std::size_t>(Stat::none)> kStats = {
    "correlation_id", "kernel_details", "memcpy_details", "memset_details",    "hlo_op",
    "hlo_module",     "tf_op",          "step_num",       "profile_start_time"};

Stat statOf(std::string_view name) {
  const auto* found = std::find(kStats.begin(), kStats.end(), name);
  return static_cast<Stat>(found - kStats.begin());
}

using StatTexts = std::array<std::string, kStats.size()>;

struct EventName {
  std::string name;
  StatTexts stats;
  bool has_stats = false;
};

// What a plane says besides its lines.
struct Plane {
  std::string name;
  std::unordered_map<std::int64_t, EventName> events;
  std::unordered_map<std::int64_t, std::string> stat_names;
  std::unordered_map<std::int64_t, Stat> stats;
  StatTexts own;  // statistics of the plane itself
};

// The head of a line.
struct LineHead {
  std::int64_t id = 0;
  std::string name;
  std::int64_t timestamp_ns = 0;
};

class Xplane {
 public:
  Xplane(ProtoFile& file, const ImportOptions& options, Builder& builder)
      : file_(file), options_(options), builder_(builder), events_(builder) {}

  Status run();

 private:
  using Range = ProtoFile::Range;

  Status plane(Range range);
  Status metadata(Range range, Plane& plane);
  void eventName(std::string_view entry, Plane& plane) const;
  static void statName(std::string_view entry, Plane& plane);
  void stat(std::string_view message, const Plane& plane, StatTexts& texts) const;
  Status line(Range range, const Plane& plane);
  Result<LineHead> lineHead(Range range);
  bool event(std::string_view message, const Plane& plane, const LineHead& head, std::string& name,
             StatTexts& texts, XlaEvent& out);
  void sessionStart(const Plane& plane);
  Status checkCancelled();

  ProtoFile& file_;
  const ImportOptions& options_;
  Builder& builder_;
  XlaEvents events_;
  std::int64_t events_read_ = 0;
  std::int64_t planes_ = 0;
  bool is_unix_ = false;
  std::optional<std::int64_t> session_start_ns_;
};

std::pair<std::int64_t, std::string_view> mapEntry(std::string_view message) {
  std::pair<std::int64_t, std::string_view> entry{0, {}};
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number == 1 && !field.is_bytes) entry.first = field.integer();
    if (field.number == 2 && field.is_bytes) entry.second = field.bytes;
  }
  return entry;
}

Status Xplane::checkCancelled() {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed))
    return fail(ErrorCode::cancelled, fmt::format("{}: import interrupted", builder_.tally().input().path));
  return {};
}

void Xplane::statName(std::string_view entry, Plane& plane) {
  const auto [id, message] = mapEntry(entry);
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number != 2 || !field.is_bytes) continue;
    plane.stat_names[id] = std::string(field.bytes.substr(0, kLongestXplaneText));
    plane.stats[id] = statOf(field.bytes);
  }
}

void Xplane::eventName(std::string_view entry, Plane& plane) const {
  const auto [id, message] = mapEntry(entry);
  EventName& known = plane.events[id];
  std::string_view display;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (!field.is_bytes) continue;
    if (field.number == 2) known.name = std::string(field.bytes.substr(0, kLongestXplaneText));
    if (field.number == 4) display = field.bytes.substr(0, kLongestXplaneText);
    if (field.number == 5) {
      stat(field.bytes, plane, known.stats);
      known.has_stats = true;
    }
  }
  if (!display.empty()) known.name = std::string(display);
}

void Xplane::stat(std::string_view message, const Plane& plane, StatTexts& texts) const {
  ProtoMessage fields(message);
  std::size_t slot = kStats.size();
  for (ProtoField field; fields.next(field);) {
    if (field.number == 1 && !field.is_bytes) {
      const auto found = plane.stats.find(field.integer());
      if (found == plane.stats.end() || found->second == Stat::none) return;
      slot = static_cast<std::size_t>(found->second);
    } else if (slot < texts.size() && (field.number == 3 || field.number == 4) && !field.is_bytes) {
      texts[slot] = std::to_string(field.integer());
    } else if (slot < texts.size() && field.number == 5 && field.is_bytes) {
      texts[slot] = std::string(field.bytes.substr(0, kLongestXplaneText));
    } else if (slot < texts.size() && field.number == 7 && !field.is_bytes) {
      const auto name = plane.stat_names.find(field.integer());
      if (name != plane.stat_names.end()) texts[slot] = name->second;
    }
  }
}

// Everything but the lines. Names of statistics come last in the file and are needed first.
Status Xplane::metadata(Range range, Plane& plane) {
  const auto longest = static_cast<std::size_t>(options_.limits.record_bytes);
  for (const bool names_of_stats : {true, false}) {
    Range rest = range;
    ProtoFile::Field field;
    for (;;) {
      const bool more = PITWALL_TRY(file_.next(rest, field));
      if (!more) break;
      if (!field.is_bytes || field.number == 3 || (field.number == 5) != names_of_stats) continue;
      if (plane.events.size() + plane.stat_names.size() > kMostNames) {
        builder_.tally().note(fmt::format("{}: a plane has more than {} names: those beyond are numbers",
                                          builder_.tally().input().path, kMostNames));
        return {};
      }
      const std::string_view text = PITWALL_TRY(file_.bytes(field.range, longest));
      if (field.number == 2) plane.name = std::string(text.substr(0, 1024));
      if (field.number == 4) eventName(text, plane);
      if (field.number == 5) statName(text, plane);
      if (field.number == 6) stat(text, plane, plane.own);
    }
  }
  return {};
}

void Xplane::sessionStart(const Plane& plane) {
  const auto start = parseInteger(plane.own[static_cast<std::size_t>(Stat::sessionStart)]);
  if (start && *start > kUnixTimesFromNs && *start < kLatestNs) session_start_ns_ = *start;
}

Status Xplane::plane(Range range) {
  ++planes_;
  Plane plane;
  PITWALL_TRY(metadata(range, plane));
  sessionStart(plane);
  Range rest = range;
  ProtoFile::Field field;
  for (;;) {
    const bool more = PITWALL_TRY(file_.next(rest, field));
    if (!more) return {};
    if (field.number == 3 && field.is_bytes) PITWALL_TRY(line(field.range, plane));
  }
}

// The members of a line that stand around its events.
Result<LineHead> Xplane::lineHead(Range range) {
  LineHead head;
  std::string display;
  ProtoFile::Field field;
  for (;;) {
    const bool more = PITWALL_TRY(file_.next(range, field));
    if (!more) break;
    if (field.number == 1 && !field.is_bytes) head.id = static_cast<std::int64_t>(field.value);
    if (field.number == 3 && !field.is_bytes) head.timestamp_ns = static_cast<std::int64_t>(field.value);
    if ((field.number == 2 || field.number == 11) && field.is_bytes) {
      const std::string_view text = PITWALL_TRY(file_.bytes(field.range, 1024));
      (field.number == 2 ? head.name : display) = std::string(text);
    }
  }
  if (!display.empty()) head.name = display;
  return head;
}

bool Xplane::event(std::string_view message, const Plane& plane, const LineHead& head, std::string& name,
                   StatTexts& texts, XlaEvent& out) {
  std::int64_t id = 0;
  std::uint64_t offset_ps = 0;
  std::uint64_t duration_ps = 0;
  bool has_offset = false;
  bool summed = false;
  ProtoMessage fields(message);
  texts = {};
  // The statistics of the name first, so that the event's own replace them.
  for (ProtoField field; fields.next(field);) {
    if (field.number == 1 && !field.is_bytes) {
      id = field.integer();
      const auto known = plane.events.find(id);
      if (known != plane.events.end() && known->second.has_stats) texts = known->second.stats;
    }
    if (field.number == 2 && !field.is_bytes) offset_ps = field.value, has_offset = true;
    if (field.number == 3 && !field.is_bytes) duration_ps = field.value;
    if (field.number == 4 && field.is_bytes) stat(field.bytes, plane, texts);
    if (field.number == 5 && !field.is_bytes) summed = field.value > 0;
  }
  const auto known = plane.events.find(id);
  name = known != plane.events.end() && !known->second.name.empty() ? known->second.name
                                                                    : fmt::format("event {}", id);
  if (known == plane.events.end())
    builder_.tally().repaired("names that the plane does not hold: replaced by their number", name);
  if (summed && !has_offset) {
    builder_.tally().notUnderstood("sums of events (num_occurrences): they have no time", name);
    return false;
  }
  // Both ends are rounded alike, so that what encloses an event still does.
  const auto ns = [&](std::uint64_t ps) { return static_cast<std::int64_t>((ps + 500) / 1000); };
  constexpr std::uint64_t kFarPs = std::uint64_t{1} << 62;
  if (offset_ps > kFarPs || duration_ps > kFarPs || !InputClock::inRange(head.timestamp_ns)) {
    builder_.tally().dropped("events with a time out of range", name);
    return false;
  }
  out.name = name;
  out.start_ns = head.timestamp_ns + ns(offset_ps);
  out.end_ns = head.timestamp_ns + ns(offset_ps + duration_ps);
  return true;
}

void fill(const StatTexts& texts, XlaEvent& out) {
  const auto text = [&](Stat stat) { return std::string_view(texts[static_cast<std::size_t>(stat)]); };
  const auto correlation = parseInteger(text(Stat::correlation));
  out.correlation = correlation && *correlation > 0 ? static_cast<std::uint64_t>(*correlation) : 0;
  out.kernel_details = text(Stat::kernelDetails);
  out.copy_details =
      text(Stat::memcpyDetails).empty() ? text(Stat::memsetDetails) : text(Stat::memcpyDetails);
  out.hlo_op = text(Stat::hloOp);
  out.hlo_module = text(Stat::hloModule);
  out.framework_op = text(Stat::frameworkOp);
  out.step = text(Stat::step);
}

Status Xplane::line(Range range, const Plane& plane) {
  const LineHead head = PITWALL_TRY(lineHead(range));
  std::int64_t& counter = builder_.tally().record(fmt::format("events of {}", plane.name));
  if (head.name == "_counters_") {
    builder_.tally().notUnderstood("lines of counters", plane.name);
    return {};
  }
  if (head.timestamp_ns > kUnixTimesFromNs) is_unix_ = true;
  const auto device = xlaDevice(plane.name);
  XlaEvents::Line device_line;
  TrackRef thread;
  const ProcessRef process = builder_.tracks().process("host");
  builder_.tracks().ownerProcess(process);
  builder_.tracks().nameProcess(process, "host");
  if (device) {
    device_line = events_.line(*device, head.name);
  } else if (plane.name.starts_with("/host:")) {
    thread = builder_.tracks().thread(process, std::to_string(head.id));
    if (!head.name.empty()) builder_.tracks().nameThread(thread, head.name);
  } else {
    thread = builder_.tracks().lane(process, fmt::format("{}: {}", plane.name, head.name));
  }
  const bool calls = plane.name == "/host:CUPTI" || plane.name == "/host:ROCTRACER";
  Range rest = range;
  ProtoFile::Field field;
  std::string name;
  StatTexts texts;
  for (;;) {
    const bool more = PITWALL_TRY(file_.next(rest, field));
    if (!more) return {};
    if (field.number != 4 || !field.is_bytes) continue;
    if ((++events_read_ & 0xFFF) == 0) PITWALL_TRY(checkCancelled());
    ++counter;
    const std::string_view message =
        PITWALL_TRY(file_.bytes(field.range, static_cast<std::size_t>(options_.limits.record_bytes)));
    XlaEvent out;
    if (!event(message, plane, head, name, texts, out)) continue;
    fill(texts, out);
    if (device) {
      events_.onDevice(device_line, out);
    } else {
      events_.onHost(thread, out, calls);
    }
  }
}

Status Xplane::run() {
  ImportedInput& input = builder_.tally().input();
  input.format = "XPlane of JAX or TensorFlow";
  builder_.meta(meta::kProducer, "XLA profiler (JAX, TensorFlow)");
  Range rest = file_.all();
  ProtoFile::Field field;
  for (;;) {
    const bool more = PITWALL_TRY(file_.next(rest, field));
    if (!more) break;
    if (!field.is_bytes) continue;
    if (field.number == 1) {
      PITWALL_TRY(plane(field.range));
    } else if (field.number == 2 || field.number == 3) {
      const std::string_view text = PITWALL_TRY(file_.bytes(field.range, 512));
      builder_.tally().note(fmt::format("{}: the profiler reports: {}", input.path, quoted(text, 200)));
    } else if (field.number == 4) {
      const std::string_view text = PITWALL_TRY(file_.bytes(field.range, 256));
      builder_.meta(meta::kHostName, text);
    }
  }
  events_.end();
  builder_.tally().record("planes") += planes_;
  if (is_unix_) {
    builder_.clock().wallClock(0);
  } else if (session_start_ns_) {
    builder_.clock().wallClock(*session_start_ns_);
  }
  input.clock = is_unix_ ? "nanoseconds since 1970" : "nanoseconds since the session's start";
  if (!file_.damage().empty()) builder_.tally().damaged(file_.damage());
  return {};
}

}  // namespace

Status readXplane(const std::string& path, const ImportOptions& options, Builder& builder) {
  ProtoFile file;
  PITWALL_TRY(file.open(path));
  return Xplane(file, options, builder).run();
}

}  // namespace pitwall::import
