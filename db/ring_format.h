// The layout of the recorder's rings, in memory and in the file that survives a killed program.
//
// While a program records into NAME.pitwall, data not yet in the trace is in NAME.pitwall.rings, mapped
// MAP_SHARED, so that the kernel keeps it when the process is killed. A finished recording deletes the file;
// after a kill, Trace::open finds it beside the trace and completes the trace from it.
//
// Layout (byte order of the machine; the file is not portable):
//   page 0                FileHeader
//   then extents, each beginning with an ExtentHeader on a page boundary, `bytes` long:
//     kRingExtent         a RingHeader in the first page, then 2^n records of 32 bytes (`capacity`)
//     kNamesExtent        a NamesHeader, then entries: the names of the numbers in records
//
// The recorder holds an OFD lock on the file as long as it lives; a reader that gets the lock may read
// everything. New fields are added at the end of their header, and kVersion is incremented.
//
// Order of writing: one writer per ring stores records plainly and publishes them by a release store of
// `head`; the reader frees space by advancing `tail`. Records below `head` are complete, also after SIGKILL.
//
// A ring belongs to a thread, or to a track of no thread, whose writers take turns:
//   of a device           operators that complete on another thread than the one that started them, one at a time
//   of ranges             that may end on another thread; its scopes are rows, and that of a free row has started 0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "db/units.h"

namespace pitwall::ring {

inline constexpr char kMagic[8] = {'P', 'W', 'R', 'I', 'N', 'G', 'S', '\n'};
inline constexpr std::uint32_t kVersion = 4;
// That can be read: 2 has no rings of devices, 2 and 3 have fewer pairs of clocks.
inline constexpr std::uint32_t kOldestVersion = 2;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::uint32_t kRingExtent = 0x474e4952;   // "RING"
inline constexpr std::uint32_t kNamesExtent = 0x454d414e;  // "NAME"

enum class RecordKind : std::uint8_t {
  span = 0,         // a start, b length, c value, id site
  instant = 1,      // a time, c value, id site
  operatorRun = 2,  // a start, b length, c correlation, id operator, detail device; then operatorTimes
  dependency = 3,   // a source, b target, detail kind
  counter = 4,      // a time, c value's bits, id site
  iteration = 5,    // a time, b index, c items
  // Continuation records; never the first record of an event.
  operatorTimes = 16,  // a pushed, b ready, detail kAnnounced or 0
  link = 17,           // a correlation
  argument = 18,       // id site whose name is the key, detail ArgumentType, a value's bits
  text = 19,  // the next 24 bytes of the text that the argument before it announced; detail: how many
};
inline constexpr RecordKind kFirstContinuation = RecordKind::operatorTimes;

enum class ArgumentType : std::uint8_t { integer = 0, real = 1, text = 2 };  // text: a is its length

struct Record {
  std::uint64_t a, b, c;
  std::uint32_t id;
  RecordKind kind;
  std::uint8_t detail;
  std::uint16_t depth;  // announced scopes that enclose it
};
static_assert(sizeof(Record) == 32);

inline constexpr std::uint8_t kAnnounced = 1;  // detail of a span or an operator whose start was announced
// Of an operator's device, detail / kDevicesOfKind is the kind (cpu, gpu, pinned), the rest the index.
inline constexpr std::uint8_t kDevicesOfKind = 64;
inline constexpr std::uint32_t kMostRecords = 64;  // of one event with its continuation records
inline constexpr std::size_t kTextPart = 24;

// Both clocks at the same moment.
struct ClockPair {
  std::uint64_t ticks = 0;
  TimeNs monotonic_ns = 0;
};

// What a thread does when its ring is full.
enum class RingPolicy : std::uint32_t {
  drop = 0,       // the new record is lost and counted
  block = 1,      // the thread waits: nothing is lost, and the program is as slow as the disk
  overwrite = 2,  // the oldest is lost and counted: a flight recorder
};

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;  // headerBytes(version)
  std::uint32_t check;         // of the fields from `pid` to `start`, see checkOf()
  std::uint32_t ticks_are_ns;  // 1: the clock is CLOCK_MONOTONIC, 0: the time stamp counter
  std::int64_t pid;
  std::int64_t rank;
  std::int64_t start_unix_ns;  // also in the trace's meta table: identifies the recording
  ClockPair start;             // time 0 of the trace
  char process_name[64];
  char command_line[1024];  // truncated
  static constexpr std::uint64_t kFirstPairs = 16, kPairs = 128;
  std::atomic<std::uint64_t> pairs_written;  // the latest of them is pair((n - 1) % kPairs)
  ClockPair first_pairs[kFirstPairs];
  std::atomic<std::uint64_t> file_bytes;  // extents reach up to here
  // Number of dependencies written to the trace when the rings' tails were last advanced.
  std::atomic<std::uint64_t> dependencies_released;
  // Events that the trace could not store (disk full); recorded here, where there is space.
  std::atomic<std::int64_t> lost;
  std::atomic<TimeNs> lost_from_ns, lost_to_ns;
  char lost_reason[128];
  std::atomic<std::uint32_t> process;          // in the trace; 0 = none yet
  ClockPair more_pairs[kPairs - kFirstPairs];  // from version 4

