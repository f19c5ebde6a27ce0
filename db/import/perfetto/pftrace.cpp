// Reads a Perfetto trace: packets one after the other, each of a sequence with its own names and clock.
//
// Of the kinds of data that Perfetto records, track events are read (ranges, instants, counters, arrows);
// packets of others, as the kernel's ftrace events, are counted by name.
#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/import/input/byte_source.h"
#include "db/import/input/protobuf.h"
#include "db/import/input/text.h"
#include "db/import/perfetto/pftrace_clocks.h"
#include "db/import/perfetto/pftrace_events.h"
#include "db/import/perfetto/pftrace_fields.h"
#include "db/import/perfetto/pftrace_sequence.h"
#include "db/import/perfetto/pftrace_tracks.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostSequences = std::size_t{1} << 14;
constexpr std::size_t kReadAhead = std::size_t{1} << 20;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // bits of sequence_flags

// The members of a packet that all others depend on.
struct PacketHead {
  std::uint64_t timestamp = 0;
  bool has_timestamp = false;
  std::uint64_t sequence = 0;
  std::uint64_t flags = 0;
  std::uint64_t clock = 0;
  bool cleared = false;
  bool lost_before = false;
  bool first = false;  // of its sequence
};

PacketHead headOf(std::string_view packet_text) {
  PacketHead head;
  ProtoMessage fields(packet_text);
  for (ProtoField field; fields.next(field);) {
    if (field.is_bytes) continue;
    switch (field.number) {
      case packet::kTimestamp: head.timestamp = field.value, head.has_timestamp = true; break;
      case packet::kSequence: head.sequence = field.value & 0xFFFFFFFF; break;
      case packet::kSequenceFlags: head.flags = field.value; break;
      case packet::kClock: head.clock = field.value; break;
      case packet::kStateCleared: head.cleared = field.value != 0; break;
      case packet::kPreviousDropped: head.lost_before = field.value != 0; break;
      case packet::kFirstOnSequence: head.first = field.value != 0; break;
      default: break;
    }
  }
  return head;
}

class Pftrace {
 public:
  Pftrace(Window& window, const ImportOptions& options, Builder& builder)
      : window_(window), options_(options), builder_(builder), tracks_(builder), events_(builder, tracks_) {}

  Status run();

 private:
  Status packets();
  Status packet(std::string_view text, bool nested);
  Status compressed(std::string_view text);
  void trackEvent(std::string_view text, const PacketHead& head, PftraceSequence& sequence);
  bool beginState(const PacketHead& head, PftraceSequence& sequence);
  void intern(std::string_view text, PftraceSequence& sequence);
  void threadDescriptor(std::string_view text, PftraceSequence& sequence);
  PftraceSequence& sequenceOf(std::uint64_t id);
  struct Moment {
    std::uint64_t clock = 0;
    std::uint64_t timestamp = 0;
  };
  std::optional<Moment> momentOf(std::string_view event, const PacketHead& head, PftraceSequence& sequence);
  std::string place() const { return window_.place(); }
  void finish();

  Window& window_;
  const ImportOptions& options_;
  Builder& builder_;
  PftraceClocks clocks_;
  PftraceTracks tracks_;
  PftraceEvents events_;
  std::unordered_map<std::uint64_t, std::unique_ptr<PftraceSequence>> sequences_;
  std::size_t interned_bytes_ = 0;
  Bytes compressed_bytes_ = 0;  // of all compressed packets
  Bytes inflated_bytes_ = 0;
  std::int64_t packets_ = 0;
  std::int64_t lost_ = 0;
};

PftraceSequence& Pftrace::sequenceOf(std::uint64_t id) {
  if (sequences_.size() >= kMostSequences && sequences_.find(id) == sequences_.end()) {
    builder_.tally().note(fmt::format("{}: more than {} sequences of packets: the others share one",
                                      builder_.tally().input().path, kMostSequences));
    id = ~std::uint64_t{0};
  }
  auto& sequence = sequences_[id];
  if (!sequence) sequence = std::make_unique<PftraceSequence>();
  return *sequence;
}

// Names and defaults of a sequence hold until they are cleared. False when this packet cannot be read.
bool Pftrace::beginState(const PacketHead& head, PftraceSequence& sequence) {
  // The first packet of a sequence is marked as if packets before it were lost.
  if (head.lost_before && sequence.seen && !head.first) ++lost_;
  sequence.seen = true;
  if (head.cleared || (head.flags & kStateCleared) != 0) {
    interned_bytes_ -= sequence.internedBytes();
    sequence.clear();
  } else if (head.lost_before) {
    sequence.cleared = false;  // a name may be among the lost
    sequence.thread_time_us.reset();
  }
  if ((head.flags & kNeedsState) == 0 || sequence.cleared) return true;
  builder_.tally().dropped("packets whose names were lost with earlier packets", [&] { return place(); });
  return false;
}

