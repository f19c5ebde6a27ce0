// Reads xplane.pb, the file of the profilers of JAX and TensorFlow (tsl/profiler/protobuf/xplane.proto).
//
// A plane is a device or the host, a line of it a stream or a thread. Names of events stand behind the lines
// that use them, so that each plane is read twice; of the file itself only a buffer is in memory.
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/import/input/protobuf.h"
#include "db/import/input/text.h"
#include "db/import/readers.h"
#include "db/import/xla/xla_events.h"
#include "db/import/xla/xplane_names.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::int64_t kUnixTimesFromNs = 1'000'000'000'000'000'000;
constexpr std::size_t kMostNames = std::size_t{1} << 20;  // of a plane

// The head of a line.
struct LineHead {
  std::int64_t id = 0;
  std::string name;
  std::int64_t timestamp_ns = 0;
};

// What a plane says besides its lines.
struct Plane {
  std::string name;
  XplaneNames names;
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
  Status line(Range range, const Plane& plane);
  Result<LineHead> lineHead(Range range);
  bool event(std::string_view message, const Plane& plane, const LineHead& head, std::string& name,
             XplaneTexts& texts, XlaEvent& out);
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
  XplaneNames::Numbers numbers_;  // of the current event
};

Status Xplane::checkCancelled() {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed))
    return fail(ErrorCode::cancelled, fmt::format("{}: import interrupted", builder_.tally().input().path));
  return {};
}

// Everything but the lines. Names of statistics come late in the file and are needed first.
Status Xplane::metadata(Range range, Plane& plane) {
  constexpr std::uint32_t kName = 2, kEvents = 4, kStats = 5, kOwnStats = 6;
  XplaneNames& names = plane.names;
  const auto longest = static_cast<std::size_t>(options_.limits.record_bytes);
  for (const std::uint32_t pass : {kStats, kOwnStats, kEvents}) {
    // The names of statistics get half of the memory, so that those of events have the rest.
    const Bytes most_bytes = options_.limits.string_table_bytes / (pass == kStats ? 2 : 1);
    std::int64_t left_out = 0;
    Range rest = range;
    ProtoFile::Field field;
    for (;;) {
      const bool more = PITWALL_TRY(file_.next(rest, field));
      if (!more) break;
      const bool is_name = field.number == kName && pass == kStats;
      if (!field.is_bytes || (field.number != pass && !is_name)) continue;
      const std::size_t entries = pass == kStats ? names.stats() : names.events();
      if (!is_name && (entries >= kMostNames || names.bytes() >= most_bytes)) {
        ++left_out;
        continue;
      }
      const std::string_view text = PITWALL_TRY(file_.bytes(field.range, longest));
      if (is_name) plane.name = std::string(text.substr(0, 1024));
      if (pass == kStats && !is_name) names.addStat(text);
      if (pass == kOwnStats) names.addOwn(text);
      if (pass == kEvents) names.addEvent(text);
    }
    if (left_out > 0)
      builder_.tally().note(fmt::format(
          "{}: the plane {} holds more than {} names or {} bytes of them: {} are left out",
          builder_.tally().input().path, quotedText(plane.name), kMostNames, most_bytes, left_out));
  }
  return {};
}

void Xplane::sessionStart(const Plane& plane) {
  const auto start = parseInteger(plane.names.own()[XplaneStat::sessionStart]);
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
                   XplaneTexts& texts, XlaEvent& out) {
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
      const auto* const known = plane.names.event(id);
      if (known != nullptr && known->has_stats) texts = known->stats;
    }
    if (field.number == 2 && !field.is_bytes) offset_ps = field.value, has_offset = true;
    if (field.number == 3 && !field.is_bytes) duration_ps = field.value;
    if (field.number == 4 && field.is_bytes) plane.names.stat(field.bytes, texts, numbers_);
    if (field.number == 5 && !field.is_bytes) summed = field.value > 0;
  }
  const auto* const known = plane.names.event(id);
  name = known != nullptr && !known->name.empty() ? known->name : fmt::format("event {}", id);
  if (known == nullptr)
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

void fill(const XplaneTexts& texts, XlaEvent& out) {
  const auto correlation = parseInteger(texts[XplaneStat::correlation]);
  out.correlation = correlation && *correlation > 0 ? static_cast<std::uint64_t>(*correlation) : 0;
  out.kernel_details = texts[XplaneStat::kernelDetails];
  const std::string_view copy = texts[XplaneStat::memcpyDetails];
  out.copy_details = copy.empty() ? texts[XplaneStat::memsetDetails] : copy;
  out.hlo_op = texts[XplaneStat::hloOp];
  out.hlo_module = texts[XplaneStat::hloModule];
  out.framework_op = texts[XplaneStat::frameworkOp];
  out.step = texts[XplaneStat::step];
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
  XplaneTexts texts;
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
      builder_.tally().note(fmt::format("{}: the profiler reports: {}", input.path, quotedText(text, 200)));
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
