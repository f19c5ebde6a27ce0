// One thread's ring: a page of state, then a power of two of 32-byte records. One writer (the thread), one
// reader (the drain thread). Everything lies in one mapping without pointers, so that the mapping can become
// a file that outlives the process.
//
// Order: the writer stores records plainly and publishes them by a release store of head; the reader loads
// head with acquire, copies, and gives room back by a release store of tail.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "db/units.h"
#include "runtime/profiler.h"

namespace pitwall::profiler {

enum class RecordKind : std::uint8_t {
  span,         // a start, b length, c value, id site
  spanLinked,   // as span; the next record's a is its correlation
  instant,      // a time, c value, id site
  operatorRun,  // a start, b length, c correlation, id operator; next: a pushed, b ready
  dependency,   // a source, b target, detail kind
  counter,      // a time, c value's bits, id site
  iteration,    // a time, b index, c items
};

inline constexpr std::uint8_t kAnnounced = 1;  // detail of a span whose start was announced

struct Record {
  std::uint64_t a, b, c;
  std::uint32_t id;
  RecordKind kind;
  std::uint8_t detail;
  std::uint16_t depth;  // announced scopes that enclose it
};
static_assert(sizeof(Record) == 32);

class Ring {
 public:
  // Maps and touches every page. nullptr when the system has no memory.
  static Ring* create(std::uint64_t records);
  static void destroy(Ring* ring);

  // Writer. Room for `count` records, or false after counting one loss at `time` (0 = now).
  bool reserve(std::uint64_t count, Ticks time) {
    if (next_ + count - tail_seen_ <= capacity_) [[likely]]
      return true;
    tail_seen_ = tail_.load(std::memory_order_acquire);
    if (next_ + count - tail_seen_ <= capacity_) return true;
    drop(time);
    return false;
  }
  Record& slot(std::uint64_t ahead) { return records()[(next_ + ahead) & (capacity_ - 1)]; }
  void publish(std::uint64_t count) {
    next_ += count;
    head_.store(next_, std::memory_order_release);
  }

  // Reader.
  std::uint64_t head() const { return head_.load(std::memory_order_acquire); }
  std::uint64_t tail() const { return tail_.load(std::memory_order_relaxed); }
  const Record& at(std::uint64_t index) const { return records()[index & (capacity_ - 1)]; }
  void release(std::uint64_t tail) { tail_.store(tail, std::memory_order_release); }
  bool halfFull() const { return head_.load(std::memory_order_relaxed) - tail() >= capacity_ / 2; }

  struct Drops {
    std::uint64_t count = 0;  // since the last call
    Ticks from = 0, to = 0;
  };
  Drops takeDrops();

  // Forgets everything; only while nobody writes.
  void reset();
  std::uint64_t capacity() const { return capacity_; }

 private:
  explicit Ring(std::uint64_t capacity) : capacity_(capacity) {}
  void drop(Ticks time);
  Record* records() { return reinterpret_cast<Record*>(reinterpret_cast<char*>(this) + kHeaderBytes); }
  const Record* records() const { return const_cast<Ring*>(this)->records(); }
  static constexpr std::size_t kHeaderBytes = 4096;

  const std::uint64_t capacity_;
  // Writer's own.
  std::uint64_t next_ = 0;
  std::uint64_t tail_seen_ = 0;
  std::atomic<std::uint64_t> head_{0};
  // Losses: the writer counts up and stamps; the reader acknowledges, so that the writer knows when a new
  // interval begins.
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<Ticks> drop_first_{0};
  std::atomic<Ticks> drop_last_{0};
  // Reader's, on a line of its own.
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint64_t> dropped_seen_{0};
  Ticks drops_reported_to_ = 0;
};

}  // namespace pitwall::profiler