void Pftrace::intern(std::string_view text, PftraceSequence& sequence) {
  if (static_cast<Bytes>(interned_bytes_) > options_.limits.string_table_bytes) {
    builder_.tally().dropped("names beyond the bound for all names", "interned data");
    return;
  }
  const std::size_t before = sequence.internedBytes();
  sequence.intern(text);
  interned_bytes_ += sequence.internedBytes() - before;
}

void Pftrace::threadDescriptor(std::string_view text, PftraceSequence& sequence) {
  constexpr std::uint32_t kReferenceTimeUs = 6;
  sequence.thread = tracks_.thread(text);
  ProtoMessage fields(text);
  for (ProtoField field; fields.next(field);) {
    if (field.number == kReferenceTimeUs && !field.is_bytes) sequence.thread_time_us = field.integer();
  }
}

// The oldest files give times in microseconds of CLOCK_MONOTONIC: absolute, or as the distance from the last time of
// the sequence, which begins with its thread's descriptor. Counts an event without a time.
std::optional<Pftrace::Moment> Pftrace::momentOf(std::string_view event, const PacketHead& head,
                                                 PftraceSequence& sequence) {
  const auto dropped = [&](const char* why) {
    builder_.tally().dropped(why, [&] { return place(); });
    return std::nullopt;
  };
  const auto near = [](std::int64_t us) { return us > -kLatestNs / 2000 && us < kLatestNs / 2000; };
  std::optional<std::int64_t> delta_us;
  std::optional<std::int64_t> us;
  ProtoMessage fields(event);
  for (ProtoField field; fields.next(field);) {
    if (field.number == track_event::kDeltaUs && !field.is_bytes) delta_us = field.integer();
    if (field.number == track_event::kAbsoluteUs && field.value != 0) us = field.integer();
  }
  if (delta_us) {
    std::optional<std::int64_t>& last = sequence.thread_time_us;
    if (!last) return dropped("events whose time counts from a thread descriptor that is missing or lost");
    if (!near(*last) || !near(*delta_us)) return dropped("events with a time out of range");
    us = *last += *delta_us;
  }
  if (us) {
    if (*us < 0 || !near(*us)) return dropped("events with a time out of range");
    // Without a snapshot the file has no other clock to convert to.
    const std::uint64_t clock = clocks_.hasSnapshot() ? PftraceClocks::kMonotonic : clocks_.reference();
    return Moment{clock, static_cast<std::uint64_t>(*us) * 1000};
  }
  if (!head.has_timestamp) return dropped("track events without a time");
  return Moment{head.clock != 0 ? head.clock : sequence.default_clock, head.timestamp};
}

void Pftrace::trackEvent(std::string_view text, const PacketHead& head, PftraceSequence& sequence) {
  const auto moment = momentOf(text, head, sequence);
  if (!moment) return;
  const auto time = clocks_.time(moment->clock, head.sequence, moment->timestamp);
  if (!time) {
    builder_.tally().dropped("events of a clock that no snapshot joins to the trace's",
                             [&] { return fmt::format("clock {}, {}", moment->clock, place()); });
    return;
  }
  events_.event(text, sequence, *time, Place{window_, 0, {}});
}

Status Pftrace::compressed(std::string_view text) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return fail(ErrorCode::io, "zlib: out of memory");
  std::string out;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  const auto most = static_cast<std::size_t>(options_.limits.record_bytes) * 4;
  int code = Z_OK;
  while (code == Z_OK && out.size() < most) {
    const std::size_t had = out.size();
    out.resize(had + (std::size_t{1} << 18));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + had);
    stream.avail_out = static_cast<unsigned>(out.size() - had);
    code = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END)
    builder_.tally().dropped("compressed packets that are damaged or too large: read as far as they go",
                             [&] { return place(); });
  compressed_bytes_ += static_cast<Bytes>(text.size());
  inflated_bytes_ += static_cast<Bytes>(out.size());
  PITWALL_TRY(
      checkGrowth(builder_.tally().input().path, inflated_bytes_, compressed_bytes_, options_.limits));
  ProtoMessage fields(out);
  for (ProtoField field; fields.next(field);) {
    if (field.number == 1 && field.is_bytes) PITWALL_TRY(packet(field.bytes, true));
  }
  return {};
}