  ClockPair& pair(std::uint64_t i) { return i < kFirstPairs ? first_pairs[i] : more_pairs[i - kFirstPairs]; }
  const ClockPair& pair(std::uint64_t i) const {
    return i < kFirstPairs ? first_pairs[i] : more_pairs[i - kFirstPairs];
  }
};
static_assert(sizeof(FileHeader) <= kPage);

inline bool hasMorePairs(std::uint32_t version) { return version >= 4; }
inline std::size_t headerBytes(std::uint32_t version) {
  return hasMorePairs(version) ? sizeof(FileHeader) : offsetof(FileHeader, more_pairs);
}

struct ExtentHeader {
  std::uint32_t kind;
  std::uint32_t reserved;
  std::uint64_t bytes;  // of the extent; a multiple of kPage
};

struct OpenScope {
  std::uint64_t started;
  std::uint64_t site;  // or kOpenOperator
};
// In a ring of a device: the records of the open operator are at `head`, not yet published and without a length.
inline constexpr std::uint64_t kOpenOperator = std::uint64_t{1} << 32U;

struct RingHeader {
  ExtentHeader extent;
  std::uint64_t capacity;             // records
  std::int64_t tid;                   // 0 = of no thread
  char thread_name[64];               // of the thread or the track; truncated
  std::atomic<std::uint32_t> in_use;  // 1: belongs to a thread or a track
  std::atomic<std::uint32_t> policy;  // RingPolicy

  // --- of the writer
  alignas(64) std::uint64_t waker;  // an address in the recorded process, used only by it
  std::uint64_t tail_seen;          // `tail` is read again when this is `capacity` behind
  std::atomic<std::uint64_t> head;
  std::atomic<std::uint32_t> depth;             // announced scopes that are open
  std::atomic<std::uint32_t> waiting;           // 1: the writer waits for space
  static constexpr std::uint32_t kScopes = 64;  // deeper ones are counted alone
  OpenScope scopes[kScopes];
  std::atomic<std::uint64_t> dropped;
  std::atomic<std::uint64_t> drop_first;
  std::atomic<std::uint64_t> drop_last;

  // --- of the reader, on a separate cache line
  alignas(64) std::atomic<std::uint64_t> tail;
  std::atomic<std::uint64_t> dropped_seen;
  std::uint64_t drops_reported_to;
  // Number of events of this ring's track in the trace when tail was advanced, so that a completion adds each
  // event once. Two, written alternately; released[releases & 1] is valid.
  struct Released {
    std::uint64_t tail;
    std::uint64_t events;
  };
  std::atomic<std::uint64_t> releases;
  Released released[2];
  std::atomic<std::uint64_t> taken;  // records that the latest drain read
  std::atomic<std::uint32_t> track;  // of this ring's thread in the trace; 0 = none yet
  // 1 + the device whose operators the thread runs, as records number it; 0 = of no particular device.
  std::atomic<std::uint32_t> device;
};
static_assert(sizeof(RingHeader) <= kPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct NamesHeader {
  ExtentHeader extent;
  std::atomic<std::uint64_t> used;  // bytes of entries
};

// An entry of a names extent: this, then `fields` texts, each a u32 length and its bytes. Entries begin at
// multiples of 8.
struct NameEntry {
  static constexpr std::uint32_t kSite = 1;      // number: EventKind; texts: name, arguments as JSON
  static constexpr std::uint32_t kOperator = 2;  // number: Phase; texts: name, layer, shapes, dtype, backend,
                                                 // implementation
  std::uint32_t bytes;                           // of the entry, this header included
  std::uint32_t what;
  std::uint32_t id;
  std::uint32_t number;
  std::uint32_t fields;
  std::uint32_t reserved;
  std::int64_t flop, bytes_read, bytes_written;  // of an operator
};
static_assert(sizeof(NameEntry) == 48);

// FNV-1a of the header's constant fields.
inline std::uint32_t checkOf(const FileHeader& header) {
  const auto* byte = reinterpret_cast<const unsigned char*>(&header.pid);
  const auto* end = reinterpret_cast<const unsigned char*>(&header.start) + sizeof header.start;
  std::uint32_t hash = 2166136261U;
  for (; byte != end; ++byte) hash = (hash ^ *byte) * 16777619U;
  return hash;
}

// The ring file of a recording into `trace_path`.
inline std::string filePath(const std::string& trace_path) { return trace_path + ".rings"; }

}  // namespace pitwall::ring