Status Pftrace::packet(std::string_view text, bool nested) {
  ++packets_;
  const PacketHead head = headOf(text);
  PftraceSequence& sequence = sequenceOf(head.sequence);
  if (!beginState(head, sequence)) return {};
  // What others of the packet refer to comes first, in whatever order it is written.
  ProtoMessage before(text);
  for (ProtoField field; before.next(field);) {
    if (!field.is_bytes) continue;
    if (field.number == packet::kClockSnapshot) clocks_.snapshot(field.bytes, head.sequence);
    if (field.number == packet::kInternedData) intern(field.bytes, sequence);
    if (field.number == packet::kDefaults) sequence.defaults(field.bytes);
    if (field.number == packet::kTrackDescriptor) tracks_.descriptor(field.bytes);
    if (field.number == packet::kProcessTree) tracks_.processTree(field.bytes);
    if (field.number == packet::kThreadDescriptor) threadDescriptor(field.bytes, sequence);
    if (!isPacketFieldKept(field.number)) {
      const std::string_view name = packetName(field.number);
      builder_.tally().notUnderstood(
          name.empty() ? fmt::format("packets of field {}", field.number) : fmt::format("packets: {}", name),
          [&] { return place(); });
    }
  }
  if (before.damaged())
    builder_.tally().dropped("damaged packets: read as far as they go", [&] { return place(); });
  ProtoMessage fields(text);
  for (ProtoField field; fields.next(field);) {
    if (!field.is_bytes) continue;
    if (field.number == packet::kTrackEvent) trackEvent(field.bytes, head, sequence);
    if (field.number != packet::kCompressed) continue;
    if (nested) {
      builder_.tally().dropped("compressed packets within compressed packets", [&] { return place(); });
    } else {
      PITWALL_TRY(compressed(field.bytes));
    }
  }
  return {};
}

Status Pftrace::packets() {
  const auto longest = static_cast<std::size_t>(options_.limits.record_bytes);
  for (;;) {
    std::string_view text = window_.view();
    if (text.empty() && window_.atEnd()) return {};
    std::string_view rest = text;
    std::uint64_t tag = 0;
    std::uint64_t length = 0;
    const bool has_head = takeVarint(rest, tag) && takeVarint(rest, length);
    if (has_head && tag != 0x0A) {
      builder_.tally().damaged(fmt::format("no packet begins at {}", window_.place()));
      return {};
    }
    if (has_head && length > longest) {
      builder_.tally().damaged(
          fmt::format("a packet of {} bytes, more than {}, begins at {}", length, longest, window_.place()));
      return {};
    }
    if (!has_head || length > rest.size()) {
      if (window_.atEnd() || text.size() > longest + 32) {
        builder_.tally().damaged(fmt::format(
            "the last packet is cut: the file ends inside it, which begins at {}", window_.place()));
        return {};
      }
      PITWALL_TRY(window_.more(longest + kReadAhead));
      continue;
    }
    PITWALL_TRY(packet(rest.substr(0, static_cast<std::size_t>(length)), false));
    window_.take(text.size() - rest.size() + static_cast<std::size_t>(length));
  }
}

void Pftrace::finish() {
  events_.end();
  ImportedInput& input = builder_.tally().input();
  input.format = "Perfetto trace";
  constexpr std::pair<std::uint64_t, const char*> kClocks[] = {
      {PftraceClocks::kRealtime, "nanoseconds since 1970"},
      {PftraceClocks::kMonotonic, "nanoseconds of CLOCK_MONOTONIC"},
      {PftraceClocks::kBoottime, "nanoseconds since the machine's start"}};
  input.clock = fmt::format("nanoseconds of clock {}", clocks_.reference());
  for (const auto& [clock, text] : kClocks) {
    if (clock == clocks_.reference()) input.clock = text;
  }
  if (const auto zero = clocks_.unixZero()) builder_.clock().wallClock(*zero);
  builder_.meta(meta::kProducer, "Perfetto");
  builder_.tally().record("packets") += packets_;
  builder_.tally().record("sequences") += static_cast<std::int64_t>(sequences_.size());
  if (lost_ > 0)
    builder_.tally().note(fmt::format(
        "{}: packets were lost while recording, before {} of those that it holds", input.path, lost_));
}

Status Pftrace::run() {
  PITWALL_TRY(packets());
  finish();
  if (!window_.source().damage().empty()) builder_.tally().damaged(window_.source().damage());
  return {};
}

}  // namespace

Status readPftrace(Window& window, const ImportOptions& options, Builder& builder) {
  return Pftrace(window, options, builder).run();
}

}  // namespace pitwall::import
